import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { inspect } from "node:util";
import { previewRefresh } from "../../src/cli/drift/previewRefresh";
import { pulumiIn } from "../../src/cli/stack/pulumi";
import { exportedState } from "../../src/cli/stack/state";
import { KINDS, type Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { load } from "../../src/provider";
import { compute } from "../support/scene";
import { closeAll, scripted, type Reply } from "../support/scriptedServer";

/* Every secret that passes through here, and every form in which an error leaves: none holds any of them. */

const CANARIES = {
  key: "canary-Kq1-api-key",
  clientSecret: "canary-Kq2-client-secret",
  password: "canary-Kq3-smtp-password",
  serverKey: "canary-Kq4-server-key",
  url: "https://canary-Kq5.test/transfer?code=1",
  setting: "canary-Kq6-setting",
  address: "canary-Kq7-user",
};
/** What a service has been sent, or has sent itself. */
const { address: _address, ...known } = CANARIES;
const ALL = Object.values(known).join(" | ");

const project = { projectId: "prj-1" };
const ARGUMENTS: Record<Kind, Properties> = {
  AuthIntegration: { ...project, branchId: "br-1" },
  AuthKeys: project,
  AuthOwnershipTransfer: project,
  AuthUser: { ...project, email: "a@b.test" },
  ComputeEndpoint: { ...project, branchId: "br-1", settings: { pgSettings: { "app.token": CANARIES.setting } } },
  EmailServer: {
    ...project,
    type: "standard",
    host: "smtp.test",
    port: 25,
    username: "u",
    password: CANARIES.password,
    senderEmail: "a@b.test",
    senderName: "n",
  },
  OAuthProvider: { ...project, providerId: "google", clientId: "id", clientSecret: CANARIES.clientSecret },
  Whitelist: { ...project, domains: ["https://a.test"] },
  WhitelistDomain: { ...project, domain: "https://a.test" },
};
const IDS: Partial<Record<Kind, string>> = {
  AuthIntegration: "prj-1/supported_provider",
  AuthKeys: "prj-1/supported_provider/abc",
  AuthOwnershipTransfer: "prj-1/supported_provider/abc",
  EmailServer: "prj-1",
  Whitelist: "prj-1",
  WhitelistDomain: "prj-1/https://a.test",
};
/** What a state holds beside the arguments, so that a service may repeat it. */
const STORED = {
  secretServerKey: CANARIES.serverKey,
  url: CANARIES.url,
  clientSecret: CANARIES.clientSecret,
  password: CANARIES.password,
  settings: { pgSettings: { "app.token": CANARIES.setting } },
  __version: 1,
};

/** What may be printed of an error, by whatever prints it. */
function printed(error: unknown): string {
  const own = error instanceof Error ? [error.message, error.stack ?? "", inspect(error.cause)] : [];
  const symbols = typeof error === "object" && error !== null ? Object.getOwnPropertySymbols(error) : [];
  return [
    ...own,
    ...symbols.map((symbol) => inspect(Reflect.get(error as object, symbol), { depth: Infinity })),
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: Infinity, showHidden: true }),
  ].join("\n");
}

const REPLIES: [string, Reply][] = [
  ["400", { status: 400, json: { code: ALL, message: ALL, request_id: ALL } }],
  ["401", { status: 401, json: { code: "", message: ALL } }],
  ["404", { status: 404, json: { code: "x", message: ALL } }],
  ["409", { status: 409, json: { code: "", message: ALL } }],
  ["a page", { status: 200, text: `<html>${ALL}</html>`, headers: { "content-type": "text/html" } }],
  ["another shape", { status: 200, json: { [CANARIES.setting]: ALL, endpoints: [compute({ id: 5, [ALL]: ALL })] } }],
  ["a redirect", { status: 302, headers: { location: `https://x.test/?${encodeURIComponent(ALL)}` } }],
];
/** What sends nothing: no argument of it can be updated, or the service has no route to delete it. Every other call fails. */
const SENDS_NOTHING = [
  "delete AuthKeys",
  "delete AuthOwnershipTransfer",
  "update AuthKeys",
  "update AuthOwnershipTransfer",
  "update AuthUser",
  "update WhitelistDomain",
];

const variables = ["SVC_DEBUG", "SVC_API_KEY", "SVC_BASE_URL", "PATH"];
const before = variables.map((name) => process.env[name]);
afterEach(async () => {
  variables.forEach((name, index) => {
    const value = before[index];
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  });
  await closeAll();
});

async function configured(kind: Kind, baseUrl: string) {
  const settings: Record<string, string> = { "svc:apiKey": CANARIES.key, "svc:baseUrl": baseUrl };
  const provider = load(kind);
  await provider.configure({ config: { get: (name: string) => settings[name], require: () => "" } });
  return provider;
}

type Provider = ReturnType<typeof load>;
const VERBS = ["read", "create", "update", "delete"] as const;

async function call(
  provider: Provider,
  verb: string,
  id: string,
  olds: Properties,
  news: Properties,
): Promise<unknown> {
  if (verb === "read") return await provider.read(id, olds);
  if (verb === "create") return await provider.create(news);
  if (verb === "update") return await provider.update(id, { ...olds, __unfinished: "update" }, news);
  return await provider.delete(id, olds);
}

const errorsOf = async (work: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(work)).flatMap((ended) => (ended.status === "rejected" ? [ended.reason as unknown] : []));

test.each(REPLIES)(
  "no error of any kind holds a secret that the service repeats: %s",
  async (_what, reply) => {
    // With stacks there is more to look through.
    process.env["SVC_DEBUG"] = "1";
    const outcomes = await Promise.all(
      KINDS.flatMap((kind) =>
        VERBS.map(async (verb) => {
          // A server of its own is an account of its own: what another call has read has taught this one nothing.
          const { server } = await scripted(() => reply);
          const news = ARGUMENTS[kind];
          const olds = { ...STORED, ...news, __args: Object.keys(news) };
          const work = call(await configured(kind, server.baseUrl), verb, IDS[kind] ?? "prj-1/thing-1", olds, news);
          // What the call has never held it cannot tell from other words.
          const given = JSON.stringify([CANARIES.key, verb === "create" ? news : olds]);
          const secrets = new RegExp([...new Set(given.match(/canary-Kq\d/g))].join("|"));
          return { what: `${verb} ${kind}`, secrets, errors: await errorsOf([work]) };
        }),
      ),
    );
    const passed = outcomes.filter(({ errors }) => errors.length === 0).map(({ what }) => what);
    // What is not found is deleted.
    const isDeleted = (what: string): boolean => reply.status === 404 && what.startsWith("delete ");
    expect(passed.filter((what) => !isDeleted(what)).sort()).toEqual(SENDS_NOTHING.filter((what) => !isDeleted(what)));
    for (const { secrets, errors } of outcomes)
      for (const error of errors) {
        // What is to be kept of an unfinished change travels with the error to the engine, which encrypts it: nobody prints it.
        expect(inspect(error, { depth: Infinity }) + JSON.stringify(error)).not.toMatch(secrets);
        if (typeof error === "object" && error !== null) Reflect.deleteProperty(error, "properties");
        expect(printed(error)).not.toMatch(secrets);
      }
  },
  60_000,
);

test.each(REPLIES)(
  "once a refresh has shown the secrets of a state, no error of a later call holds any: %s",
  async (_what, reply) => {
    process.env["SVC_DEBUG"] = "1";
    const failing = async (kind: Kind): Promise<unknown[]> => {
      const { server } = await scripted(() => reply);
      const provider = await configured(kind, server.baseUrl);
      const news = ARGUMENTS[kind];
      const olds = { ...STORED, ...news, __args: Object.keys(news) };
      const errors: unknown[] = [];
      for (const verb of ["read", "update", "create", "delete"])
        errors.push(...(await errorsOf([call(provider, verb, IDS[kind] ?? "prj-1/thing-1", olds, news)])));
      return errors;
    };
    const errors = (await Promise.all(KINDS.map(failing))).flat();
    expect(errors.length).toBeGreaterThan(KINDS.length);
    for (const error of errors) {
      if (typeof error === "object" && error !== null) Reflect.deleteProperty(error, "properties");
      expect(printed(error)).not.toMatch(/canary/);
    }
  },
  60_000,
);

test("an address with a user name in it is refused without being shown", async () => {
  const provider = await configured("AuthKeys", `https://${CANARIES.address}:${CANARIES.password}@x.test/api/v2`);
  const { failures = [] } = await provider.check({}, project);
  expect(failures.length).toBeGreaterThan(0);
  const errors = await errorsOf([provider.create(project)]);
  expect(errors).toHaveLength(1);
  expect(JSON.stringify(failures) + errors.map(printed).join("")).not.toMatch(/canary/);
});

test("the Pulumi CLI is started with no secret among its arguments, and what it says is shown without them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-canaries-"));
  try {
    const log = join(folder, "arguments");
    const words = `error: cannot open https://${CANARIES.address}:${CANARIES.password}@state.test with ${CANARIES.key}`;
    writeFileSync(join(folder, "pulumi"), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\necho '${words}' >&2\nexit 1\n`);
    chmodSync(join(folder, "pulumi"), 0o755);
    process.env["PATH"] = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
    process.env["SVC_API_KEY"] = CANARIES.key;
    const errors = await errorsOf([previewRefresh("dev", true), exportedState(pulumiIn(".", "dev"), true)]);
    expect(errors).toHaveLength(2);
    expect(errors.map(printed).join("\n")).not.toMatch(/canary-/);
    expect(readFileSync(log, "utf8")).toMatch(/refresh/);
    expect(readFileSync(log, "utf8")).not.toMatch(/canary-K/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
