import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { CANARY } from "../support/harness";
import { Stack } from "../support/Stack";

/* The classes of the entry pulumi-svc/native, with the real engine: a program changes its import, and nothing else. */

const NATIVE = "pulumi-svc/native";
const DYNAMIC = "pulumi-svc";

const declared = (kind: Kind, more: object = {}, options = "{}"): string =>
  `new svc.${kind}("${kind}", ${JSON.stringify({ ...wholeIn(KIND_CASES[kind], DEMO), ...more })}, ${options});`;
const compute = (name: string, args = "", options = "{}"): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${args} }, ${options});`;

/** The plan and the run after a change of the import alone: nothing of ours is created, replaced, deleted or sent. */
async function moves(stack: Stack, program: string, entry: string): Promise<void> {
  const before = await stack.resources();
  await stack.service.clearRequests();
  stack.program(program, entry);
  const plan = await stack.preview("--json");
  expect(plan).toMatchObject({ code: 0 });
  const { steps } = JSON.parse(plan.stdout) as { steps: { op: string; urn: string }[] };
  const changing = steps.filter(({ op }) => !["same", "update"].includes(op)).map(({ op, urn }) => `${op} ${urn}`);
  // On the way back an explicit Provider is another one.
  expect(changing.filter((step) => entry === NATIVE || !step.includes("::pulumi:providers:"))).toEqual([]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  const after = await stack.resources();
  expect(after.map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
  const begin = entry === NATIVE ? "svc:index:" : "pulumi-nodejs:dynamic/svc:";
  expect(after.filter(({ type }) => !type.startsWith(begin))).toEqual([]);
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });
}

test("every kind, both components and an explicit Provider move to the other protocol and back", async () => {
  const inIntegration = (kind: Kind, more: object = {}): string => declared(kind, more, "{ dependsOn: auth }");
  const program = [
    `const auth = ${declared("AuthIntegration")}`,
    declared("ComputeEndpoint"),
    inIntegration("AuthKeys"),
    inIntegration("AuthOwnershipTransfer"),
    inIntegration("AuthUser"),
    inIntegration("EmailServer", { password: `${CANARY}-password` }),
    inIntegration("OAuthProvider", { clientSecret: `${CANARY}-client` }),
    inIntegration("WhitelistDomain"),
    'const other = new svc.ProjectAuth("other", { projectId: "prj-2", redirectDomains: ["https://a.example.com"], exclusiveDomains: true, oauth: { google: "shared" } });',
    'const provider = new svc.Provider("account", { maxSizeCu: 8 });',
    'const group = new svc.ComputeGroup("group", { projectId: "prj-demo", branchId: "br-test", primary: { size: 1 }, replicas: 1 }, { providers: [provider] });',
    "exports.hosts = group.hosts;",
  ].join("\n");
  const stack = await Stack.create({ native: true, program, emulator: { projects: ["prj-demo", "prj-2"] } });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(new Set((await stack.resources()).map(({ type }) => type)).size).toBe(KINDS.length);
  const { hosts } = await stack.outputs();

  await moves(stack, program, NATIVE);
  expect((await stack.outputs())["hosts"]).toEqual(hosts);
  await moves(stack, program, DYNAMIC);
  expect((await stack.outputs())["hosts"]).toEqual(hosts);
  await moves(stack, program, NATIVE);
  expect(await stack.leaks([CANARY])).toEqual([]);
  await stack.end(before);
});

interface Names {
  readonly team: string;
  readonly user: string;
  /** Its options. */
  readonly api: string;
}

test("in an integration, beside a rename with an alias, in a component of the program and moved out of an integration", async () => {
  const program = ({ team, user, api }: Names, former: (name: string) => string): string =>
    [
      'class Team extends pulumi.ComponentResource { constructor(name, opts) { super("my:Team", name, {}, opts); } }',
      'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });',
      `const team = new Team("${team}", { parent: auth, aliases: ${former("team")} });`,
      `new svc.WhitelistDomain("${team}-site", { projectId: auth.projectId, domain: "https://a.example.com" }, { parent: team });`,
      `new svc.AuthUser("${user}", { projectId: auth.projectId, email: "ann@example.com" }, { parent: auth, aliases: ${former("ann")} });`,
      compute("api", "", api),
    ].join("\n");
  const first = { team: "team", user: "ann", api: "{ parent: auth }" };
  const second = { team: "crew", user: "anna", api: "{ aliases: [{ parent: auth }] }" };
  const urn = "urn:pulumi:dev::proj::svc:index:ComputeEndpoint::api";
  const third = { ...first, api: `{ parent: auth, aliases: ["${urn}"] }` };

  const stack = await Stack.create({ native: true, program: program(first, () => "[]") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await moves(
    stack,
    program(second, (name) => `[{ name: "${name}" }]`),
    NATIVE,
  );
  await moves(
    stack,
    program(third, (name) => `[pulumi.output({ name: "${name === "team" ? "crew" : "anna"}" })]`),
    DYNAMIC,
  );
  await stack.end(before);
});

test("after a run that failed once an integration had moved, what is in it moves with the next one", async () => {
  const program = (surplus: string): string =>
    [
      'class Team extends pulumi.ComponentResource { constructor(name, opts) { super("my:Team", name, {}, opts); } }',
      'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });',
      'const team = new Team("team", { parent: auth });',
      ...["auth", "team"].map(
        (parent) =>
          `new svc.WhitelistDomain("of-${parent}", { projectId: auth.projectId, domain: "https://${parent}.example.com"${surplus} }, { parent: ${parent} });`,
      ),
    ].join("\n");
  const stack = await Stack.create({ native: true, program: program("") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program(", comment: 1"), NATIVE);
  expect((await stack.up()).code).not.toBe(0);
  expect((await stack.resources()).map(({ urn }) => urn.replace(/^.*?::proj::|::[^:]*$/g, "")).toSorted()).toEqual([
    "svc:index:AuthIntegration",
    "svc:index:AuthIntegration$my:Team$pulumi-nodejs:dynamic/svc:WhitelistDomain",
    "svc:index:AuthIntegration$pulumi-nodejs:dynamic/svc:WhitelistDomain",
  ]);
  await moves(stack, program(""), NATIVE);
  await stack.end(before);
});

test("after a run that failed half-way, what an explicit Provider has not moved yet is read and deleted", async () => {
  const program = (surplus: string): string =>
    [
      'const provider = new svc.Provider("account", { maxSizeCu: 8 });',
      'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });',
      `const site = new svc.WhitelistDomain("site", { projectId: auth.projectId, domain: "https://a.example.com"${surplus} });`,
      compute("api", "", "{ provider, dependsOn: site }"),
    ].join("\n");
  for (const [from, to] of [
    [NATIVE, DYNAMIC],
    [DYNAMIC, NATIVE],
  ] as const) {
    const stack = await Stack.create({ native: true, program: "" });
    const before = await stack.service.state();
    stack.program(program(""), from);
    expect(await stack.up()).toMatchObject({ code: 0 });
    const moved = (await stack.resources()).find(({ urn }) => urn.endsWith("::api"));
    stack.program(program(", comment: 1"), to);
    expect((await stack.up("--skip-preview")).code).not.toBe(0);
    expect((await stack.resources()).find(({ urn }) => urn.endsWith("::api"))?.type).toBe(moved?.type);
    expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });
    await stack.end(before);
  }
});

test("with options that look at changes, and with references", async () => {
  const program = [
    compute("every", "", '{ replaceOnChanges: ["*"], customTimeouts: { create: "3m", update: "3m" } }'),
    'const settings = { pgSettings: { "app.token": svc.fromEnv("APP_TOKEN") } };',
    'const options = { replaceOnChanges: ["settings"], ignoreChanges: ["size"] };',
    'new svc.ComputeEndpoint("some", { projectId: "prj-demo", branchId: "br-test", size: 1, settings }, options);',
  ].join("\n");
  const stack = await Stack.create({ native: true, program, cheapDigests: true });
  stack.env["APP_TOKEN"] = CANARY;
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await moves(stack, program, NATIVE);
  await moves(stack, program, DYNAMIC);
  expect(await stack.leaks([CANARY])).toEqual([]);
  await stack.end(before);
});

test("a look-up, both imports in one program, and the other order", async () => {
  const both = [
    'const plain = require("pulumi-svc");',
    `const api = ${compute("api").replace("svc.", "plain.")}`,
    'exports.host = svc.ComputeEndpoint.get("looked", api.id).host;',
    "exports.same = plain.ComputeEndpoint === svc.ComputeEndpoint;",
  ].join("\n");
  const stack = await Stack.create({ native: true, program: both });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.service.clearRequests();
  stack.program(both, NATIVE);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resources()).map(({ type }) => type)).toEqual(Array(2).fill("svc:index:ComputeEndpoint"));
  expect(await stack.outputs()).toMatchObject({ same: true, host: expect.stringMatching(/^ep-/) });
  expect(await stack.service.mutations()).toEqual([]);
  stack.program(`${compute("api")}\nrequire("pulumi-svc/native");`);
  const late = await stack.preview();
  expect(late.code).not.toBe(0);
  expect(late.text).toMatch(/pulumi-svc\/native: this program has already declared resources by "pulumi-svc"/);
  stack.program(both, NATIVE);
  await stack.finish(before);
});

test("the option import takes a compute over, and an argument that it does not have is refused", async () => {
  const stack = await Stack.create({ native: true, program: "" });
  const [found] = await stack.service.endpoints();
  const id = `prj-demo/${String(found?.["id"])}`;
  const main = (more: string): string =>
    `new svc.ComputeEndpoint("main", { projectId: "prj-demo", branchId: "br-main" ${more} }, { import: "${id}" });`;
  await stack.service.clearRequests();
  stack.program(main(', sise: "canary-size"'), NATIVE);
  const refused = await stack.preview("--debug");
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/sise: unknown property\. Did you mean "size"\?/);
  expect(refused.text).not.toContain("canary-size");
  stack.program(main(""), NATIVE);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("main")).id).toBe(id);
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
});
