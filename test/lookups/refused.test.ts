import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { mockEngine } from "../support/mockedEngine";

const CANARY = "canary-function";
const NAMES = [
  "getAuthIntegration",
  "getAuthIntegrations",
  "getBranches",
  "getComputeEndpoint",
  "getComputeEndpoints",
  "getDefaultBranch",
  "getEmailServer",
  "getOAuthProviders",
  "getWhitelistDomains",
] as const;

/** A function as a program without types sees it. */
type Untyped = (args?: unknown, opts?: unknown) => Promise<unknown> & pulumi.Output<unknown>;
const untyped = (name: keyof typeof svc): Untyped => svc[name] as unknown as Untyped; // it may be given anything

beforeAll(() => mockEngine());

/** The message of what is refused, by a promise, by an Output, or at once. */
async function refusal(ask: () => Promise<unknown>): Promise<string> {
  const error: unknown = await Promise.resolve()
    .then(ask)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(pulumi.RunError.isInstance(error)).toBe(true);
  const { message } = error as Error; // a RunError is one
  expect(message).not.toContain(CANARY);
  return message;
}

/** `promise` is marked internal in the SDK's types; it is public on every Output since 1.0. */
const resolved = (output: unknown): Promise<unknown> => (output as { promise(): Promise<unknown> }).promise();

describe.each(NAMES)("%s", (name) => {
  test("takes no address of a page for the id of a project", async () => {
    expect(await refusal(() => untyped(name)({ projectId: `https://console.example.com/${CANARY}` }))).toBe(
      `${name}: "projectId" must be an id such as prj-demo, not the address of a page`,
    );
  });

  test.each([
    ["the promise", (args?: unknown, opts?: unknown) => untyped(name)(args, opts)],
    ["the Output", (args?: unknown, opts?: unknown) => resolved(untyped(`${name}Output`)(args, opts))],
  ])("answers any argument with a message: %s", async (_form, ask) => {
    for (const args of [undefined, null, 7, CANARY, [CANARY]]) {
      expect(await refusal(() => ask(args))).toMatch(
        new RegExp(`^${name}: the arguments (are missing|must be an object, not (null|a (number|string|list)))$`),
      );
    }
    expect(await refusal(() => ask({ projectid: CANARY, tags: 1 }))).toMatch(
      new RegExp(
        `^${name}: projectid: unknown property\\. Did you mean "projectId"\\?; tags: unknown property\\. Known: projectId.*; projectId: is required$`,
      ),
    );
    for (const opts of [null, 7, CANARY, []]) {
      expect(await refusal(() => ask({ projectId: "p" }, opts))).toMatch(/: opts: must be an object, not/);
    }
    expect(await refusal(() => ask({ projectId: "p" }, { provder: {} }))).toMatch(/Did you mean "provider"\?/);
    for (const provider of [null, 7, CANARY, {}]) {
      expect(await refusal(() => ask({ projectId: "p" }, { provider }))).toMatch(
        /opts\.provider: must be an svc\.Provider/,
      );
    }
  });

  test("takes texts that are not empty", async () => {
    for (const projectId of [7, [], {}, "", Promise.resolve("p")]) {
      expect(await refusal(() => untyped(name)({ projectId }))).toMatch(
        /"projectId" must be a string that is not empty/,
      );
    }
  });

  test("sends an Output to the other form", async () => {
    const ask = untyped(name);
    expect(await refusal(() => ask(pulumi.output({ projectId: "p" })))).toMatch(/the form that ends in Output/);
    expect(await refusal(() => ask({ projectId: pulumi.output("p") }))).toMatch(/the form that ends in Output/);
  });
});

describe("connectionUriOutput", () => {
  const OPTIONS = { host: "ep-1.example.test", database: "app", role: "web" };
  const URI = "postgresql://web@ep-1.example.test:5432/app?sslmode=require";

  test("takes Outputs, and is a secret with a password only", async () => {
    const plain = svc.connectionUriOutput({ ...OPTIONS, host: pulumi.output(OPTIONS.host) });
    expect([await resolved(plain), await pulumi.isSecret(plain)]).toEqual([URI, false]);
    const secret = svc.connectionUriOutput({ ...OPTIONS, password: "pw" });
    expect([await resolved(secret), await pulumi.isSecret(secret)]).toEqual([URI.replace("web", "web:pw"), true]);
  });

  test("refuses what is not an object, or has unknown or missing names, with a message", async () => {
    for (const options of [undefined, null, 7, CANARY, [CANARY], { hots: CANARY }]) {
      expect(await refusal(() => resolved(untyped("connectionUriOutput")(options)))).toMatch(
        /^connectionUriOutput: \S/,
      );
    }
  });
});
