import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";

/**
 * What SECURITY.md says about output that we do not control: traces, logs, events and Node's own debug output. The CLI of
 * today says less than 3.259, of which SECURITY.md warns as well.
 */

const LITERAL = "canary-literal-secret";
const VALUE = "canary-value-of-a-reference";
const PROGRAM = `
  const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  const own = (providerId, clientSecret) =>
    new svc.OAuthProvider(providerId, { projectId, providerId, adopt: true, clientId: "own", clientSecret });
  if (process.env.IS_LITERAL) own("google", pulumi.secret("${LITERAL}"));
  else own("github", svc.fromEnv("NAMED_SECRET"));`;

/** A stack with the key and the secret themselves, or their names. */
async function stackOf(form: "values" | "names"): Promise<Stack> {
  const configured = form === "values";
  const stack = await Stack.create({ program: PROGRAM, configured, cheapDigests: true, ownProcess: true });
  if (form === "values") stack.env["IS_LITERAL"] = "1";
  else {
    const { baseUrl, apiKey } = stack.service.emulator;
    Object.assign(stack.env, { SVC_BASE_URL: baseUrl, PROD_KEY: apiKey, NAMED_SECRET: VALUE });
    await stack.config("svc:apiKeyEnv", "PROD_KEY");
  }
  return stack;
}

/** The name of the key's variable, and what the inputs have. */
const NAMES = ["PROD_KEY", "NAMED_SECRET", "scrypt-bound$"];

test.each<["values" | "names", string, string, readonly string[], readonly string[]]>([
  ["values", "--tracing", "file:", ["key", LITERAL], []],
  ["values", "--otel-traces", "file://", ["key"], []],
  ["names", "--tracing", "file:", [], NAMES],
  ["names", "--otel-traces", "file://", [], NAMES.slice(0, 1)],
])("of %s, %s holds what it says in plain text", async (form, flag, scheme, held, heldNames) => {
  const stack = await stackOf(form);
  const file = join(stack.folder, "trace");
  expect(await stack.up(flag, `${scheme}${file}`)).toMatchObject({ code: 0 });
  const trace = readFileSync(file, "latin1");
  const { apiKey } = stack.service.emulator;
  const found = [apiKey, LITERAL, VALUE].filter((secret) => trace.includes(secret));
  expect(found.map((secret) => (secret === apiKey ? "key" : secret))).toEqual(held);
  expect(NAMES.filter((name) => trace.includes(name))).toEqual(heldNames);
});

/**
 * The engine's logs, and the SDK's, which contain what it sends and appear in the engine's events. For references:
 * references.test.ts.
 */
test("verbose logs and events hold values in plain text, and a plan does not", async () => {
  const stack = await stackOf("values");
  const file = (name: string): string => join(stack.folder, name);
  Object.assign(stack.env, { PULUMI_EXPERIMENTAL: "true", PULUMI_DEBUG_COMMANDS: "true" });
  const plan = await stack.preview("--json");
  expect(plan).toMatchObject({ code: 0 });
  const debugged = await stack.preview("--debug");
  expect(debugged).toMatchObject({ code: 0 });
  stack.env["PULUMI_DEBUG_GRPC"] = file("grpc");
  const up = await stack.up("--json", "--event-log", file("events"), "-v=9", "--logtostderr", "--logflow");
  expect(up).toMatchObject({ code: 0 });
  // In addition to the events of --json.
  const log = up.text.split("\n").filter((line) => line.startsWith('{"time":'));
  const { apiKey } = stack.service.emulator;
  for (const [text, held] of [
    [plan.stdout, []],
    [debugged.text, [LITERAL]],
    [log.join("\n"), [LITERAL]],
    [readFileSync(file("grpc"), "utf8"), [apiKey, LITERAL]],
    [up.stdout, [LITERAL]],
    [readFileSync(file("events"), "utf8"), [LITERAL]],
  ] as const) {
    expect(text).toContain("clientSecret");
    expect([apiKey, LITERAL].filter((secret) => text.includes(secret))).toEqual(held);
  }
});

test("NODE_DEBUG=net prints the key, in the output of the CLI, unless it is a secret of the configuration", async () => {
  const [named, configured] = [await stackOf("names"), await stackOf("values")];
  for (const stack of [named, configured]) stack.env["NODE_DEBUG"] = "net";
  expect((await named.up()).text).toContain(`Bearer ${named.service.emulator.apiKey}`);
  expect((await configured.up()).text).toContain("Bearer [secret]");
});

/** The same with another client id, so that the plan does not fit. */
const other = (values: string): string => PROGRAM.replace(/"own"/, `"other"`).replace(LITERAL, values);

// CLI 3.259 printed the old ones of the plan, which the file holds encrypted, and the new ones.
test.each(["values", "names"] as const)("of %s, `up` with a saved plan that does not fit prints none", async (form) => {
  const stack = await stackOf(form);
  const file = join(stack.folder, "plan.json");
  expect(await stack.preview("--save-plan", file)).toMatchObject({ code: 0 });
  stack.program(other("canary-second"));
  if (form === "names") stack.env["NAMED_SECRET"] = "canary-second-of-a-reference";
  const { code, text } = await stack.up("--plan", file);
  expect(code).not.toBe(0);
  expect(text).toMatch(/violates plan: properties changed/);
  const all = [LITERAL, VALUE, "canary-second", "canary-second-of-a-reference"];
  expect(all.filter((secret) => text.includes(secret))).toEqual([]);
  const saved = readFileSync(file, "utf8");
  expect(all.filter((secret) => saved.includes(secret))).toEqual([]);
  await stack.close();
});
