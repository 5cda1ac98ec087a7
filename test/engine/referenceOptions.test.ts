import { hashed } from "../../src/emulator/model/records";
import { Stack } from "../support/Stack";

const VALUE = "canary-reference-Xw7";
const PROVIDERS = "/projects/{project_id}/auth/oauth_providers";

const programWith = (options: object, integration: object = {}): string => `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", ...${JSON.stringify(integration)} });
  new svc.OAuthProvider("google", {
    projectId: auth.projectId, providerId: "google", clientId: "id", clientSecret: svc.fromEnv("GOOGLE_SECRET"), adopt: true,
  }, ${JSON.stringify(options)});`;
const program = programWith({});

describe("a secret by reference", () => {
  let stack: Stack;
  const sent = async () => {
    const { projects } = await stack.service.state();
    const providers = projects.find(({ id }) => id === "prj-demo")?.["oauth_providers"] as
      | {
          [field: string]: unknown;
        }[]
      | undefined;
    return providers?.find(({ id }) => id === "google")?.["client_secret"];
  };
  beforeAll(async () => {
    stack = await Stack.create({ program, cheapDigests: true });
    stack.env["GOOGLE_SECRET"] = VALUE;
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("is asked for by --replace and after state taint before anything is deleted", async () => {
    delete stack.env["GOOGLE_SECRET"];
    const { urn } = await stack.resource("google");
    await stack.service.clearRequests();
    // The engine asks nobody, and creates first.
    const created = await stack.up("--replace", urn);
    expect(created.text).toContain('"clientSecret": GOOGLE_SECRET is not set, so nothing was sent');
    expect(created.code).not.toBe(0);
    stack.program(programWith({ deleteBeforeReplace: true }));
    const needed = 'its replacement needs "clientSecret", but GOOGLE_SECRET is not set. Nothing is deleted';
    const replaced = await stack.up("--replace", urn);
    expect(replaced.text).toContain(needed);
    expect(replaced.code).not.toBe(0);
    expect(await stack.run("state", "taint", urn, "--yes")).toMatchObject({ code: 0 });
    const tainted = await stack.up();
    expect(tainted.text).toContain(needed);
    expect(tainted.code).not.toBe(0);
    expect(await stack.service.mutations()).toEqual([]);
    expect(await sent()).toBe(hashed(VALUE));
    stack.env["GOOGLE_SECRET"] = VALUE;
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([`DELETE ${PROVIDERS}/{oauth_provider_id}`, `POST ${PROVIDERS}`]);
    expect(await sent()).toBe(hashed(VALUE));
  });

  test("is another one to replaceOnChanges by its name, and not by its value", async () => {
    const text = programWith({ replaceOnChanges: ["clientSecret"] });
    stack.program(text);
    stack.env["GOOGLE_SECRET"] = `${VALUE}-rotated`;
    const rotated = await stack.preview();
    expect(rotated).toMatchObject({ code: 0, text: expect.stringMatching(/1 to update/) });
    stack.program(text.replace('"GOOGLE_SECRET"', '"ANOTHER_NAME"'));
    stack.env["ANOTHER_NAME"] = stack.env["GOOGLE_SECRET"] = VALUE;
    const renamed = await stack.preview();
    expect(renamed).toMatchObject({ code: 0, text: expect.stringMatching(/1 to replace/) });
  });

  test("that is missing where its integration is replaced is warned of, fails, and is created with its value", async () => {
    stack.program(programWith({}, { databaseName: "other" }));
    delete stack.env["GOOGLE_SECRET"];
    const plan = await stack.preview();
    expect(plan).toMatchObject({ code: 0, text: expect.stringMatching(/2 to replace/) });
    expect(plan.text).toMatch(/warning: .*GOOGLE_SECRET is not set.*pulumi up fails/);
    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toContain("GOOGLE_SECRET is not set");
    // The engine has deleted it before it asked.
    expect(await sent()).toBeUndefined();
    stack.env["GOOGLE_SECRET"] = VALUE;
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await sent()).toBe(hashed(VALUE));
  });

  test("has another digest in another stack, for the same value of the same variable", async () => {
    stack.program(`new svc.OAuthProvider("microsoft", {
      projectId: "prj-demo", providerId: "microsoft", clientId: "id", clientSecret: svc.fromEnv("GOOGLE_SECRET"), adopt: true,
    });`);
    expect(await stack.run("stack", "init", "other", "--copy-config-from", "dev")).toMatchObject({ code: 0 });
    expect(await stack.up("--stack", "other")).toMatchObject({ code: 0 });
    const digests = await Promise.all(
      ["dev", "other"].map(async (name) => {
        const { text } = await stack.run("stack", "export", "--show-secrets", "--stack", name);
        return text.match(/scrypt[\w$+/=-]+/g) ?? [];
      }),
    );
    expect(digests).toEqual([[expect.any(String)], [expect.any(String)]]);
    expect(new Set(digests.flat()).size).toBe(2);
    expect(await stack.leaks([VALUE])).toEqual([]);
    expect(await stack.run("stack", "select", "dev")).toMatchObject({ code: 0 });
  });

  test("is not asked for by a destroy that protect refuses, nor by one that retains the object", async () => {
    delete stack.env["GOOGLE_SECRET"];
    await stack.service.clearRequests();
    stack.program(programWith({ protect: true }));
    expect(await stack.up()).toMatchObject({ code: 0 });
    const refused = await stack.destroy();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(/protected/);
    expect(await stack.service.mutations()).toEqual([]);
    stack.program(programWith({ retainOnDelete: true }));
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { urn } = await stack.resource("google");
    expect(await stack.destroy("--target", urn)).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([]);
    expect(await sent()).toBe(hashed(VALUE));
  });
});
