/** What becomes of the children of an integration that is replaced, if the engine does not know that they depend on it. */
import { branch, world, type World } from "../support/rules/world";
import {
  changesIn,
  output,
  warningsOn,
  type Declared,
  type Outcome,
  type Program,
  type Stack,
} from "../support/rules/program";
import type { EmulatorOptions } from "../../src/emulator";
import type { Options } from "../support/rules/engine/declared";
import { urnOf } from "../support/rules/engine/urns";
import { KIND_CASES } from "../kinds";

const P = "prj-replaced";
const auth = (databaseName: string, options: Options = {}): Declared => ({
  kind: "AuthIntegration",
  name: "auth",
  options,
  inputs: { projectId: P, branchId: branch(P, 1), databaseName },
});
const site = (projectId: unknown, more: Partial<Declared> = {}): Declared => ({
  kind: "WhitelistDomain",
  name: "site",
  ...more,
  inputs: { projectId, domain: "https://a.example.com" },
});
/** After a taint, or with `--replace`: the engine does not ask the provider, which would say so. */
const DELETED_FIRST = { deleteBeforeReplace: true };
const literal = site(P);
/** What the transform returns has no property dependencies. */
const hidden = site(output("auth", "projectId"), { options: { transform: "domain" } });
const course = { seed: 1, preview: "none", parallel: 16, jitterMs: 0, looks: true } as const;
const WITH = /"site"\) is replaced, because its integration is replaced: it is deleted with it and created again/;
const LOST = /^"site" of this program is in AuthIntegration \S+ and is deleted with it, but was compared before/;

/** The integration is there before its children, which may not wait for it. */
async function started(before: Program, options: EmulatorOptions = {}): Promise<{ given: World; stack: Stack }> {
  const given = await world(options);
  await given.project(P);
  const stack = given.stack();
  for (const program of [before.slice(0, 1), before]) expect((await stack.up(program, course)).errors).toEqual([]);
  return { given, stack };
}
const saysReplaced = (outcome: Outcome): boolean =>
  warningsOn(outcome, "WhitelistDomain", "site").some((text) => WITH.test(text));
const lost = (outcome: Outcome): string[] =>
  warningsOn(outcome, "AuthIntegration", "auth").filter((text) => LOST.test(text));

const replacing: Declared["kind"][] = [
  "AuthKeys",
  "AuthUser",
  "AuthOwnershipTransfer",
  "EmailServer",
  "OAuthProvider",
  "Whitelist",
  "WhitelistDomain",
];
test.each(replacing)(
  "a %s that only depends on it by an option is replaced with its integration, once",
  async (kind) => {
    const { least } = KIND_CASES[kind];
    const inputs = least({ projectId: P, main: branch(P, 1), free: branch(P, 2), other: branch(P, 3) });
    const child: Declared = {
      ...{ kind, name: "child", options: { dependsOn: ["auth"] } },
      inputs: { ...inputs, projectId: P },
    };
    const { stack } = await started([auth("one"), child]);
    const program = [auth("two"), child];
    const plan = await stack.preview(program, course);
    expect(plan.errors).toEqual([]);
    expect(warningsOn(plan, kind, "child")).toEqual([expect.stringMatching(/because its integration is replaced/)]);
    const up = await stack.up(program, { ...course, preview: "both" });
    expect(up.errors).toEqual([]);
    expect(
      changesIn(up)
        .filter((step) => step.endsWith(" child"))
        .sort(),
    ).toEqual([expect.stringMatching(/^delete (replaced )?child$/), "plan replace child"]);
    expect(changesIn(await stack.preview(program, course))).toEqual([]);
    await stack.refresh(course);
    expect(changesIn(await stack.preview(program, course))).toEqual([]);
  },
);

test("one with a transform is replaced with an integration that was tainted", async () => {
  const { given, stack } = await started([auth("one"), hidden]);
  stack.taint(urnOf("AuthIntegration", "auth"));
  const up = await stack.up([auth("one", DELETED_FIRST), hidden], { ...course, preview: "both" });
  expect(up.errors).toEqual([]);
  expect(saysReplaced(up)).toBe(true);
  expect(lost(up)).toEqual([]);
  expect(await given.domains(P)).toEqual(["https://a.example.com"]);
});

test("one that the engine knows to depend on it is replaced as ever", async () => {
  const program = (database: string): Program => [auth(database), site(output("auth", "projectId"))];
  const { given, stack } = await started(program("one"));
  const up = await stack.up(program("two"), { ...course, preview: "both" });
  expect(up.errors).toEqual([]);
  expect([saysReplaced(up), lost(up)]).toEqual([false, []]);
  expect(changesIn(up).filter((step) => step.endsWith(" site"))).toEqual(["delete site", "plan replace site"]);
  expect(await given.domains(P)).toEqual(["https://a.example.com"]);
});

test.each(["both", "none"] as const)(
  "one in an integration that may be refused on its new branch stays with it (a plan before: %s)",
  async (preview) => {
    const inIt = site(output("auth", "projectId"));
    // Nobody can see which branch is the default one.
    const { given, stack } = await started([auth("one"), inIt], { seedOnly: true });
    const before = await given.holdings(P);
    await given.forgetRequests();
    const elsewhere = { ...auth("one"), inputs: { ...auth("one").inputs, branchId: branch(P, 2) } };
    const { errors } = await stack.up([elsewhere, inIt], { ...course, preview });
    expect(errors.join()).toMatch(
      /Could not delete WhitelistDomain .*: nothing is deleted, because its integration might not come back: it is not known/,
    );
    expect(await given.mutations()).toEqual([]);
    expect(await given.holdings(P)).toEqual(before);
    expect(changesIn(await stack.preview([auth("one"), inIt], course))).toEqual([]);
  },
);

test("what is in one integration asks once whether that may be replaced, and the integration asks again", async () => {
  const domains = Array.from({ length: 6 }, (_, n): Declared => ({
    ...{ kind: "WhitelistDomain", name: `site${n}` },
    inputs: { projectId: output("auth", "projectId"), domain: `https://a${n}.example.com` },
  }));
  const { given, stack } = await started([auth("one"), ...domains]);
  await given.forgetRequests();
  expect((await stack.up([auth("two"), ...domains], course)).errors).toEqual([]);
  expect(await given.domains(P)).toHaveLength(domains.length);
  const requests = await given.requests();
  expect(requests.filter((line) => line === `GET /projects/${P}/branches`)).toHaveLength(2);
});

test("one whose integration leaves the project is not deleted to be created in the old one", async () => {
  const { given, stack } = await started([auth("one"), literal]);
  await given.project("prj-elsewhere");
  const elsewhere = {
    ...auth("one"),
    inputs: { projectId: "prj-elsewhere", branchId: branch("prj-elsewhere", 1), databaseName: "one" },
  };
  const words = /the integration of project prj-replaced is replaced in this run/;
  expect((await stack.preview([elsewhere, literal], course)).errors.join()).toMatch(words);
  const { errors } = await stack.up([elsewhere, literal], course);
  expect(errors.join()).toMatch(words);
  expect(await given.domains(P)).toEqual(["https://a.example.com"]);
  expect((await stack.up([elsewhere, site(output("auth", "projectId"))], course)).errors).toEqual([]);
  expect(await given.domains(P)).toEqual([]);
  expect(await given.domains("prj-elsewhere")).toEqual(["https://a.example.com"]);
});

describe("one that names the project itself", () => {
  /** As the messages advise. */
  const passed = [auth("two"), site(output("auth", "projectId"))];

  test("compared before the integration: the plan and the update say that it is lost", async () => {
    const { given, stack } = await started([auth("one"), literal]);
    const program = [literal, auth("two")];
    expect(lost(await stack.preview(program, course))).toHaveLength(1);
    const up = await stack.up(program, { ...course, preview: "both" });
    // The update may compare them in the other order, as below.
    if (saysReplaced(up))
      return expect(up.errors.filter((error) => !/is replaced in this run/.test(error))).toEqual([]);
    expect(up.errors).toEqual([]);
    expect(lost(up)).toHaveLength(1);
    await stack.refresh(course);
    expect((await stack.up(program, course)).errors).toEqual([]);
    expect(await given.domains(P)).toEqual(["https://a.example.com"]);
  });

  test("the integration is tainted: the update says that it is lost", async () => {
    const { stack } = await started([auth("one"), literal]);
    stack.taint(urnOf("AuthIntegration", "auth"));
    expect(lost(await stack.up([literal, auth("one", DELETED_FIRST)], course))).toHaveLength(1);
  });

  test("the integration is no longer declared: the update says that it is lost", async () => {
    const { stack } = await started([auth("one"), literal]);
    expect(lost(await stack.up([literal], course))).toHaveLength(1);
  });

  test.each([1, 2, 3, 4])("compared after it: it is replaced, or the update fails (%i)", async (seed) => {
    const { given, stack } = await started([auth("one"), literal]);
    const program = [auth("two"), literal];
    expect(saysReplaced(await stack.preview(program, course))).toBe(true);
    const { errors } = await stack.up(program, { ...course, jitterMs: 5, seed });
    expect(errors.join()).toMatch(
      /^$|is replaced in this run, and what is created in the old one|no auth integration yet/,
    );
    if (errors.length > 0) expect((await stack.up(passed, course)).errors).toEqual([]);
    expect(await given.domains(P)).toEqual(["https://a.example.com"]);
  });

  test("and is new: it is not created in the one that is replaced", async () => {
    const { given, stack } = await started([auth("one")]);
    const { errors } = await stack.up([auth("two"), literal], course);
    if (errors.length > 0) expect((await stack.up(passed, course)).errors).toEqual([]);
    expect(await given.domains(P)).toEqual(["https://a.example.com"]);
  });
});
