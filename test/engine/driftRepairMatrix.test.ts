/**
 * A stack with every position of a drifted resource and every kind of drift: either it is repaired and nothing else is
 * changed, or the repair is refused with our own message.
 */
import { sealed } from "../support/backend";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";
import { SECRET, SIGNATURE } from "../../src/contract/engineSecrets";

const CANARY = "canary-of-a-dependant";
const COLUMNS = ["changed", "deleted", "replaced"] as const;
/** Each row has a compute in each column, with its own branch. */
const ROWS = ["alone", "depended", "foreign", "group", "protected", "replicas", "two", "looked", "below"] as const;
const PROJECT = "prj-matrix";

const PROGRAM = `
class Theirs extends pulumi.dynamic.Resource {
  constructor(name, props, opts) {
    const failing = async () => { throw new Error("theirs was asked"); };
    const provider = { create: async (inputs) => ({ id: "1", outs: inputs }), read: failing, update: failing, delete: failing };
    super(provider, name, props, opts);
  }
}
class Outer extends pulumi.ComponentResource {
  constructor(name, opts) { super("their:outer:Outer", name, {}, opts); this.registerOutputs({ of: pulumi.secret("${CANARY}") }); }
}
const auth = new svc.AuthIntegration("auth", { projectId: "${PROJECT}" });
const domain = (name, host, options) =>
  new svc.WhitelistDomain(name, { projectId: auth.projectId, domain: host ?? "https://" + name + ".example.com" }, options);
const [first, second] = ["first", "second"].map((name) => new svc.Provider(name));
const anchor = new svc.ComputeEndpoint("anchor", { projectId: "${PROJECT}", branchId: "br-anchor", name: "anchor" });

const before = [];
for (const column of ${JSON.stringify(COLUMNS)}) {
  const args = (row) => ({ projectId: "${PROJECT}", branchId: "br-" + row + "-" + column, size: { min: 0.5, max: 2 }, type: "read_write" });
  const compute = (row, options) => new svc.ComputeEndpoint(row + "-" + column, args(row), options);
  const grouped = (row, replicas, options) => {
    const { projectId, branchId, type, ...primary } = args(row);
    return new svc.ComputeGroup(row + "-" + column, { projectId, branchId, primary, replicas }, options);
  };
  compute("alone");

  const depended = compute("depended");
  domain("after-" + column, undefined, { dependsOn: [depended] });
  const given = domain("given-" + column, pulumi.interpolate\`https://\${depended.host}\`);
  domain("further-" + column, undefined, { dependsOn: [given] });
  domain("child-" + column, undefined, { parent: depended, protect: true });
  domain("with-" + column, undefined, { deletedWith: depended, retainOnDelete: true, ignoreChanges: ["domain"] });
  before.push(depended);

  const foreign = compute("foreign");
  const told = new Theirs("told-" + column, { host: foreign.host, secret: pulumi.secret("${CANARY}") });
  new Theirs("untold-" + column, { value: 1 }, { dependsOn: [told, foreign] });
  svc.ComputeEndpoint.get("seen-" + column, foreign.id);
  new pulumi.StackReference("reference-" + column, { name: "organization/proj/other" }, { dependsOn: [foreign] });

  grouped("group", 0, { parent: new Outer("inner-" + column, { parent: new Outer("outer-" + column) }) });
  compute("protected", { protect: true });
  grouped("replicas", 2);

  const two = compute("two", { provider: first });
  domain("crossing-" + column, pulumi.interpolate\`https://two.\${two.host}\`, { provider: second });

  const seen = svc.ComputeEndpoint.get("parent-" + column, anchor.id);
  compute("looked", { parent: seen });
  compute("below", { parent: new Theirs("above-" + column, { value: 1 }), aliases: [{ name: "former-" + column }] });

  const integration = new svc.AuthIntegration("auth-" + column, { projectId: "prj-" + column });
  const inIntegration = { projectId: integration.projectId };
  const own = { clientId: "own-id", clientSecret: pulumi.secret("${CANARY}") };
  const provider = new svc.OAuthProvider("oauth-" + column, { ...inIntegration, providerId: "google", adopt: true, ...(column === "changed" && own) });
  new svc.WhitelistDomain("sibling-" + column, { ...inIntegration, domain: "https://sibling.example.com" }, { dependsOn: [provider] });
}
domain("provided", undefined, { provider: new svc.Provider("late", {}, { dependsOn: before }) });
exports.secret = pulumi.secret("${CANARY}");
exports.hosts = pulumi.output(anchor.host);`;

interface Entry {
  readonly urn: string;
  readonly id: string;
  readonly [key: string]: unknown;
}

/**
 * The entries that a program in another language or with another package leaves in a state. Neither plugin is
 * installed.
 */
function foreignEntries(resources: readonly Entry[]): Entry[] {
  const stack = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
  const secret = { [SIGNATURE]: SECRET, ciphertext: sealed(JSON.stringify(CANARY)) };
  const entry = (type: string, name: string, rest: object): Entry => ({
    urn: `urn:pulumi:dev::proj::${type}::${name}`,
    ...{ custom: true, id: `id-of-${name}`, type, inputs: {}, outputs: {}, parent: stack },
    ...rest,
  });
  const referenceTo = ({ urn, id }: Entry): string => `${urn}::${id}`;
  const command = (version: string) => {
    // An older engine has left no notes of its own.
    const of = {
      inputs: { version, ...(version === "1.0.0" && { __internal: {} }) },
      outputs: { version },
      id: `command-${version}`,
    };
    return entry("pulumi:providers:command", `default_${version.replaceAll(".", "_")}`, of);
  };
  const [older, newer] = [command("0.9.0"), command("1.0.0")];
  const ofColumns = COLUMNS.flatMap((column) => {
    const target = resources.find(({ urn }) => urn.endsWith(`::foreign-${column}`));
    const urn = target?.urn ?? "";
    const outputsOf = { dependencies: [urn], propertyDependencies: { create: [urn], environment: [urn] } };
    const inputs = { create: "host.test", environment: { PGPASSWORD: secret } };
    const run = entry("command:local:Command", `run-${column}`, {
      ...{ inputs, outputs: { ...inputs, stdout: secret }, provider: referenceTo(older), ...outputsOf },
    });
    const config = { version: "3.1.0", host: "host.test", password: secret };
    const postgres = entry("pulumi:providers:postgresql", `postgres-${column}`, {
      ...{
        inputs: { ...config, __internal: {} },
        outputs: config,
        dependencies: [urn],
        propertyDependencies: { host: [urn] },
      },
    });
    const role = entry("postgresql:index/role:Role", `role-${column}`, {
      ...{ inputs: { name: "app" }, outputs: { name: "app", password: secret }, provider: referenceTo(postgres) },
    });
    const looked = entry("command:local:Command", `looked-up-${column}`, {
      ...{ external: true, outputs: { stdout: secret, list: [1, null] }, provider: referenceTo(newer) },
      dependencies: [urn],
    });
    return [run, postgres, role, looked];
  });
  return [older, newer, ...ofColumns];
}

test("every cell is repaired and nothing else touched, or refused with one of our messages", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  // Not the stack itself: a reference to that reads what the engine is writing.
  expect(await stack.run("stack", "init", "other", "--no-select")).toMatchObject({ code: 0 });
  const branches = ["br-main", "br-anchor", ...ROWS.flatMap((row) => COLUMNS.map((column) => `br-${row}-${column}`))];
  await service.addProject({
    id: PROJECT,
    branches: branches.map((id, index) => ({ id, default: index === 0 })),
  });
  for (const column of COLUMNS)
    await service.addProject({ id: `prj-${column}`, branches: [{ id: "br-main", default: true }] });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { deployment, ...rest } = JSON.parse(await stack.exported()) as { deployment: { resources: Entry[] } };
  const resources = [...deployment.resources, ...foreignEntries(deployment.resources)];
  stack.write("state.json", JSON.stringify({ ...rest, deployment: { ...deployment, resources } }));
  expect(await stack.run("stack", "import", "--file", "state.json")).toMatchObject({ code: 0 });
  const before = await stack.entries();
  const outputs = await stack.outputs();

  // Somebody else works on each cell.
  const nameOf = (row: string, column: string): string =>
    `${row}-${column}${row === "group" || row === "replicas" ? "-primary" : ""}`;
  const idOf = (name: string): string =>
    resources.find(({ urn }) => urn.endsWith(`::${name}`))?.id.split("/")[1] ?? "none";
  const foundIn = {
    changed: { set: { autoscaling_limit_max_cu: 8 } },
    deleted: { delete: true },
    replaced: { set: { type: "read_only" } },
  };
  const cells = ROWS.flatMap((row) => COLUMNS.map((column) => ({ column, name: nameOf(row, column) })));
  for (const { column, name } of cells)
    await service.edit({ project_id: PROJECT, kind: "endpoint", id: idOf(name), ...foundIn[column] });
  const google = { kind: "oauth_provider", id: "google" };
  await service.edit({
    project_id: "prj-changed",
    ...google,
    set: { type: "shared", client_id: null, client_secret: null },
  });
  await service.edit({ project_id: "prj-deleted", ...google, delete: true });
  const theirs = { type: "standard", client_id: "theirs", client_secret: CANARY };
  await service.edit({ project_id: "prj-replaced", ...google, set: theirs });
  const drifted = [...cells.map(({ name }) => name), ...COLUMNS.map((column) => `oauth-${column}`)].toSorted();
  expect((await drift(stack)).report.drift.map(({ name }) => name).toSorted()).toEqual(drifted);

  // A protected one cannot be replaced, and is reported.
  await service.clearRequests();
  expect(await svc(stack, ["drift", "--repair", "--yes", "--allow-replace"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^pulumi-svc: nothing was changed: .*protected-replaced.* is protected/m),
  });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(before);

  // All the others, in one go.
  const names = drifted.filter((name) => name !== "protected-replaced");
  const repaired = await svc(stack, ["drift", "--repair", "--yes", "--allow-replace", ...names, "--json"]);
  expect({ code: repaired.code, stderr: repaired.stderr }).toMatchObject({ code: 0 });
  const report = JSON.parse(repaired.stdout) as { repaired: { name: string }[]; left: unknown[] };
  expect(report.repaired.map(({ name }) => name).toSorted()).toEqual(names);
  expect(report.left).toEqual([]);

  // At the service: what it takes, and nothing else.
  const done = cells.filter(({ name }) => name !== "protected-replaced");
  const endpoints = `/projects/${PROJECT}/endpoints`;
  const inColumn = (column: string) => done.filter((one) => one.column === column).map(({ name }) => idOf(name));
  const changes = (await service.requests()).filter(({ method }) => method !== "GET");
  expect(changes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    [
      ...inColumn("changed").map((id) => `PATCH ${endpoints}/${id}`),
      ...inColumn("deleted").map(() => `POST ${endpoints}`),
      ...inColumn("replaced").flatMap((id) => [`DELETE ${endpoints}/${id}`, `POST ${endpoints}`]),
      "PATCH /projects/prj-changed/auth/oauth_providers/google",
      "POST /projects/prj-deleted/auth/oauth_providers",
      "DELETE /projects/prj-replaced/auth/oauth_providers/google",
      "POST /projects/prj-replaced/auth/oauth_providers",
    ].toSorted(),
  );

  // In the state: the same, but for the ids and the outputs of what is a new object.
  const after = await stack.entries();
  const isNew = (urn: string): boolean =>
    /::[^:]*-(deleted|replaced)(-primary)?$/.test(urn) && names.includes(urn.split("::").at(-1) ?? "");
  const comparable = (entries: Record<string, unknown>): object =>
    Object.fromEntries(
      Object.entries(entries).map(([urn, entry]) => {
        const { id: _id, outputs: _outputs, ...others } = entry as Entry;
        return [urn, isNew(urn) ? others : entry];
      }),
    );
  expect(comparable(after)).toEqual(comparable(before));
  expect(await stack.outputs()).toEqual(outputs);
  const stillDrifted = await drift(stack);
  expect(stillDrifted.report.drift.map(({ name }) => name)).toEqual(["protected-replaced"]);
  expect(await stack.leaks([CANARY, service.emulator.apiKey])).toEqual([]);
});
