import { labelOf, type Mapping, named, variablesOf } from "../../../src/cli/env/variables";
import { asSecret, StackState } from "../../../src/cli/stack/state";
import { type Kind, typeToken } from "../../../src/contract/pointer";
import { STAND_INS } from "../../../src/contract/standIns";

/** As an export without secrets shows one. */
const encrypted = { ...asSecret("never"), plaintext: undefined, ciphertext: "v1:abc" };
const host = (id: string): string => `${id}.proxy.example.com`;
const urnOf = (kind: Kind, name: string, parent = ""): string =>
  `urn:pulumi:dev::proj::${parent}${typeToken(kind)}::${name}`;

interface Given {
  readonly kind: Kind;
  readonly name: string;
  readonly parent?: string;
  readonly outputs?: object;
  readonly more?: object;
}
const compute = (name: string, outputs: object = { host: host(`ep-${name}`) }): Given => ({
  kind: "ComputeEndpoint",
  name,
  outputs,
});
const KEY_OUTPUTS = {
  jwksUrl: "https://auth.example.com/jwks.json",
  pubClientKey: "pck_1",
  secretServerKey: encrypted,
};
const auth = (name: string, outputs: object = KEY_OUTPUTS, kind: Kind = "AuthIntegration"): Given => ({
  kind,
  name,
  outputs,
});

const state = (...given: Given[]): StackState => {
  const resources = given.map(({ kind, name, parent, outputs, more }) => ({
    urn: urnOf(kind, name, parent),
    type: typeToken(kind),
    id: `prj-demo/${name}`,
    outputs,
    ...more,
  }));
  const stack = { urn: "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev", type: "pulumi:pulumi:Stack" };
  return new StackState(JSON.stringify({ deployment: { resources: [stack, ...resources] } }));
};
const map = (resource: string, output: string, name: string): Mapping => ({ resource, output, name });
const values = (given: StackState, login = {}, mappings: readonly Mapping[] = []): Record<string, string | undefined> =>
  Object.fromEntries(named(variablesOf(given, login), mappings).map(({ name, value }) => [name, value]));
const problemsOf = (given: StackState, mappings: readonly Mapping[] = []): string[] => {
  try {
    named(variablesOf(given, {}), mappings);
    return [];
  } catch (error) {
    return String((error as Error).message).split("\n");
  }
};

describe("at the gate of an emulator", () => {
  beforeEach(() => {
    process.env["SVC_POSTGRES_GATE"] = "127.0.0.1:5433";
  });
  afterEach(() => {
    delete process.env["SVC_POSTGRES_GATE"];
  });

  test("the connection strings lead there, without a character that a line of a dotenv file cannot hold", () => {
    const login = { role: "web", database: "app" };
    expect(values(state(compute("api")), login)).toMatchObject({
      API_CONNECTION_URI: "postgresql://web:PASSWORD@127.0.0.1:5433/app?options=endpoint%3Dep-api",
      API_POOLED_CONNECTION_URI: "postgresql://web:PASSWORD@127.0.0.1:5433/app?options=endpoint%3Dep-api-pooler",
      API_HOST: "ep-api.proxy.example.com",
    });
  });
});

test("a compute gives its hosts and its connection strings, with placeholders for what no state holds", () => {
  expect(values(state(compute("api")))).toEqual({
    API_CONNECTION_URI: "postgresql://ROLE:PASSWORD@ep-api.proxy.example.com:5432/DATABASE?sslmode=require",
    API_HOST: "ep-api.proxy.example.com",
    API_POOLED_CONNECTION_URI:
      "postgresql://ROLE:PASSWORD@ep-api-pooler.proxy.example.com:5432/DATABASE?sslmode=require",
    API_POOLED_HOST: "ep-api-pooler.proxy.example.com",
  });
});

test("role, database and password stand escaped in the connection strings, which are secrets with a password", () => {
  const login = { role: "o'neil", database: "a b", password: "p@ss:w/rd#$" };
  const variables = variablesOf(state(compute("api")), login);
  const uri = "postgresql://o%27neil:p%40ss%3Aw%2Frd%23%24@ep-api.proxy.example.com:5432/a%20b?sslmode=require";
  expect(variables.find(({ output }) => output === "connectionUri")?.value).toBe(uri);
  expect(variables.map(({ output, isSecret }) => [output, isSecret])).toEqual([
    ["host", false],
    ["pooledHost", false],
    ["connectionUri", true],
    ["pooledConnectionUri", true],
  ]);
  const without = variablesOf(state(compute("api")), { ...login, password: undefined });
  expect(without.filter(({ isSecret }) => isSecret)).toEqual([]);
});

test.each(["AuthIntegration", "AuthKeys"] as const)("%s gives its keys, and what the state shows besides", (kind) => {
  const shown = { ...KEY_OUTPUTS, authProviderProjectId: "ap-1", schemaName: "svc_auth", tableName: "users" };
  const variables = variablesOf(state(auth("auth", { ...shown, secretServerKey: asSecret("ssk_1") }, kind)), {});
  expect(variables.map(({ output, value, isSecret }) => [output, value, isSecret])).toEqual([
    ["jwksUrl", "https://auth.example.com/jwks.json", false],
    ["pubClientKey", "pck_1", false],
    ["secretServerKey", "ssk_1", true],
    ["authProviderProjectId", "ap-1", false],
    ["schemaName", "svc_auth", false],
    ["tableName", "users", false],
  ]);
});

test.each([
  ["auth", "AUTH_PROVIDER_PROJECT_ID"],
  ["main-auth", "MAIN_AUTH_PROVIDER_PROJECT_ID"],
  ["mainAuth", "MAIN_AUTH_PROVIDER_PROJECT_ID"],
  ["oauth", "OAUTH_AUTH_PROVIDER_PROJECT_ID"],
  ["keys", "KEYS_AUTH_PROVIDER_PROJECT_ID"],
  ["auth-keys", "AUTH_KEYS_AUTH_PROVIDER_PROJECT_ID"],
])("the project at the auth provider, of a resource %s, is %s", (name, variable) => {
  expect(
    Object.keys(values(state(auth(name, { authProviderProjectId: "ap-1" })))).filter((one) => /PROJECT_ID$/.test(one)),
  ).toEqual([variable]);
});

test("an encrypted secret has no value, and one in plain text is still a secret", () => {
  const read = (given: StackState): unknown[] =>
    variablesOf(given, {}).flatMap(({ output, value, isSecret }) =>
      ["secretServerKey", "jwksUrl", "host", "pooledHost"].includes(output) ? [[output, value, isSecret]] : [],
    );
  expect(read(state(auth("auth", { ...KEY_OUTPUTS, jwksUrl: encrypted })))).toEqual([
    ["jwksUrl", undefined, true],
    ["secretServerKey", undefined, true],
  ]);
  expect(read(state(auth("auth", { secretServerKey: "ssk_clear" })))).toEqual([
    ["jwksUrl", undefined, false],
    ["secretServerKey", "ssk_clear", true],
  ]);
  // A program may make any output a secret; what is made from it is one, too.
  expect(read(state(compute("api", { host: asSecret("ep-1.example.com") })))).toEqual([
    ["host", "ep-1.example.com", true],
    ["pooledHost", "ep-1-pooler.example.com", true],
  ]);
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["an empty text, as of what is only looked up", ""],
  ["a value that is not known yet", "04da6b54-80e4-46f7-96ec-b56ff0331ba9"],
  ["a text in place of a value", STAND_INS.notShown],
  ["a number", 5],
])("an output that is %s has no value", (_what, value) => {
  const all = variablesOf(state(compute("api", { host: value }), auth("auth", { jwksUrl: value })), {});
  expect(all.map((one) => [labelOf(one), one.value])).toEqual([
    ["api.host", undefined],
    ["api.pooledHost", undefined],
    ["api.connectionUri", undefined],
    ["api.pooledConnectionUri", undefined],
    ["auth.jwksUrl", undefined],
    ["auth.pubClientKey", undefined],
    ["auth.secretServerKey", undefined],
    ["auth.authProviderProjectId", undefined],
    ["auth.schemaName", undefined],
    ["auth.tableName", undefined],
  ]);
});

test("what is only looked up counts, what is to be deleted or is deleted already does not", () => {
  const found = values(
    state(
      { ...compute("found"), more: { external: true } },
      { ...compute("found", { host: "ep-old.example.com" }), more: { delete: true } },
      { ...compute("gone"), more: { pendingReplacement: true } },
      { kind: "EmailServer", name: "mail", outputs: { host: "smtp.example.com", password: encrypted } },
    ),
  );
  expect(Object.keys(found)).toEqual([
    "FOUND_CONNECTION_URI",
    "FOUND_HOST",
    "FOUND_POOLED_CONNECTION_URI",
    "FOUND_POOLED_HOST",
  ]);
  expect(found["FOUND_HOST"]).toBe(host("ep-found"));
});

test.each([
  ["api", "API_HOST"],
  ["my-api", "MY_API_HOST"],
  ["myApi", "MY_API_HOST"],
  ["readAPIReplica2", "READ_API_REPLICA2_HOST"],
  ["db-replica-0", "DB_REPLICA_0_HOST"],
  ["eu.west/api", "EU_WEST_API_HOST"],
  ["--api--", "API_HOST"],
  ["2nd", "_2ND_HOST"],
  ["データ", "_HOST"],
  ["PATH", "PATH_HOST"],
  ["a\nb=c", "A_B_C_HOST"],
])("the host of %j is %s", (name, variable) => {
  const { [variable]: value, ...others } = values(state(compute(name)));
  expect(value).toBe(host(`ep-${name}`));
  expect(Object.keys(others)).toHaveLength(3);
  for (const one of Object.keys(others)) expect(one).toMatch(/^[A-Z_][A-Z0-9_]*$/);
});

describe("--map", () => {
  test("renames what it names, by the name of the resource or its URN, and leaves the rest", () => {
    const mappings = [map("api", "host", "PGHOST"), map(urnOf("AuthIntegration", "auth"), "jwksUrl", "jwks")];
    expect(values(state(compute("api"), auth("auth")), {}, mappings)).toMatchObject({
      PGHOST: host("ep-api"),
      jwks: KEY_OUTPUTS.jwksUrl,
      API_POOLED_HOST: host("ep-api-pooler"),
      AUTH_PUB_CLIENT_KEY: "pck_1",
    });
    expect(Object.keys(values(state(compute("api")), {}, mappings.slice(0, 1)))).not.toContain("API_HOST");
  });

  test("of something that does not exist lists what exists, all problems at once", () => {
    const has = "It has api.host, api.pooledHost, api.connectionUri, api.pooledConnectionUri";
    expect(problemsOf(state(compute("api")), [map("api", "hots", "A"), map("app", "host", "B")])).toEqual([
      `--map api.hots=A: the stack has no api.hots. ${has}`,
      `--map app.host=B: the stack has no app.host. ${has}`,
    ]);
  });

  test("twice of one output is refused, and to a name that another one has", () => {
    expect(problemsOf(state(compute("api")), [map("api", "host", "A"), map("api", "host", "B")])).toEqual([
      "--map api.host=B: api.host has the name A already",
    ]);
    expect(problemsOf(state(compute("api"), compute("b")), [map("api", "host", "B_HOST")])).toEqual([
      "B_HOST is the name of api.host and b.host: set another name with --map 'api.host=NAME'",
    ]);
  });

  test("of a name that several resources have is refused where both have the output, and takes a URN", () => {
    const two = state(auth("auth"), auth("auth", KEY_OUTPUTS, "AuthKeys"), compute("auth"));
    const [integration, keys] = [urnOf("AuthIntegration", "auth"), urnOf("AuthKeys", "auth")];
    expect(problemsOf(two, [map("auth", "jwksUrl", "A")])).toEqual([
      `--map auth.jwksUrl=A: several resources have the name "auth". Give the URN of one: ${integration}, ${keys}`,
    ]);
    expect(problemsOf(two)).toEqual(
      ["JWKS_URL", "PUB_CLIENT_KEY", "SECRET_SERVER_KEY"].map((name, at) => {
        const output = ["jwksUrl", "pubClientKey", "secretServerKey"][at];
        return `AUTH_${name} is the name of ${integration}.${output} and ${keys}.${output}: set another name with --map '${integration}.${output}=NAME'`;
      }),
    );
    const renamed = ["jwksUrl", "pubClientKey", "secretServerKey"].map((one) => map(keys, one, `KEYS_${one}`));
    expect(Object.keys(values(two, {}, [...renamed, map("auth", "host", "HOST")]))).toEqual(
      expect.arrayContaining(["AUTH_JWKS_URL", "KEYS_jwksUrl", "HOST"]),
    );
  });
});

test("computes of one name in two components clash, and names that become equal do", () => {
  const parents = ["svc:index:ComputeGroup$", "svc:index:Other$"];
  const twins = parents.map((parent) => ({ ...compute("api"), parent }));
  expect(problemsOf(state(...twins))[0]).toContain(
    parents.map((parent) => `${urnOf("ComputeEndpoint", "api", parent)}.host`).join(" and "),
  );
  expect(problemsOf(state(compute("my-api"), compute("myApi")))[0]).toBe(
    "MY_API_HOST is the name of my-api.host and myApi.host: set another name with --map 'my-api.host=NAME'",
  );
});

test("outputs without a value do not clash", () => {
  expect(problemsOf(state(compute("api"), { ...compute("api", {}), parent: "svc:index:ComputeGroup$" }))).toEqual([]);
});
