import { exampleStack } from "../support/example";

test("examples/oauth is deployed as it stands; a new client secret is an update of that provider alone", async () => {
  const stack = await exampleStack("oauth");
  const { service } = stack;
  const before = await service.state();
  await stack.config("googleClientId", "google-client");
  stack.env["GOOGLE_CLIENT_SECRET"] = "canary-google-old";

  expect(await stack.up()).toMatchObject({ code: 0 });
  const { providers } = await service.list("/projects/prj-demo/auth/oauth_providers");
  expect(providers).toEqual([
    { id: "google", type: "standard" },
    { id: "github", type: "shared" },
  ]);
  const { domains } = await service.list("/projects/prj-demo/auth/domains");
  expect(domains).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ domain: "https://app.example.com" }),
      expect.objectContaining({ domain: "http://localhost:3000" }),
    ]),
  );

  stack.env["GOOGLE_CLIENT_SECRET"] = "canary-google-new";
  // It sends nothing, so that the stack can be destroyed at the end.
  await stack.config("deletionProtection", "false");
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual(["PATCH /projects/{project_id}/auth/oauth_providers/{oauth_provider_id}"]);
  expect(await stack.leaks(["canary-google-old", "canary-google-new"])).toEqual([]);
  await stack.finish(before);
});

test("examples/own-smtp is deployed as it stands; a sender changed by hand is found without the password, and repaired", async () => {
  const stack = await exampleStack("own-smtp", { secretAnswers: "masked" });
  const { service } = stack;
  const before = await service.state();
  stack.env["SMTP_PASSWORD"] = "canary-smtp-secret";

  expect(await stack.up()).toMatchObject({ code: 0 });
  const configured = { type: "standard", host: "smtp.example.com", port: 587, sender_email: "noreply@example.com" };
  expect(await service.list("/projects/prj-demo/auth/email_server")).toMatchObject(configured);

  expect((await stack.resource("mail")).inputs).toMatchObject({ password: { fromEnv: "SMTP_PASSWORD" } });

  await service.edit({ kind: "email_server", set: { sender_email: "someone@else.example.com" } });
  delete stack.env["SMTP_PASSWORD"];
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/senderEmail *: "someone@else.example.com" => "noreply@example.com"/);
  stack.env["SMTP_PASSWORD"] = "canary-smtp-secret";
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await service.list("/projects/prj-demo/auth/email_server")).toMatchObject(configured);
  expect(await stack.leaks(["canary-smtp-secret"])).toEqual([]);
  await stack.finish(before);
});
