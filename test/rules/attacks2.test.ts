/** Attacks on rules 4 and 5, in process: what a program may ordinarily do is neither refused nor does it harm. */
import { changesIn, output, Stack, UNKNOWN, warningsOn, type Kind, type Program } from "../support/rules/program";
import { branch, eachSeed, expectClean, expectDone, world } from "../support/rules/world";

const SEEDS = 8;
const site = (letter: string): string => `https://${letter}.example.com`;

test("a Whitelist whose domains are not known yet is planned as an update", async () => {
  const given = await world();
  await given.project("prj-1", { integration: true });
  const stack = given.stack();
  const program = (domains: unknown): Program => [
    { kind: "Whitelist", name: "list", inputs: { projectId: "prj-1", domains } },
  ];
  expectDone(await stack.up(program([site("a")])));
  for (const domains of [UNKNOWN, [UNKNOWN], [site("a"), UNKNOWN]]) {
    const plan = await stack.preview(program(domains));
    expectDone(plan);
    expect(changesIn(plan)).toEqual(["plan update list"]);
  }
});

describe("users that are declared by index", () => {
  test.each([
    ["one put in front", "ab", "nab"],
    ["two that change places", "ab", "ba"],
    ["a rotation", "abc", "bca"],
  ])("%s: each of the declared addresses has a user (%s to %s)", async (_, from, to) => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const projectId = `prj-s${seed}`;
      await given.project(projectId, { integration: true });
      const stack = given.stack();
      const program = (letters: string): Program =>
        [...letters].map((letter, i) => ({
          kind: "AuthUser",
          name: `r${i}`,
          inputs: { projectId, email: `${letter}@example.com` },
        }));
      expectDone(await stack.up(program(from), { seed: 0 }));
      expectDone(await stack.up(program(to), { seed }));
      const users = (await given.holdings(projectId))["users"] as { email: string }[];
      expect(users.map(({ email }) => email).sort()).toEqual([...to].map((letter) => `${letter}@example.com`).sort());
      await expectClean(stack, program(to));
    });
  });
});

const integration = (databaseName: string) => ({
  kind: "AuthIntegration" as const,
  name: "auth",
  inputs: { projectId: "prj-1", branchId: branch("prj-1", 1), databaseName },
});

const CHILDREN: readonly (readonly [Kind, object])[] = [
  ["OAuthProvider", { providerId: "google", adopt: true }],
  ["WhitelistDomain", { domain: site("a"), adopt: true }],
  ["Whitelist", { domains: [site("a"), site("b")] }],
  ["EmailServer", { type: "shared" }],
  ["AuthUser", { email: "a@example.com" }],
];

test.each(CHILDREN)(
  "%s: a child that was renamed with an alias comes back when its integration is replaced",
  async (kind, inputs) => {
    const given = await world();
    await given.project("prj-1");
    const stack = given.stack();
    const program = (name: string, databaseName: string, aliases: string[]): Program => [
      integration(databaseName),
      { kind, name, aliases, inputs: { projectId: output("auth", "projectId"), ...inputs } },
    ];
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
  const program = (name: string, databaseName: string, aliases: string[]): Program => [
    integration(databaseName),
    { kind, name, aliases, inputs: { projectId: output("auth", "projectId"), ...inputs } },
  ];
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

test("a replacement that takes over a compute by its id says so in the plan", async () => {
  const given = await world();
  await given.project("prj-1");
  await given.project("prj-2", { compute: true });
  const stack = given.stack();
  const program = (projectId: string, n: number, more: object = {}): Program => [
    { kind: "ComputeEndpoint", name: "c", inputs: { projectId, branchId: branch(projectId, n), ...more } },
  ];
  expectDone(await stack.up(program("prj-1", 2)));
  const [theirs] = await given.computes("prj-2");
  const plan = await stack.preview(program("prj-2", 1, { adopt: String(theirs?.["id"]) }));
  expectDone(plan);
  expect(warningsOn(plan, "ComputeEndpoint", "c").join()).toMatch(/is replaced.*takes over/);
});

describe("a wrong key fails every resource of a refresh, and what to do about it is said once", () => {
  const inAuth = { projectId: "prj-key" };
  const domain = { kind: "WhitelistDomain" as const, inputs: { ...inAuth, domain: "https://a.example.com" } };
  const provider = { kind: "OAuthProvider" as const, inputs: { ...inAuth, providerId: "microsoft" } };
  const compute = { kind: "ComputeEndpoint" as const, inputs: { ...inAuth, branchId: branch("prj-key", 1) } };

  test.each([
    ["that share a list", [domain, provider]],
    ["that ask for different lists", [domain, compute]],
  ])("for resources %s", async (_which, resources) => {
    const given = await world();
    await given.project("prj-key", { integration: true });
    const stack = given.stack();
    expectDone(await stack.up(resources.map((one, i) => ({ ...one, name: `r${i}` }))));
    const refused = new Stack({ baseUrl: given.baseUrl, apiKey: "another-key" });
    refused.state = stack.state;
    // At the same time: one that has failed keeps the engine from beginning others.
    const { errors } = await refused.refresh({ seed: 1, parallel: 2, jitterMs: 0 });
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toContain("the API key is missing or wrong");
    expect(errors.filter((error) => error.includes("--run-program"))).toHaveLength(1);
  });
});
