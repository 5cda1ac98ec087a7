/** Two stacks on one project: each row of the table in docs/design/rules.md, "Two stacks on one project". */
import { EACH_KIND } from "../kinds";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { type Declared, output, type Program, type Stack } from "../support/rules/program";
import { AUTH_PROVIDER, branch, placeIn, world, type Json, type World } from "../support/rules/world";

const ID = "prj-two";
const SITE = "https://app.example.com";
const inProject = { projectId: ID };

const primary: Declared = {
  kind: "ComputeEndpoint",
  name: "api",
  inputs: { ...inProject, branchId: branch(ID, 2), size: 1 },
};
const domain: Declared = { kind: "WhitelistDomain", name: "site", inputs: { ...inProject, domain: SITE } };
const integration: Declared = {
  kind: "AuthIntegration",
  name: "auth",
  inputs: { ...inProject, branchId: branch(ID, 1) },
};
const oauth: Declared = { kind: "OAuthProvider", name: "oauth", inputs: { ...inProject, providerId: "microsoft" } };
const mail = (host: string): Declared => ({
  kind: "EmailServer",
  name: "mail",
  inputs: { ...EMAIL_STANDARD, ...inProject, host },
});
const adopting = ({ inputs, ...declared }: Declared): Declared => ({ ...declared, inputs: { ...inputs, adopt: true } });

interface Two {
  given: World;
  one: Stack;
  other: Stack;
}

async function two(hasIntegration: boolean): Promise<Two> {
  const given = await world();
  await given.project(ID, { integration: hasIntegration });
  return { given, one: given.stack(), other: given.stack() };
}

async function done(work: Promise<{ errors: readonly string[] }>): Promise<void> {
  expect((await work).errors).toEqual([]);
}

const refreshedUp = (stack: Stack, program: Program) =>
  stack.up(program, { seed: 1, preview: "none", refreshFirst: () => Promise.resolve() });

const hostOf = async (given: World): Promise<unknown> => ((await given.holdings(ID))["email_server"] as Json)["host"];

/** Kinds whose objects are adopted only if the program says so. */
const ADOPTED = EACH_KIND.filter(([, { adopts }]) => adopts?.["adopt"] === true);
test.each(ADOPTED)(
  "both create the same %s: the second fails with a message, and its destroy leaves that of the first alone",
  async (kind, { least, look, inIntegration }) => {
    const declared: Declared = { kind, name: "thing", inputs: least(placeIn(ID)) };
    const { given, one, other } = await two(inIntegration);
    await done(one.up([declared]));
    const before = look(await given.holdings(ID));
    const { errors } = await other.up([declared]);
    expect(errors.join()).toMatch(/adopt/);
    expect(other.state).toEqual([]);
    await done(other.destroy());
    expect(look(await given.holdings(ID))).toEqual(before);
  },
);

test("one adopts what the other manages: both states hold it, and who destroys first deletes it for both", async () => {
  const { given, one, other } = await two(true);
  await done(one.up([domain, primary]));
  await done(other.up([adopting(domain), adopting(primary)]));
  expect(other.state.map(({ id }) => id).sort()).toEqual(one.state.map(({ id }) => id).sort());
  await done(other.destroy());
  expect([await given.domains(ID), await given.computes(ID)]).toEqual([[], []]);
  await done(one.refresh());
  expect(one.state).toEqual([]);
});

test("one deletes the integration that the children of the other live in: they go with it, and the other sends nothing for them", async () => {
  const { given, one, other } = await two(false);
  await done(one.up([integration]));
  await done(other.up([domain, oauth, mail("smtp.example.com")]));
  await done(one.destroy());
  expect(await given.holdings(ID)).toMatchObject({ integrations: [], domains: [] });
  await given.forgetRequests();
  await done(other.destroy());
  expect(await given.mutations()).toEqual([]);
  expect(other.state).toEqual([]);
});

test("one replaces the integration: the other neither changes nor deletes in the new one what it had in the old one", async () => {
  const { given, one, other } = await two(false);
  await done(one.up([integration]));
  await done(other.up([domain, oauth, mail("smtp.example.com")]));
  const moved: Declared = { ...integration, inputs: { ...integration.inputs, databaseName: "elsewhere" } };
  const mine = { ...inProject, projectId: output("auth", "projectId") };
  const site: Declared = { ...domain, inputs: { ...domain.inputs, ...mine } };
  const theirs = mail("theirs.example.com");
  await done(one.up([moved, site, { ...theirs, inputs: { ...theirs.inputs, ...mine } }]));
  const before = await given.holdings(ID);
  const { errors } = await other.up([domain, oauth, mail("smtp.new.example.com")]);
  expect(errors.join()).toMatch(/another one has replaced it/);
  await done(other.destroy());
  const { integrations, domains, email_server } = await given.holdings(ID);
  expect({ integrations, domains, email_server }).toEqual({
    integrations: before["integrations"],
    domains: before["domains"],
    email_server: before["email_server"],
  });
});

test("Whitelist in one and WhitelistDomain in the other: a refresh of the first shows the domain, and its next up removes it", async () => {
  const { given, one, other } = await two(true);
  const list: Program = [
    { kind: "Whitelist", name: "list", inputs: { ...inProject, domains: ["https://list.example.com"] } },
  ];
  await done(one.up(list));
  await done(other.up([domain]));
  // Without a refresh it does not see the domain.
  await done(one.up(list));
  expect(await given.domains(ID)).toEqual([SITE, "https://list.example.com"]);
  await done(refreshedUp(one, list));
  expect(await given.domains(ID)).toEqual(["https://list.example.com"]);
  // By declaration; the other one creates it again, as long as both exist.
  await done(refreshedUp(other, [domain]));
  expect(await given.domains(ID)).toEqual([SITE, "https://list.example.com"]);
});

test("EmailServer in both: the last up counts, a refresh shows it to the other, and a destroy ends it for both", async () => {
  const { given, one, other } = await two(true);
  const [first, second] = [mail("one.example.com"), mail("two.example.com")];
  await done(one.up([first]));
  await done(other.up([second]));
  expect(await hostOf(given)).toBe("two.example.com");
  await done(refreshedUp(one, [first]));
  expect(await hostOf(given)).toBe("one.example.com");
  await done(other.destroy());
  expect((await given.holdings(ID))["email_server"]).toMatchObject({ type: "shared" });
});

test("one destroys the integration while the other creates in it: both end, and nothing is left that no state holds", async () => {
  const { given, one, other } = await two(false);
  await done(one.up([integration]));
  const [destroyed, made] = await Promise.all([one.destroy(), other.up([domain, oauth, mail("smtp.example.com")])]);
  expect(destroyed.errors).toEqual([]);
  for (const error of made.errors) expect(error).toMatch(/does not exist|no auth integration|not found/i);
  expect(await given.holdings(ID)).toMatchObject({ integrations: [], domains: [] });
  await done(other.refresh());
  expect(other.state).toEqual([]);
  // The name is free for whoever comes next.
  const sent = { project_id: ID, auth_provider: AUTH_PROVIDER, branch_id: branch(ID, 1) };
  expect((await given.ask("POST", "/projects/auth/create", sent)).status).toBe(201);
});
