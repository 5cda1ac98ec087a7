/** The neighbours of a repaired resource: objects inside it, which are lost, and its dependants, in any condition. */
import { sealed } from "../support/backend";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";
import { SECRET, SIGNATURE } from "../../src/contract/engineSecrets";

const repair = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--repair", "--yes", ...args]);
const namesOf = (some: readonly { name: string }[]): string[] => some.map(({ name }) => name).toSorted();

test("what lives in a replaced integration is named as lost and looked at; what would be replaced with it is reported", async () => {
  const children = (projectId: string, name: string, protect = false): string => `
    new svc.OAuthProvider("github-${name}", { projectId: ${projectId}, providerId: "github", adopt: true }, { dependsOn: [${name}] });
    new svc.WhitelistDomain("domain-${name}", { projectId: ${projectId}, domain: "https://${name}.example.com" }, { dependsOn: [${name}], protect: ${protect} });`;
  const integration = (name: string): string =>
    `const ${name} = new svc.AuthIntegration("${name}", { projectId: "prj-${name}", branchId: "br-main" });`;
  const program = `${["constant", "ordinary", "guarded"].map(integration).join("\n")}
    ${children(`"prj-constant"`, "constant")}
    ${children("ordinary.projectId", "ordinary")}
    ${children("guarded.projectId", "guarded", true)}`;
  const stack = await Stack.create({ program });
  const { service } = stack;
  const branches = ["br-main", "br-other"].map((id, index) => ({ id, default: index === 0 }));
  const projects = ["prj-constant", "prj-ordinary", "prj-guarded"];
  for (const id of projects) await service.addProject({ id, branches });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await stack.entries();
  const move = (id: string, branch: string) =>
    service.edit({ project_id: id, kind: "integration", set: { branch_id: branch } });
  for (const id of projects) await move(id, "br-other");
  await service.clearRequests();

  // The engine replaces what is given the project by the integration: that is more than a repair.
  expect(await repair(stack, "guarded", "--allow-replace")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^pulumi-svc: nothing was changed: domain-guarded is protected, and it depends on guarded, whose repair replaces both\. Run pulumi state unprotect 'urn:.*::domain-guarded' first/m,
    ),
  });
  await move("prj-guarded", "br-main");
  expect(await repair(stack, "--allow-replace")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^pulumi-svc: nothing was changed: to replace ordinary, the engine would also replace .*domain-ordinary.*pulumi up --refresh replaces all of it.*--accept ordinary$/m,
    ),
  });
  // If a program spells the id out, the engine does not see the dependency: such a resource is named before anything is
  // done.
  const refused = await repair(stack, "constant", "--json");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/replaces or deletes constant \(replace\)/) });
  const { plan } = JSON.parse(refused.stdout) as { plan: { lost: string[] }[] };
  const lost = ["domain-constant", "github-constant"];
  expect(namesOf(plan.flatMap((step) => step.lost.map((urn) => ({ name: urn.split("::").at(-1) ?? "" }))))).toEqual(
    lost,
  );
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(before);

  // Done, they are drift, and the next run creates them again in the new integration.
  const replaced = await repair(stack, "constant", "--allow-replace");
  expect(replaced).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(
      /deleted at the service together with it, until another repair.*github-constant[^]*repaired constant/,
    ),
  });
  expect(replaced.stdout).toMatch(/^still different: WhitelistDomain domain-constant/m);
  expect(replaced.stdout).toMatch(/^still different: OAuthProvider github-constant/m);
  const again = await repair(stack, ...lost);
  expect(again).toMatchObject({ code: 0 });
  expect(namesOf((await drift(stack)).report.drift)).toEqual(["ordinary"]);
  const { domains } = await service.list("/projects/prj-constant/auth/domains");
  expect(domains).toEqual([expect.objectContaining({ domain: "https://constant.example.com" })]);

  // The way out does it, and leaves nothing.
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect((await drift(stack)).code).toBe(0);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
});

const DEPENDANTS = 200;
const CANARY = "canary-beside-a-repair";

/** For a plugin that is not installed. */
function commands(api: string) {
  const secret = { [SIGNATURE]: SECRET, ciphertext: sealed(JSON.stringify(CANARY)) };
  const stack = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
  const provider = {
    ...{ urn: "urn:pulumi:dev::proj::pulumi:providers:command::default_1_0_0", type: "pulumi:providers:command" },
    ...{
      custom: true,
      id: "provider",
      inputs: { version: "1.0.0", __internal: {} },
      outputs: { version: "1.0.0" },
      parent: stack,
    },
  };
  const urnOf = (index: number): string => `urn:pulumi:dev::proj::command:local:Command::run-${index}`;
  const all = Array.from({ length: DEPENDANTS }, (_, index) => ({
    ...{ urn: urnOf(index), type: "command:local:Command", custom: true, id: `run-${index}`, parent: stack },
    ...{ inputs: { create: secret }, outputs: { create: secret, stdout: `${index}` } },
    provider: `${provider.urn}::${provider.id}`,
    // A chain of ten, again and again.
    dependencies: [index % 10 === 0 ? api : urnOf(index - 1)],
  }));
  return [provider, ...all];
}

test("dependants stay as they are: drifted, deleted, edited, looked up, protected, without a key, and 200 of another package", async () => {
  const program = (edited = "Declared"): string => `
    const keyless = new svc.Provider("keyless", { apiKeyEnv: "KEY_THAT_GOES" });
    const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", name: "api", size: { min: 0.5, max: 2 } });
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
    const domain = (name, options) => new svc.WhitelistDomain(name, { projectId: auth.projectId, domain: "https://" + name + ".example.com" }, options);
    domain("deleted", { dependsOn: [api] });
    domain("keyless", { dependsOn: [api], provider: keyless, protect: true });
    svc.ComputeEndpoint.get("seen", api.id);
    new svc.ComputeEndpoint("drifted", { projectId: "prj-demo", branchId: "br-test", name: "drifted", size: 1 }, { dependsOn: [api], ignoreChanges: ["name"] });
    new svc.EmailServer("edited", { projectId: auth.projectId, type: "standard", host: api.host, port: 587, username: "mailer",
      password: pulumi.secret("${CANARY}"), senderEmail: "auth@example.com", senderName: "${edited}" }, { retainOnDelete: true });`;
  const stack = await Stack.create({ program: program() });
  const { service } = stack;
  stack.env["KEY_THAT_GOES"] = service.emulator.apiKey;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { urn, id } = await stack.resource("api");
  const exported = JSON.parse(await stack.exported()) as { deployment: { resources: object[] } };
  exported.deployment.resources.push(...commands(urn));
  stack.write("state.json", JSON.stringify(exported));
  expect(await stack.run("stack", "import", "--file", "state.json")).toMatchObject({ code: 0 });
  const before = await stack.entries();

  const resized = (name: string, max: number) => ({
    ...{ kind: "endpoint", id: name.split("/")[1] },
    set: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: max, name: "theirs" },
  });
  await service.edit(resized(id, 8));
  await service.edit(resized((await stack.resource("drifted")).id, 4));
  await service.edit({ kind: "domain", id: "https://deleted.example.com", delete: true });
  stack.program(program("Edited"));

  // The look needs the key of each of our resources, and nothing is changed without it.
  await service.clearRequests();
  delete stack.env["KEY_THAT_GOES"];
  expect(await repair(stack, "api")).toMatchObject({ code: 1, stderr: expect.stringMatching(/KEY_THAT_GOES/) });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(before);
  stack.env["KEY_THAT_GOES"] = service.emulator.apiKey;
  const repaired = await repair(stack, "api");
  // With what it says where it fails.
  expect(repaired).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^repaired api/m),
    stderr: expect.stringMatching(/^api: update/m),
  });
  expect(
    (await service.requests()).flatMap(({ method, path }) => (method === "GET" ? [] : `${method} ${path}`)),
  ).toEqual([`PATCH /projects/prj-demo/endpoints/${id.split("/")[1]}`]);
  expect(await stack.entries()).toEqual(before);

  // If a replacement of a dependant has left an object, the engine would delete it: that is reported.
  const withLeftover = JSON.parse(await stack.exported()) as { deployment: { resources: { urn: string }[] } };
  const { resources } = withLeftover.deployment;
  const dependant = resources.find((one) => one.urn.endsWith("::run-10"));
  resources.push({ ...dependant, delete: true, id: "left", dependencies: [] } as unknown as { urn: string });
  stack.write("state.json", JSON.stringify(withLeftover));
  expect(await stack.run("stack", "import", "--file", "state.json")).toMatchObject({ code: 0 });
  const unrepaired = await stack.entries();
  await service.edit(resized(id, 8));
  await service.clearRequests();
  expect(await repair(stack, "api")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing was changed: run-10 depends on what is to be repaired.*Run pulumi up first/),
  });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(unrepaired);
  expect(await stack.leaks([CANARY, service.emulator.apiKey])).toEqual([]);
});
