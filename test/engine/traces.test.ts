import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";

/** What SECURITY.md says of traces and of Node's own debug output: we do not control them. */

const LITERAL = "canary-literal-secret";
const VALUE = "canary-value-of-a-reference";
const PROGRAM = `
  const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  const own = (providerId, clientSecret) =>
    new svc.OAuthProvider(providerId, { projectId, providerId, adopt: true, clientId: "own", clientSecret });
  if (process.env.IS_LITERAL) own("google", pulumi.secret("${LITERAL}"));
  else own("github", svc.fromEnv("REFERENCE"));`;

/** A stack that has the key and the secret themselves, or their names. */
async function stackOf(form: "values" | "names"): Promise<Stack> {
  const stack = await Stack.create({ program: PROGRAM, configured: form === "values", cheapDigests: true });
  if (form === "values") stack.env["IS_LITERAL"] = "1";
  else {
    const { baseUrl, apiKey } = stack.service.emulator;
    Object.assign(stack.env, { SVC_BASE_URL: baseUrl, PROD_KEY: apiKey, REFERENCE: VALUE });
    await stack.config("svc:apiKeyEnv", "PROD_KEY");
  }
  return stack;
}

test.each<["values" | "names", string, string, readonly string[]]>([
  ["values", "--tracing", "file:", ["key", LITERAL]],
  ["values", "--otel-traces", "file://", ["key", LITERAL]],
  ["names", "--tracing", "file:", []],
  ["names", "--otel-traces", "file://", []],
])("of %s, %s holds what it says in plain text", async (form, flag, scheme, held) => {
  const stack = await stackOf(form);
  const file = join(stack.folder, "trace");
  expect(await stack.up(flag, `${scheme}${file}`)).toMatchObject({ code: 0 });
  const trace = readFileSync(file, "latin1");
  const { apiKey } = stack.service.emulator;
  const found = [apiKey, LITERAL, VALUE].filter((secret) => trace.includes(secret));
  expect(found.map((secret) => (secret === apiKey ? "key" : secret))).toEqual(held);
  const names = ["PROD_KEY", "REFERENCE", "scrypt-bound$"].filter((name) => trace.includes(name));
  expect(names).toEqual(form === "names" ? ["PROD_KEY", "REFERENCE", "scrypt-bound$"] : []);
});

test("NODE_DEBUG=net prints the key, in the output of the CLI, unless it is a secret of the configuration", async () => {
  const [named, configured] = [await stackOf("names"), await stackOf("values")];
  for (const stack of [named, configured]) stack.env["NODE_DEBUG"] = "net";
  expect((await named.up()).text).toContain(`Bearer ${named.service.emulator.apiKey}`);
  expect((await configured.up()).text).toContain("Bearer [secret]");
});
