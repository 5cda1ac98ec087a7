/** Rule 4 with `aliases`: renamed resources, beside a new resource with the old name. */
import { EACH_CHILD } from "../kinds";
import { output, type Kind, type Program } from "../support/rules/program";
import { branch, expectClean, expectDone, placeIn, world } from "../support/rules/world";

const site = (letter: string): string => `https://${letter}.example.com`;

const integration = (databaseName: string) => ({
  kind: "AuthIntegration" as const,
  name: "auth",
  inputs: { projectId: "prj-1", branchId: branch("prj-1", 1), databaseName },
});

/** Includes the objects that each integration has by default. */
const CHILDREN = EACH_CHILD.flatMap(([kind, { least, adopts, takeovers }]): (readonly [Kind, object])[] => [
  [kind, { ...least(placeIn("prj-1")), ...adopts }],
  ...takeovers.map(({ from }): readonly [Kind, object] => [kind, from(placeIn("prj-1"))]),
]);

/** A child under its current and former names, in an integration that is replaced because of another database. */
const childIn =
  (kind: Kind, inputs: object) =>
  (name: string, databaseName: string, aliases: string[]): Program => [
    integration(databaseName),
    { kind, name, aliases, inputs: { ...inputs, projectId: output("auth", "projectId") } },
  ];

test.each(CHILDREN)(
  "%s: a child that was renamed with an alias comes back when its integration is replaced",
  async (kind, inputs) => {
    const given = await world();
    await given.project("prj-1");
    const stack = given.stack();
    const program = childIn(kind, inputs);
    expectDone(await stack.up(program("old", "one", [])));
    expectDone(await stack.up(program("new", "one", ["old"])));
    expectDone(await stack.up(program("new", "two", ["old"])));
    await expectClean(stack, program("new", "two", ["old"]));
  },
);

test.each(CHILDREN)("%s: renamed with an alias in the run that replaces its integration", async (kind, inputs) => {
  const given = await world();
  await given.project("prj-1");
  const stack = given.stack();
  const program = childIn(kind, inputs);
  expectDone(await stack.up(program("old", "one", [])));
  expectDone(await stack.up(program("new", "two", ["old"])));
  await expectClean(stack, program("new", "two", ["old"]));
});

test("names that are swapped by aliases, then one of them is given to another", async () => {
  const given = await world();
  await given.project("prj-1", { integration: true });
  const stack = given.stack();
  const one = (name: string, letter: string, aliases: string[] = []) => ({
    kind: "WhitelistDomain" as const,
    name,
    aliases,
    inputs: { projectId: "prj-1", domain: site(letter), adopt: true },
  });
  expectDone(await stack.up([one("x", "a"), one("y", "b")]));
  // x leaves its name to another.
  const moved = [one("z", "a", ["x"]), one("y", "b")];
  expectDone(await stack.up(moved));
  const three = [one("x", "c"), ...moved];
  expectDone(await stack.up(three));
  await expectClean(stack, three);
  // The one that bears the old URN goes, beside a new one that declares it.
  const last = [one("x", "c"), one("y", "b"), one("w", "a")];
  expectDone(await stack.up(last));
  expect(await given.domains("prj-1")).toEqual([site("a"), site("b"), site("c")]);
  await expectClean(stack, last);
});

test("an object that two entries of the state hold is kept, whatever URN an alias has left there", async () => {
  const given = await world();
  await given.project("prj-1", { integration: true });
  const stack = given.stack();
  const one = (name: string, letter: string, aliases: string[] = []) => ({
    kind: "WhitelistDomain" as const,
    name,
    aliases,
    inputs: { projectId: "prj-1", domain: site(letter), adopt: true },
  });
  expectDone(await stack.up([one("x", "a")]));
  expectDone(await stack.up([one("z", "a", ["x"])]));
  expectDone(await stack.up([one("z", "a", ["x"]), one("x", "c")]));
  // A second entry for the object of z, as an interrupted rename without an alias leaves it.
  const other = given.stack();
  expectDone(await other.up([one("twin", "a")]));
  stack.state = [...stack.state, other.entry("twin")];
  expectDone(await stack.up([one("z", "a", ["x"]), one("x", "c")]));
  expect(await given.domains("prj-1")).toEqual([site("a"), site("c")]);
});
