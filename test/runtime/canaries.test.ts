import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { inspect } from "node:util";
import { refreshedStacks } from "../../src/cli/drift/previewRefresh";
import { pulumiIn } from "../../src/cli/stack/pulumi";
import { exportedState } from "../../src/cli/stack/state";
import type { Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { load } from "../../src/provider";
import { EACH_CASE } from "../kinds";
import { wholeIn, type Place } from "../kinds/KindCase";
import { cheapDigests } from "../support/cheapDigests";
import { compute } from "../support/scene";
import { closeAll, scripted, type Reply } from "../support/scriptedServer";

/* Every secret that passes through here, and every form in which an error leaves: none holds any of them. */

cheapDigests();

const CANARIES = {
  key: "canary-Kq-key",
  password: "canary-Kq-of-a-url",
  address: "canary-Kq-user",
};

const PLACE: Place = { projectId: "prj-1", main: "br-1", free: "br-2", other: "br-3" };

/** For each secret argument and output of any kind: one that looks like an address, as that of a transfer does. */
const canary = (name: string): string => `https://canary-Kq-${name}.test/?code=1`;
const SECRETS = EACH_CASE.flatMap(({ secretArguments, secretOutputs }) => [
  ...Object.entries(secretArguments).map(([name, holding]) => [name, holding?.(canary(name))] as const),
  ...secretOutputs.map((name) => [name, canary(name)] as const),
]);
const STORED: Properties = Object.fromEntries(SECRETS);
/** What a service has been sent, or has sent itself. */
const ALL = [CANARIES.key, ...Object.keys(STORED).map(canary)].join(" | ");

/** For each kind a program, and a state that contains every secret, so that a service may repeat it. */
const SUBJECTS = EACH_CASE.map((kindCase) => {
  const own = Object.entries(STORED).filter(([name]) => Object.hasOwn(kindCase.secretArguments, name));
  const news: Properties = { ...wholeIn(kindCase, PLACE), ...Object.fromEntries(own) };
  const olds: Properties = { ...STORED, ...news, __args: Object.keys(news), __version: 1 };
  return { kind: kindCase.kind, id: kindCase.idIn(PLACE.projectId), news, olds };
});

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
  ["another shape", { status: 200, json: { [ALL]: ALL, endpoints: [compute({ id: 5, [ALL]: ALL })] } }],
  ["a redirect", { status: 302, headers: { location: `https://x.test/?${encodeURIComponent(ALL)}` } }],
];
/** Every other call fails. */
const SENDS_NOTHING = EACH_CASE.flatMap(({ kind, sendsNothing }) =>
  sendsNothing.map((verb) => `${verb} ${kind}`),
).sort();

const variables = ["SVC_DEBUG", "SVC_API_KEY", "SVC_BASE_URL", "PATH", "SVC_CANARY_REFERENCE"];
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
  if (verb === "update")
    return await provider.update(id, { ...olds, __unfinished: "update", __sent: Object.keys(news) }, news);
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
      SUBJECTS.flatMap(({ kind, id, news, olds }) =>
        VERBS.map(async (verb) => {
          // A server of its own is an account of its own: what another call has read has taught this one nothing.
          const { server } = await scripted(() => reply);
          const work = call(await configured(kind, server.baseUrl), verb, id, olds, news);
          // A text that the call has never held cannot be distinguished from other words.
          const given = JSON.stringify([CANARIES.key, verb === "create" ? news : olds]);
          const secrets = new RegExp([...new Set(given.match(/canary-Kq-\w+/g))].join("|"));
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
    const failing = async ({ kind, id, news, olds }: (typeof SUBJECTS)[number]): Promise<unknown[]> => {
      const { server } = await scripted(() => reply);
      const provider = await configured(kind, server.baseUrl);
      const errors: unknown[] = [];
      for (const verb of ["read", "update", "create", "delete"])
        errors.push(...(await errorsOf([call(provider, verb, id, olds, news)])));
      return errors;
    };
    const errors = (await Promise.all(SUBJECTS.map(failing))).flat();
    expect(errors.length).toBeGreaterThan(SUBJECTS.length);
    for (const error of errors) {
      if (typeof error === "object" && error !== null) Reflect.deleteProperty(error, "properties");
      expect(printed(error)).not.toMatch(/canary/);
    }
  },
  60_000,
);

/** The same programs with each secret argument by reference. */
const VARIABLE = "SVC_CANARY_REFERENCE";
const BY_REFERENCE = EACH_CASE.flatMap(({ secretArguments, ...kindCase }) => {
  const given = Object.entries(secretArguments).map(([name, holding]) => {
    // A case puts whatever it is given in its place.
    const reference = { fromEnv: VARIABLE } as unknown as string;
    return [name, holding?.(reference)] as const;
  });
  const news: Properties = { ...wholeIn({ ...kindCase, secretArguments }, PLACE), ...Object.fromEntries(given) };
  const before = Object.entries(secretArguments).map(
    ([name, holding]) => [name, holding?.("canary-Kq-before")] as const,
  );
  const olds: Properties = { ...news, ...Object.fromEntries(before), __args: Object.keys(news), __version: 1 };
  return given.length > 0 ? [{ kind: kindCase.kind, id: kindCase.idIn(PLACE.projectId), news, olds }] : [];
});
/** With a line break, in each form that a service may repeat. */
const REFERRED = "canary-Kq-referred\nin two lines";
const REPEATED = `${REFERRED} | ${encodeURIComponent(REFERRED)} | ${JSON.stringify(REFERRED)}`;

test.each(["create", "update"] as const)(
  "neither errors nor what is kept for the engine hold the value of a reference that the service repeats: %s",
  async (verb) => {
    expect(BY_REFERENCE.map(({ kind }) => kind).sort()).toEqual(["ComputeEndpoint", "EmailServer", "OAuthProvider"]);
    process.env["SVC_DEBUG"] = "1";
    process.env[VARIABLE] = REFERRED;
    const lists = {
      data: [
        {
          auth_provider: "supported_provider",
          auth_provider_project_id: "p",
          branch_id: "br-1",
          db_name: "db",
          created_at: "2026-01-01T00:00:00Z",
          owned_by: "svc",
          jwks_url: "https://auth.test/jwks",
        },
      ],
      operations: [],
      providers: verb === "create" ? [] : [{ id: "microsoft", type: "standard" }],
      endpoints: verb === "create" ? [] : [compute({ id: "ep-thing-1" })],
      branches: [{ id: "br-1", name: "main", default: true }],
      type: "shared",
    };
    const replies: Reply[] = [
      { status: 422, json: { code: REPEATED, message: REPEATED, request_id: REPEATED } },
      { status: 409, json: { code: "", message: REPEATED } },
      { status: 200, text: `<html>${REPEATED}</html>`, headers: { "content-type": "text/html" } },
      // Each in its own place, and the change is not there yet: some fail, and some are done.
      {
        status: 200,
        json: {
          id: "microsoft",
          type: "standard",
          password: REFERRED,
          client_secret: REFERRED,
          endpoint: compute({ id: "ep-thing-1", settings: { pg_settings: { "app.token": REFERRED } } }),
          [REPEATED]: REPEATED,
        },
      },
    ];
    const changed = new Set<string>();
    const outcomes = await Promise.allSettled(
      BY_REFERENCE.flatMap(({ kind, id, news, olds }) =>
        replies.map(async (reply) => {
          const { server } = await scripted(({ method, text }) => {
            if (method === "GET") return { json: lists };
            if (text.includes(JSON.stringify(REFERRED))) changed.add(kind);
            return reply;
          });
          return call(await configured(kind, server.baseUrl), verb, id, olds, {
            ...news,
            // A change that the service does not show is looked for until then.
            __timeouts: { create: 5, update: 5 },
          });
        }),
      ),
    );
    // Each was sent, so that each could be repeated.
    expect([...changed].sort()).toEqual(["ComputeEndpoint", "EmailServer", "OAuthProvider"]);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThan(BY_REFERENCE.length * 3);
    for (const ended of outcomes) {
      const shown = ended.status === "rejected" ? printed(ended.reason) : JSON.stringify(ended.value);
      expect(shown).not.toMatch(/canary-Kq-referred/);
    }
  },
  60_000,
);

test("an address with a user name in it is refused without being shown", async () => {
  const provider = await configured("AuthKeys", `https://${CANARIES.address}:${CANARIES.password}@x.test/api/v2`);
  const { failures = [] } = await provider.check({}, { projectId: "prj-1" });
  expect(failures.length).toBeGreaterThan(0);
  const errors = await errorsOf([provider.create({ projectId: "prj-1" })]);
  expect(errors).toHaveLength(1);
  expect(JSON.stringify(failures) + errors.map(printed).join("")).not.toMatch(/canary/);
});

test("the Pulumi CLI is started with no secret among its arguments, and what it says is shown without them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-canaries-"));
  try {
    const log = join(folder, "arguments");
    const words = `error: cannot open https://${CANARIES.address}:${CANARIES.password}@state.test with ${CANARIES.key}`;
    const failing = `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\necho '${words}' >&2\nexit 1\n`;
    // A look begins with an export of the state.
    const exporting = `case "$1" in stack) echo '{"deployment":{}}'; exit 0 ;; esac\n`;
    writeFileSync(join(folder, "pulumi"), failing.replace("\n", `\n${exporting}`));
    chmodSync(join(folder, "pulumi"), 0o755);
    process.env["PATH"] = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
    process.env["SVC_API_KEY"] = CANARIES.key;
    const errors = await errorsOf([refreshedStacks(["dev"], { withSecrets: true, waitSeconds: undefined })]);
    writeFileSync(join(folder, "pulumi"), failing);
    errors.push(...(await errorsOf([exportedState(pulumiIn(".", "dev"), true)])));
    expect(errors).toHaveLength(2);
    expect(errors.map(printed).join("\n")).not.toMatch(/canary-/);
    expect(readFileSync(log, "utf8")).toMatch(/refresh/);
    expect(readFileSync(log, "utf8")).not.toMatch(/canary-K/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
