import { hashed } from "../../src/emulator/model/records";
import { Stack } from "../support/Stack";

const VALUE = "canary-reference-Xw7";
const ROTATED = "canary-rotated-Xw7";
const CIPHERTEXT = { "4dabf18193072939515e22adb298388d": expect.any(String), ciphertext: expect.any(String) };
const REFERENCE = { fromEnv: "GOOGLE_SECRET" };

const programWith = (ignoreChanges: readonly string[]): string => `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  new svc.OAuthProvider("google", {
    projectId: auth.projectId, providerId: "google", clientId: "id", clientSecret: svc.fromEnv("GOOGLE_SECRET"), adopt: true,
  }, { ignoreChanges: ${JSON.stringify(ignoreChanges)} });`;
const program = programWith([]);

describe("a secret by reference", () => {
  let stack: Stack;
  const sent = async () => {
    const { projects } = await stack.service.state();
    const providers = projects.find(({ id }) => id === "prj-demo")?.["oauth_providers"] as {
      [field: string]: unknown;
    }[];
    return providers.find(({ id }) => id === "google")?.["client_secret"];
  };
  /** What the state holds of it: the reference in clear, and a digest that the engine has encrypted. */
  async function expectStored(): Promise<string> {
    const { inputs, outputs } = await stack.resource("google");
    expect([inputs["clientSecret"], outputs["clientSecret"]]).toEqual([REFERENCE, REFERENCE]);
    expect(outputs["__applied"]).toMatchObject(CIPHERTEXT);
    const shown = await stack.run("stack", "export", "--show-secrets");
    expect(shown.text).toContain("scrypt$");
    for (const value of [VALUE, ROTATED]) expect(shown.text).not.toContain(value);
    expect(await stack.leaks([VALUE, ROTATED])).toEqual([]);
    return JSON.stringify(outputs["__applied"]);
  }

  test("is stored as its name, beside a digest that the provider marks secret", async () => {
    stack = await Stack.create({ program });
    stack.env["GOOGLE_SECRET"] = VALUE;
    const up = await stack.run("up", "--yes", "--diff");
    expect(up.code).toBe(0);
    expect(up.text).toMatch(/fromEnv *: "GOOGLE_SECRET"/);
    expect(up.text).not.toMatch(/scrypt|__applied/);
    expect(await sent()).toBe(hashed(VALUE));
    await expectStored();
  });

  test("that has not changed is no change, and one that is missing is told and no change", async () => {
    expect(await stack.run("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
    delete stack.env["GOOGLE_SECRET"];
    const { code, text } = await stack.run("preview", "--expect-no-changes");
    expect(text).toContain("could not be compared: GOOGLE_SECRET is not set");
    expect(code).toBe(0);
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    await expectStored();
  });

  test("that has changed is announced, and an update that fails keeps the digest of before", async () => {
    stack.env["GOOGLE_SECRET"] = ROTATED;
    const { text } = await stack.run("preview", "--diff");
    expect(text).toContain("the value of GOOGLE_SECRET is another one than was last applied");
    const path = "/projects/prj-demo/auth/oauth_providers/google";
    await stack.service.fault({ method: "PATCH", path, status: 200, body: { id: "google", type: "shared" }, times: 1 });
    expect((await stack.run("up", "--yes")).code).not.toBe(0);
    await expectStored();
    expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
    expect(await sent()).toBe(hashed(ROTATED));
    await expectStored();
    expect(await stack.run("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("is not compared where ignoreChanges names its argument, and is where that names everything", async () => {
    stack.env["GOOGLE_SECRET"] = VALUE;
    stack.program(programWith(["clientSecret"]));
    expect(await stack.run("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
    // The engine takes the note of it away, together with everything else that is not in the state.
    stack.program(programWith(["*"]));
    expect(await stack.run("preview")).toMatchObject({
      code: 0,
      text: expect.stringMatching(/value of GOOGLE_SECRET is/),
    });
    stack.program(program);
  });

  test("is not asked for by a destroy", async () => {
    delete stack.env["GOOGLE_SECRET"];
    expect(await stack.run("destroy", "--yes")).toMatchObject({ code: 0 });
  });
});
