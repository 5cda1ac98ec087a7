import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { KINDS, pointer, type Kind, typeToken } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { load } from "../../src/provider";
import { startEmulator, type Emulator } from "../../src/emulator";
import { control } from "../support/emulator";
import { unmarked } from "../support/engineMarks";

/**
 * States that released versions have written, as the engine hands them over (secrets replaced by made-up ones). They
 * are never edited: new code reads every older shape.
 */
const FIXTURES = join(__dirname, "fixtures");
const WHOLE_STATES = join(__dirname, "..", "engine", "states");

interface StoredResource {
  readonly kind: Kind;
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
}

const files = readdirSync(FIXTURES).filter((name) => name.startsWith("state-"));
const stored = files.flatMap((file) =>
  (JSON.parse(readFileSync(join(FIXTURES, file), "utf8")) as StoredResource[]).map(
    (resource) => [`${file} ${resource.kind} ${resource.id}`, resource] as const,
  ),
);

/** The applied values of the references of a fixture. */
const VALUES = {
  FIXTURE_CLIENT: "fixture-client",
  FIXTURE_SMTP: "fixture-smtp-password",
  FIXTURE_TOKEN: "fixture-token",
};
beforeEach(() => void Object.assign(process.env, VALUES));
afterEach(() => Object.keys(VALUES).forEach((name) => Reflect.deleteProperty(process.env, name)));

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
  for (const id of ["prj-two", "prj-nine"]) await control(emulator.url, "POST", "/projects", { id });
});
afterAll(() => emulator.close());

function provider(kind: Kind) {
  const loaded = load(kind);
  const settings: Record<string, string> = { "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl };
  void loaded.configure({ config: { get: (key) => settings[key], require: () => "" } });
  return loaded;
}

test("every kind stands in a fixture, or in a whole state that upgrades.test.ts brings up again", () => {
  const kinds = new Set<string>(stored.map(([, { kind }]) => kind));
  const whole = readdirSync(WHOLE_STATES).map((name) => readFileSync(join(WHOLE_STATES, name, "state.json"), "utf8"));
  const stands = (kind: Kind) => kinds.has(kind) || whole.some((text) => text.includes(`"${typeToken(kind)}"`));
  const missing = KINDS.filter((kind) => !stands(kind)).map(
    (kind) =>
      `No state has the kind ${kind}. Write one below test/engine/states: PULUMI_SVC_WRITE_STATE=<version of the SDK> npm run test:engine -- test/engine/upgrades.test.ts`,
  );
  expect(missing).toEqual([]);
});

describe.each(stored)("%s", (_name, { kind, id, inputs, outputs }) => {
  test("holds the pointer of today", () => {
    expect([inputs["__provider"], outputs["__provider"]]).toEqual([pointer(kind), pointer(kind)]);
  });

  test("passes today's check unchanged and plans nothing", async () => {
    const { checked, failures } = await provider(kind)
      .check(inputs, { ...inputs })
      .then((result) => ({ checked: result.inputs, failures: result.failures }));
    expect(failures).toEqual([]);
    expect(unmarked(checked ?? {})).toEqual(inputs);
    expect(await provider(kind).diff(id, { ...outputs }, { ...inputs })).toMatchObject({
      changes: false,
      replaces: [],
    });
  });
});

const byReference = stored.filter(([, { outputs }]) => "__applied" in outputs);

test("a digest stands in a fixture for each place that may have one", () => {
  const places = byReference.flatMap(([, { kind, outputs }]) =>
    Object.keys(Object(outputs["__applied"])).map((path) => `${kind} ${path}`),
  );
  expect(places.sort()).toEqual([
    "ComputeEndpoint settings.pgSettings.app.token",
    "EmailServer password",
    "OAuthProvider clientSecret",
  ]);
});

test.each(byReference)("%s tells another value from the one that was applied", async (_name, one) => {
  const { kind, id, inputs, outputs } = one;
  for (const name of Object.keys(VALUES)) process.env[name] = "another";
  const of = provider(kind);
  await of.check(inputs, { ...inputs });
  expect(await of.diff(id, { ...outputs }, { ...inputs })).toMatchObject({ changes: true, replaces: [] });
});

test("each is destroyed from its outs alone where the object is gone", async () => {
  // All at once: what seems gone is looked for again a while later.
  const gone = stored.map(([, { kind, id, outputs }]) => provider(kind).delete(id, { ...outputs }));
  expect(await Promise.all(gone)).toEqual(stored.map(() => undefined));
});

test("each is read from its outs alone, and missed where the service does not hold it", async () => {
  const seen = await Promise.all(stored.map(([, { kind, id, outputs }]) => provider(kind).read(id, { ...outputs })));
  expect(seen).toEqual(stored.map(() => ({ id: "", props: {} })));
});
