/** The rules about what is announced, refused and kept, with the real engine; test/rules has all cases in process. */
import { EACH_KIND } from "../kinds";
import { Stack } from "../support/Stack";

const domains = (letters: string) =>
  `${JSON.stringify([...letters].map((letter) => `https://${letter}.example.com`))}.map((domain, i) =>
    new svc.WhitelistDomain("d" + i, { projectId: auth.projectId, domain, adopt: true }));`;

test("one redirect domain put in front of others by index, and an integration on a branch that something new decides", async () => {
  const auth = (branchId: string) =>
    `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: ${branchId} });`;
  const stack = await Stack.create({ program: auth('"br-main"') + domains("ab") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  // The others stay on the whitelist.
  stack.program(auth('"br-main"') + domains("nab"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { domains: listed } = await stack.service.list("/projects/prj-demo/auth/domains");
  // The records of the list.
  const found = (listed as { domain: string }[]).map(({ domain }) => domain).sort();
  expect(found).toEqual(["https://a.example.com", "https://b.example.com", "https://n.example.com"]);

  // The preview says that users and keys may be lost.
  const another = 'const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" });';
  stack.program(another + auth('api.createdAt.apply(() => "br-main")') + domains("nab"));
  const preview = await stack.preview();
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.text).toMatch(/may be replaced when .*branchId.* is known/);
  expect(preview.text).toMatch(/users/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("what two resources declare is refused by the preview, which names both", async () => {
  const stack = await Stack.create({
    program: `
      new svc.AuthIntegration("auth", { projectId: "prj-demo" });
      new svc.WhitelistDomain("alpha", { projectId: "prj-demo", domain: "https://a.example.com" });
      new svc.WhitelistDomain("beta", { projectId: "prj-demo", domain: "https://A.example.com/" });`,
  });
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  // Each has its line; the words of the one name the other.
  const [refused = ""] = preview.text.split("\n").filter((line) => /alpha/.test(line) && /declare/i.test(line));
  expect(refused).not.toBe("");
  expect(preview.text).toMatch(/beta/);
  expect(await stack.service.mutations()).toEqual([]);
});

test("another spelling of what exists changes nothing: it keeps its id and what users have there", async () => {
  const program = (email: string, domain: string) => `
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "svcdb" });
    new svc.AuthUser("ops", { projectId: auth.projectId, email: "${email}", name: "Zo\u00eb" });
    new svc.Whitelist("domains", { projectId: auth.projectId, domains: ["${domain}", "http://localhost:*"] });`;
  const stack = await Stack.create({
    program: program("Ops@b\u00fccher.example", "https://*.b\u00fccher.example:*"),
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const held = async () => {
    const { users, domains, integrations } = (await stack.service.state()).projects[0] ?? {};
    return { users, domains, integrations };
  };
  const first = await held();
  const { id } = await stack.resource("ops");
  expect(first.users).toEqual([expect.objectContaining({ email: "Ops@b\u00fccher.example" })]);
  await stack.service.clearRequests();

  stack.program(
    program("ops@XN--bcher-kva.example", "HTTPS://*.BU\u0308CHER.example:*/").replace("Zo\u00eb", "Zoe\u0308"),
  );
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  expect(await held()).toEqual(first);
  expect((await stack.resource("ops")).id).toBe(id);
  await stack.finish(before);
});

test("looking up what does not exist fails, and names the id, for every kind", async () => {
  const ids = EACH_KIND.map(([kind, { idIn }]) => ({ kind, id: idIn("prj-demo") }));
  const program = ids.map(({ kind, id }) => `svc.${kind}.get("${kind}", "${id}");`).join("\n");
  const stack = await Stack.create({ program });
  // All of them, also once the first one has failed.
  const { code, text } = await stack.up("--continue-on-error", "--parallel", "32");
  expect(code).not.toBe(0);
  const [, diagnostics = ""] = text.split("Diagnostics:");
  for (const { kind, id } of ids) {
    const said = diagnostics.split("\n").filter((line) => /error: /i.test(line) && line.includes(`("${kind}")`));
    expect(said).toContainEqual(expect.stringContaining(`${kind} ${id} ("${kind}")`));
  }
});
