import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KINDS } from "../../src/contract/pointer";
import { allRoutes } from "../../src/emulator/app";
import type { Site } from "../../src/emulator/http/access";
import type { Service } from "../../src/emulator/model/service";
import { ROOT } from "../support/cli";
import { EACH_CASE, EACH_KIND, KIND_CASES } from ".";
import { DEMO, wholeIn, type ArgumentCase } from "./KindCase";

/** Routes that no resource uses. */
const NOT_OURS: readonly string[] = ["POST /projects/{project_id}/endpoints/{endpoint_id}/suspend"];

/* Compares the hand-written cases with the code of each kind. */

test("each kind has the case of its name", () => {
  const lacking = KINDS.filter((kind) => !Object.hasOwn(KIND_CASES, kind)).map((kind) => `test/kinds/${kind}.ts`);
  expect({ lacking }).toEqual({ lacking: [] });
  for (const [kind, { declaration, lifecycle }] of EACH_KIND)
    expect([KIND_CASES[kind].kind, declaration.kind, lifecycle.kind]).toEqual([kind, kind, kind]);
});

const REPLACING: readonly string[] = ["replaces", "excludes"];

test.each(EACH_KIND)(
  "%s: its case has a line for each argument, which says whether a change replaces it",
  (kind, one) => {
    expect({ [`arguments of test/kinds/${kind}.ts`]: Object.keys(one.arguments).sort() }).toEqual({
      [`arguments of test/kinds/${kind}.ts`]: Object.keys(one.declaration.args).sort(),
    });
    // The part of a spec used here.
    const specs = Object.entries(one.lifecycle.args as Record<string, { replaces?: boolean | string }>);
    const replacing = specs.filter(([, { replaces = false }]) => replaces !== false).map(([name]) => name);
    const said = Object.entries<ArgumentCase>(one.arguments).filter(([, { change }]) => REPLACING.includes(change));
    expect(said.map(([name]) => name).sort()).toEqual(replacing.sort());
  },
);

test.each(EACH_KIND)("%s: a whole program of its case differs from the other values in each argument", (_kind, one) => {
  const whole = wholeIn(one, DEMO);
  for (const [name, { other }] of Object.entries<ArgumentCase>(one.arguments))
    expect([name, typeof other === "function" ? other(DEMO) : other]).not.toEqual([name, whole[name]]);
});

test.each(EACH_KIND)("%s: its case names the arguments that may be references", (_kind, one) => {
  // The part of a declaration used here.
  const args = Object.entries(one.declaration.args as Record<string, { reference?: unknown }>);
  const declared = args.filter(([, { reference }]) => reference !== undefined).map(([name]) => name);
  expect([...one.byReference].sort()).toEqual(declared.sort());
});

/** Tests iterate over these fields of a case: an empty field would skip them. */
test.each(EACH_KIND)("%s: its case fills the fields that its lifecycle and declaration ask for", (kind, one) => {
  const { lifecycle, declaration } = one;
  const changes = Object.values<ArgumentCase>(one.arguments).map(({ change }) => change);
  // The part of a declaration used here.
  const args = Object.entries(declaration.args as Record<string, { secret?: boolean }>);
  const secrets = args.filter(([, { secret }]) => secret === true).map(([name]) => name);
  const wrong = [
    (lifecycle.declares !== undefined) !== one.twins.length > 0 &&
      "twins: two declarations of one object, exactly where its lifecycle has `declares`",
    one.coexists && one.adopts !== undefined && "coexists: what can be taken over does not coexist",
    changes.some((change) => change === "updates" || change === "restarts") &&
      one.updates.length === 0 &&
      "updates: one of its arguments is updated",
    one.planLists.length === 0 && "planLists: a plan that creates it reads at least one list, in `lookAhead`",
    ...one.byReference.map(
      (name) =>
        !(name in one.secretArguments) && `secretArguments: ${name} may be given by reference, so it is a secret`,
    ),
    ...secrets.map(
      (name) =>
        !one.byReference.includes(name) && `byReference: ${name} is a secret, so a program may give it by reference`,
    ),
    ...secrets.map(
      (name) => !(name in one.secretArguments) && `secretArguments: its declaration has ${name} as a secret`,
    ),
  ].filter((text) => text !== false);
  expect({ [`test/kinds/${kind}.ts`]: wrong }).toEqual({ [`test/kinds/${kind}.ts`]: [] });
});

test("each route that changes something is a mutation of a kind", () => {
  // Their handlers are not called.
  const routes = allRoutes({} as Service, {} as Site).filter(({ method }) => method !== "GET");
  const offered = routes
    .map(({ method, template }) => `${method} ${template}`)
    .filter((one) => !NOT_OURS.includes(one));
  const changed = EACH_CASE.flatMap(({ mutations }) => mutations.map(({ method, path }) => `${method} ${path}`));
  expect({
    "not in `mutations` of a file of test/kinds": offered.filter((route) => !changed.includes(route)),
    "no route of allRoutes in src/emulator/app.ts": changed.filter((route) => !offered.includes(route)),
  }).toEqual({
    "not in `mutations` of a file of test/kinds": [],
    "no route of allRoutes in src/emulator/app.ts": [],
  });
});

test.each(EACH_KIND)("%s: the fault campaign declares it", (kind, { campaign }) => {
  const rounds = ([1, 2] as const).map((round) => campaign.program({ round, project: "p", adopted: "ep-1" }));
  expect(rounds.filter((text) => !text.includes(`new svc.${kind}(`))).toEqual([]);
});

/** Without `conflicts` in its case, nothing else tests what a plan says of an existing object. */
const UNTESTED = EACH_KIND.filter(
  ([, { creations, deletion }]) => deletion !== undefined && !creations.some(({ conflicts }) => conflicts.length > 0),
);
test.each(UNTESTED)("%s: test/rules/mistakes.test.ts has what its plan says of an existing one", (kind) => {
  expect(readFileSync(join(ROOT, "test/rules/mistakes.test.ts"), "utf8")).toContain(`"${kind}"`);
});

test("each folder of src/resources has tests of its own", () => {
  const folders = readdirSync(join(ROOT, "src", "resources"), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && entry.name !== "shared" ? entry.name : [],
  );
  const hasTests = (name: string): boolean => {
    const folder = join(ROOT, "test", "resources", name);
    return existsSync(folder) && readdirSync(folder).some((file) => file.endsWith(".test.ts"));
  };
  const without = folders.filter((name) => !hasTests(name)).map((name) => `test/resources/${name}/*.test.ts`);
  expect({ "no tests": without }).toEqual({ "no tests": [] });
});
