/**
 * The table "What a request sets beside what has changed" of docs/design/rules.md, 5: each request of each kind that the
 * emulator logs has a row there, with the attributes that it sets although the plan does not show them as changed, and a
 * plan names these. A new kind, request or attribute without a row fails.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { differing } from "../../src/contract/propertyPath";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Kind } from "../../src/contract/pointer";
import { EACH_CASE, EACH_KIND, KIND_CASES } from "../kinds";
import { DEMO, othersIn, wholeIn, type KindCase } from "../kinds/KindCase";
import { started } from "../kinds/started";
import { notes, type Harness, type Json, type State } from "../support/harness";
import type { LoggedRequest } from "../support/service";
import { ROOT } from "../support/cli";
import { THEIRS } from "../support/emailServers";
import { inProject, OAUTH } from "../support/rules/routes";
import { PROJECT } from "../support/harness";

interface Row {
  readonly kind: string;
  readonly step: string;
  readonly request: string;
  readonly beside: readonly string[];
  /** What a line must contain. */
  readonly says: readonly string[];
}

const quotedIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);

function table(): Row[] {
  const text = readFileSync(join(ROOT, "docs/design/rules.md"), "utf8");
  const [, section = ""] = text.split("### What a request sets beside what has changed");
  const [rows = ""] = section.split(/\n#{2,3} /);
  return rows
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Kind") && !line.startsWith("| --"))
    .map((line) => {
      const [, kind = "", step = "", request, beside, says] = line.split("|").map((cell) => cell.trim());
      return {
        kind,
        step,
        request: quotedIn(request).join(),
        beside: quotedIn(beside).sort(),
        says: quotedIn(says),
      };
    });
}
const ROWS = table();
const rowOf = (kind: string, step: string, request: string): Row | undefined =>
  ROWS.find((row) => row.kind === kind && row.step === step && row.request === request);

/** What identifies the object, and what the argument of another name becomes. */
const IDS: ReadonlySet<string> = new Set(["project_id", "auth_provider", "id"]);
const ARGUMENT_OF: Readonly<Record<string, string>> = {
  autoscaling_limit_min_cu: "size.min",
  autoscaling_limit_max_cu: "size.max",
  suspend_timeout_seconds: "scaleToZero",
};

const argumentOf = (attribute: string): string =>
  ARGUMENT_OF[attribute] ?? attribute.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The attributes in a body: `settings.pg_settings.work_mem`. */
function attributesIn(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => attributesIn(inner, path === "" ? key : `${path}.${key}`));
}

const bodyOf = ({ body }: LoggedRequest): unknown => Reflect.get(Object(body), "endpoint") ?? body;

/** A setting may have any name. */
const inTable = (attribute: string): string => attribute.replace(/^(settings\.pg_settings)\..*/, "$1.*");

interface Change {
  readonly from: Properties;
  readonly to: Properties;
  /** Somebody changes it meanwhile. */
  readonly byHand?: (given: Harness, state: State) => Promise<unknown>;
}

const shareByHand = async (given: Harness, { id }: State): Promise<void> => {
  const provider = id.slice(id.indexOf("/") + 1);
  await given.edit({ kind: "oauth_provider", id: provider, delete: true });
  await given.post(inProject(OAUTH, PROJECT), { id: provider });
};

/** Changes of a part of an argument, beside those of whole arguments, which the cases bring. */
function partsOf(kindCase: KindCase): Change[] {
  const from = wholeIn(kindCase, DEMO);
  if (kindCase.kind === "OAuthProvider")
    return [
      { from, to: { ...from, clientId: "other" }, byHand: shareByHand },
      { from, to: { ...from, clientSecret: "other" }, byHand: shareByHand },
    ];
  if (kindCase.kind !== "ComputeEndpoint") return [];
  const [first, second] = [
    { pgSettings: { work_mem: "4MB", jit: "off" }, preloadLibraries: { useDefaults: false, enabledLibraries: ["a"] } },
    { pgSettings: { work_mem: "8MB", jit: "off" }, preloadLibraries: { useDefaults: false, enabledLibraries: ["a"] } },
  ];
  return [
    { from, to: { ...from, size: { min: 2, max: 4 } } },
    { from, to: { ...from, size: { min: 1, max: 8 } } },
    { from: { ...from, settings: first }, to: { ...from, settings: second } },
  ];
}

function changesOf(kindCase: KindCase): Change[] {
  const from = wholeIn(kindCase, DEMO);
  const whole = Object.entries(othersIn(kindCase, DEMO, "updates", "restarts")).map(([name, other]) => {
    const { without = [] } = kindCase.arguments[name] ?? {};
    return { from, to: { ...from, ...Object.fromEntries(without.map((one) => [one, undefined])), [name]: other } };
  });
  return [
    ...whole.map(({ from: before, to }) => ({ from: before, to: consistent(kindCase.kind, to) })),
    ...partsOf(kindCase),
  ];
}

/** A shared mail server has no other argument. */
const consistent = (kind: Kind, { ...to }: Properties): Properties =>
  kind === "EmailServer" && to["type"] === "shared" ? { projectId: to["projectId"], type: "shared" } : defined(to);

const defined = (args: Properties): Properties =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));

/** Attributes of a request whose argument the change does not name. */
function besideIn(request: LoggedRequest, changed: readonly string[] | undefined): string[] {
  // Only these change something that exists.
  if (request.method !== "PATCH") return [];
  const isChanged = (argument: string): boolean =>
    changed?.some((path) => isWithin(path, argument) || isWithin(argument, path)) === true;
  return attributesIn(bodyOf(request)).filter((one) => !IDS.has(one) && !isChanged(argumentOf(one)));
}

const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}.`);

interface Observed {
  readonly step: string;
  readonly request: string;
  readonly beside: readonly string[];
}

const seenIn = async (given: Harness, step: string, changed?: readonly string[]): Promise<Observed[]> =>
  // The emulator's requests have a template.
  ((await given.mutations()) as unknown as LoggedRequest[]).map((request) => ({
    step,
    request: `${request.method} ${request.template}`,
    beside: besideIn(request, changed).map(inTable),
  }));

/** A step that sends nothing has a row too: it may have something to say. */
const orNothing = (step: string, found: readonly Observed[]): readonly Observed[] =>
  found.length > 0 ? found : [{ step, request: "nothing", beside: [] }];

async function deployed(kindCase: KindCase, { from, byHand }: Change) {
  const given = await started(kindCase, { secretAnswers: "echo" });
  const state = await given.create(from);
  await byHand?.(given, state);
  given.restart();
  await given.forgetRequests();
  return { given, state };
}

async function adopted(kindCase: KindCase) {
  const { adopts, kind } = kindCase;
  if (adopts === undefined) return undefined;
  const given = await started(kindCase, { secretAnswers: "echo" });
  await kindCase.plant(given.call, DEMO);
  await given.forgetRequests();
  // An integration cannot be changed to match.
  const program = kind === "AuthIntegration" ? kindCase.least(DEMO) : wholeIn(kindCase, DEMO);
  return { given, program: { ...program, ...adopts }, step: Object.keys(adopts).length > 0 ? "adopt" : "create" };
}

async function observed(kindCase: KindCase): Promise<Observed[]> {
  const found: Observed[] = [];
  for (const { from, prepare, to } of kindCase.mutations) {
    const given = await started(kindCase, { secretAnswers: "echo" });
    const state = prepare === undefined ? from && (await given.create(from)) : await prepare(given);
    given.restart();
    await given.forgetRequests();
    if (state === undefined) await given.create(to ?? {});
    else if (to === undefined) await given.delete(state);
    else await given.update(state, to);
    const step = to === undefined ? "delete" : state === undefined ? "create" : "update";
    // What a creation or a deletion changes of an object that exists is all beside it.
    found.push(...(await seenIn(given, step, step === "update" ? differing(from ?? to, to) : [])));
  }
  for (const change of changesOf(kindCase)) {
    const { given, state } = await deployed(kindCase, change);
    await given.update(state, change.to);
    found.push(...(await seenIn(given, "update", differing(change.from, change.to))));
  }
  const { given, state } = await deployed(kindCase, { from: wholeIn(kindCase, DEMO), to: {} });
  await given.delete(state);
  found.push(...orNothing("delete", await seenIn(given, "delete", [])));
  const adoption = await adopted(kindCase);
  if (adoption !== undefined) {
    await adoption.given.create(adoption.program);
    found.push(...orNothing(adoption.step, await seenIn(adoption.given, adoption.step, [])));
  }
  return found;
}

test.each(EACH_KIND)(
  "each request of a %s is in the table, with what it sets beside what has changed",
  async (kind, kindCase) => {
    const found = new Map<string, Set<string>>();
    for (const { step, request, beside } of await observed(kindCase)) {
      const key = `${step} ${request}`;
      found.set(key, new Set([...(found.get(key) ?? []), ...beside]));
    }
    const rows = ROWS.filter((row) => row.kind === kind);
    const asRows = [...found].map(([key, beside]) => [key, [...beside].sort()] as const);
    expect(Object.fromEntries(asRows)).toEqual(
      Object.fromEntries(rows.map(({ step, request, beside }) => [`${step} ${request}`, beside])),
    );
  },
);

test("the table has no kind that does not exist, and no row twice", () => {
  expect(ROWS.filter(({ kind }) => !Object.hasOwn(KIND_CASES, kind))).toEqual([]);
  const keys = ROWS.map(({ kind, step, request }) => `${kind} ${step} ${request}`);
  expect(keys).toEqual([...new Set(keys)]);
});

/** Another value of an attribute, set by hand. */
const BY_HAND: Readonly<Record<string, Json>> = {
  autoscaling_limit_min_cu: { autoscaling_limit_min_cu: 0.25 },
  autoscaling_limit_max_cu: { autoscaling_limit_max_cu: 16 },
  "settings.pg_settings.*": {
    settings: {
      pg_settings: { jit: "on", work_mem: "4MB" },
      preload_libraries: { use_defaults: false, enabled_libraries: ["a"] },
    },
  },
  "settings.preload_libraries.use_defaults": {
    settings: {
      pg_settings: { jit: "off", work_mem: "4MB" },
      preload_libraries: { use_defaults: true, enabled_libraries: ["a"] },
    },
  },
  "settings.preload_libraries.enabled_libraries": {
    settings: {
      pg_settings: { jit: "off", work_mem: "4MB" },
      preload_libraries: { use_defaults: false, enabled_libraries: ["b"] },
    },
  },
  // A shared server shows only its type.
  type: { type: "shared" },
};

const setByHand = (kind: string, attribute: string, { id }: State): Json | undefined => {
  const set =
    BY_HAND[attribute] ??
    (Object.hasOwn(THEIRS, attribute) ? { [attribute]: Reflect.get(THEIRS, attribute) } : undefined);
  if (set === undefined) return undefined;
  return kind === "EmailServer" ? { kind: "email_server", set } : { kind: "endpoint", id: id.split("/")[1], set };
};

const BESIDE = ROWS.filter(({ step }) => step === "update").flatMap((row) =>
  row.beside.map((attribute) => [row.kind as Kind, attribute, row] as const),
);

test.each(BESIDE)(
  "%s: a plan names %s where the service has another value than the state",
  async (kind, attribute, row) => {
    const kindCase = KIND_CASES[kind];
    const said: string[] = [];
    let isSent = false;
    for (const change of changesOf(kindCase)) {
      const { given, state } = await deployed(kindCase, change);
      const edit = setByHand(kind, attribute, state);
      if (edit !== undefined) await given.edit(edit);
      const before = given.log.length;
      expect((await given.plan(change.to, change.from)).failures).toEqual([]);
      await given.diff(state, change.to);
      said.push(...given.log.slice(before).map(({ message }) => message));
      await given.forgetRequests();
      await given.update(state, change.to);
      const seen = await seenIn(given, "update", differing(change.from, change.to));
      isSent ||= seen.some(({ request, beside }) => request === row.request && beside.includes(attribute));
    }
    expect(isSent).toBe(true);
    const argument = argumentOf(attribute).replace(/\.\*$/, "");
    const naming = said.filter((text) => row.says.some((says) => text.includes(says)));
    expect(naming.join("\n")).toContain(`"${argument}`.replace(/"$/, ""));
  },
);

const ADOPTING = EACH_CASE.filter(({ adopts }) => adopts !== undefined).map(
  (kindCase) => [kindCase.kind, kindCase] as const,
);

test.each(ADOPTING)("%s: a plan says what a creation does to the object that exists", async (kind, kindCase) => {
  const adoption = await adopted(kindCase);
  if (adoption === undefined) throw new Error("it is not adopted");
  const { given, program, step } = adoption;
  const { warnings } = await given.plan(program);
  given.restart();
  await given.create(program);
  const found = orNothing(step, await seenIn(given, step, []));
  for (const { request, beside } of found) {
    const { says = [] } = rowOf(kind, step, request) ?? {};
    for (const text of says) expect(warnings.join("\n")).toContain(text);
    // Those that are as declared already are not named.
    const names = new Set(beside.map((one) => argumentOf(one).split(".")[0] ?? ""));
    const isNamed = (name: string): boolean => warnings.some((text) => new RegExp(`\\b${name}\\b`).test(text));
    const unnamed = [...names].filter((name) => !isNamed(name));
    expect([kind, unnamed.filter((name) => !isAsDeclared(kind, name))]).toEqual([kind, []]);
  }
});

/** What the planted object has anyway, or what has words of its own in the line. */
const isAsDeclared = (kind: Kind, name: string): boolean =>
  (kind === "EmailServer" && name === "type") || (kind === "OAuthProvider" && /^client/.test(name));

test("an adopted provider gets credentials: the line says so without their names", async () => {
  const { given, program } = (await adopted(KIND_CASES.OAuthProvider)) ?? { given: undefined, program: {} };
  expect((await given?.plan(program))?.warnings.join()).toContain("it gets the credentials of the program");
});

const DELETING = ROWS.filter(({ step, says }) => step === "delete" && says.length > 0).map(
  (row) => [row.kind as Kind, row] as const,
);

test.each(DELETING)("%s: the deletion itself says what goes with it: no plan is asked", async (kind, { says }) => {
  const kindCase = KIND_CASES[kind];
  const { given, state } = await deployed(kindCase, { from: wholeIn(kindCase, DEMO), to: {} });
  await given.delete(state);
  for (const text of says) expect(notes(given).join("\n")).toContain(text);
});
