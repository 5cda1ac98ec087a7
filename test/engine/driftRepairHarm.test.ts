import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { Stack } from "../support/Stack";
import { svc, type Ended } from "../support/svc";

const PASSWORD = "canary-smtp-password-harm";

/** Replaces the CLI: runs `BEFORE_UP` right before each update of the real one, `BEFORE_EXPORT` before export `AT_EXPORT`. */
const WRAPPER = `#!/bin/sh
PATH="\${PATH#*:}"
[ "$2" = export ] && echo >> exports && [ "$(grep -c '' exports)" = "$AT_EXPORT" ] && sh -c "$BEFORE_EXPORT" > colleague.log 2>&1
[ "$1" = up ] && [ -n "$BEFORE_UP" ] && sh -c "$BEFORE_UP" > colleague.log 2>&1
# As the terminal does at Ctrl-C, for the process group of the command.
[ "$2" = import ] && [ -n "$INTERRUPT" ] && kill -INT -"$PPID" && sleep 1
exec pulumi "$@"
`;

function wrapped(stack: Stack): string {
  stack.write("bin/pulumi", WRAPPER);
  const bin = join(stack.folder, "program", "bin");
  chmodSync(join(bin, "pulumi"), 0o755);
  return `${bin}:${stack.env["PATH"]}`;
}

/**
 * A repair, and a colleague's change right before its update. Afterwards the service's log contains only the repair's
 * requests.
 */
async function repair(stack: Stack, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  await stack.service.clearRequests();
  return svc(stack, ["drift", "--repair", "--yes", ...args], { env: { PATH: wrapped(stack), ...env } });
}

/** Runs the command in its own process group, which gets Ctrl-C while the CLI imports a state. */
function interruptedAtImport(stack: Stack): Promise<Omit<Ended, "stdout">> {
  const command = [join(ROOT, "dist", "cli", "main.js"), "drift", "--repair", "--yes"];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, {
      cwd: join(stack.folder, "program"),
      env: { ...stack.env, PATH: wrapped(stack), INTERRUPT: "1" },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    child.on("close", (code) => {
      stack.said += stderr;
      resolve({ code: code ?? -1, stderr });
    });
  });
}

/** A request to the emulator's control routes, as the environment of the command that runs right before an update. */
const beforeUp = (stack: Stack, route: "edit" | "faults", body: object): Record<string, string> => ({
  BEFORE_UP: `node -e 'fetch(process.env.ROUTE, { method: "POST", body: process.env.BODY })'`,
  ROUTE: `${stack.service.emulator.url}/_emulator/${route}`,
  BODY: JSON.stringify(body),
});

const domain = (name: string, options = "{}"): string =>
  `const ${name} = new svc.WhitelistDomain("${name}", { projectId: auth.projectId, domain: "https://${name}.example.com" }, ${options});`;

/** With names that contain the separator of a URN, and a resource that depends on another in every possible way. */
const PROGRAM = `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: 2 } });
${domain("first")}
${domain("second", "{ parent: first, dependsOn: [first], deletedWith: first }")}
new svc.WhitelistDomain("x::odd", { projectId: auth.projectId, domain: "https://odd.example.com" }, { dependsOn: [first] });
new svc.EmailServer("ma il::$ü", { projectId: auth.projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${PASSWORD}"), senderEmail: "auth@example.com", senderName: "Demo" });`;

test("the state holds what was last deployed, whatever stands in the way of a repair, and then what it repaired", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await stack.entries();
  const id = (await stack.resource("api")).id.split("/")[1] ?? "";
  const resized = (max: number) => ({ kind: "endpoint", id, set: { autoscaling_limit_max_cu: max } });
  await service.edit(resized(8));

  // Another operation has locked the stack.
  const locks = join(stack.folder, "backend", ".pulumi", "locks", "organization", "proj", "dev");
  mkdirSync(locks, { recursive: true });
  const lock = { pid: 1, username: "them", hostname: "there", timestamp: new Date() };
  writeFileSync(join(locks, "one.json"), JSON.stringify(lock));
  expect(await repair(stack)).toMatchObject({
    code: 11,
    stderr: expect.stringMatching(/was interrupted: it has locked the stack.*pulumi cancel/),
  });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(before);
  rmSync(locks, { recursive: true });

  // A message of the service about a lock is not that of the engine; and Ctrl-C while the state is put back does not stop that.
  await service.fault({
    method: "PATCH",
    times: 50,
    status: 400,
    body: { code: "INVALID", message: "the endpoint is currently locked by an administrator" },
  });
  expect(await interruptedAtImport(stack)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^pulumi-svc: interrupted: changes that had begun were completed, or the state holds them as unfinished, and the others were not begun/m,
    ),
  });
  expect(await stack.entries()).toEqual(before);
  await service.clearFaults();

  // If it is refused, nothing is deleted, whatever the engine is configured to do on an error.
  const edited = { project_id: "prj-demo", ...resized(4) };
  const env = { PULUMI_CONTINUE_ON_ERROR: "true", ...beforeUp(stack, "edit", edited) };
  expect(await repair(stack, [], env)).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(/nothing was changed: the drift at the service is no longer what was shown/),
  });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.entries()).toEqual(before);

  // The refresh of the update itself fails after it has found the deleted resource. The service's message is reported,
  // also if it mentions a lock.
  await service.edit({ kind: "domain", id: "https://first.example.com", delete: true });
  const failing = {
    path: "/projects/{project_id}/auth/domains",
    times: 500,
    status: 403,
    body: { message: "the list is currently locked by an administrator" },
  };
  expect(await repair(stack, [], beforeUp(stack, "faults", failing))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^pulumi-svc: pulumi up failed: .*by an administrator.* -> 403\b/m),
  });
  await service.clearFaults();
  expect(await stack.entries()).toEqual(before);

  // What a colleague deploys between the check and the repair stays in the state.
  stack.program(`${PROGRAM}\n${domain("theirs")}`);
  const target = (await stack.resource("auth")).urn.replace("AuthIntegration::auth", "WhitelistDomain::theirs");
  const deploy = `env -u PULUMI_DEBUG_PROVIDERS pulumi up --yes --skip-preview --non-interactive --target '${target}'`;
  expect(await repair(stack, [], { BEFORE_UP: deploy })).toMatchObject({
    code: 11,
    stderr: expect.stringMatching(/nothing was changed: the state has changed since/),
  });
  // The colleague's request: the repair has sent nothing.
  expect(await service.mutations()).toEqual(["POST /projects/{project_id}/auth/domains"]);
  const { [target]: theirs, ...others } = await stack.entries();
  expect(theirs).toMatchObject({ id: "prj-demo/https://theirs.example.com" });
  expect(others).toEqual(before);

  // With nothing in the way: what depends on a resource that is created again, or is its child, keeps its place in the state,
  // and a project that is locked for a while is waited for.
  await service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com" } });
  await service.edit({ kind: "domain", id: "https://odd.example.com", delete: true });
  const endpoint = "/projects/{project_id}/endpoints/{endpoint_id}";
  await service.fault({ method: "PATCH", path: endpoint, status: 423, times: 2 });
  expect(await repair(stack)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^api: update$/m) });
  const patches = (await service.requests()).filter(
    ({ method, template }) => method === "PATCH" && template === endpoint,
  );
  expect(patches.map(({ status }) => status)).toEqual([423, 423, 200]);
  expect((await service.mutations()).filter((mutation) => mutation.startsWith("DELETE"))).toEqual([]);
  expect(await stack.entries()).toEqual({ ...before, [target]: theirs });
  expect(await service.endpoints()).toContainEqual(expect.objectContaining({ id, autoscaling_limit_max_cu: 2 }));
  expect(await service.list("/projects/prj-demo/auth/email_server")).toMatchObject({ host: "smtp.example.com" });
  const { domains } = (await service.list("/projects/prj-demo/auth/domains")) as { domains: { domain: string }[] };
  expect(domains.map((one) => one.domain).toSorted()).toEqual(
    ["first", "odd", "second", "theirs"].map((name) => `https://${name}.example.com`),
  );

  // Changes that an earlier update left unfinished elsewhere stay as they are.
  const read = async () =>
    (
      JSON.parse(await stack.exported()) as {
        deployment: { resources: Record<string, unknown>[] };
      }
    ).deployment;
  const unfinished = await read();
  const [first = {}] = unfinished.resources.filter(({ urn }) => String(urn).endsWith("::first"));
  unfinished.resources.push({ ...first, id: "prj-demo/https://left.example.com", delete: true });
  stack.write("state.json", JSON.stringify({ version: 3, deployment: unfinished }));
  expect(await stack.run("stack", "import", "--file", "state.json", "--force")).toMatchObject({ code: 0 });
  await service.edit(resized(8));
  const exports = join(stack.folder, "program", "exports");
  rmSync(exports);
  expect(await repair(stack, ["api"])).toMatchObject({ code: 0 });
  // Around the look with its plan, in each of the two updates and between them, and around the look at the result.
  expect(readFileSync(exports, "utf8")).toHaveLength(7);
  expect(await service.mutations()).toEqual([`PATCH ${endpoint}`]);
  const after = await read();
  expect(after.resources.filter((one) => one["delete"] === true)).toHaveLength(1);
  expect(after.resources.filter((one) => String(one["urn"]).includes("interrupted-repair"))).toEqual([]);

  // What a colleague deploys between the two updates of a repair ends it, too, before the refresh of the second stores
  // what it found.
  stack.program(`${PROGRAM}\n${domain("theirs")}\n${domain("late")}`);
  await service.edit(resized(8));
  rmSync(exports);
  const late = deploy.replace("::theirs", "::late");
  expect(await repair(stack, ["api"], { AT_EXPORT: "4", BEFORE_EXPORT: late })).toMatchObject({
    code: 11,
    stderr: expect.stringMatching(/nothing was changed: the state has changed since/),
  });
  expect(await service.mutations()).toContain("POST /projects/{project_id}/auth/domains");
  expect(await service.mutations()).not.toContain(`PATCH ${endpoint}`);
  const { urn } = await stack.resource("api");
  expect((await stack.entries())[urn]).toEqual(before[urn]);
  expect(await stack.leaks([PASSWORD, service.emulator.apiKey])).toEqual([]);
});

test("a repair names what its request sets beside the drift", async () => {
  const stack = await Stack.create({ program: PROGRAM, emulator: { secretAnswers: "masked" } });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  // The service does not show that the password was rotated, too.
  await service.edit({ kind: "email_server", set: { port: 2525, password: "canary-rotated-harm" } });
  await service.clearRequests();
  const sets =
    /pulumi up also sets "password" of the e-mail server of project prj-demo [^\n]* one that was set by hand is lost/;
  const asked = await svc(stack, ["drift", "--repair"]);
  expect(asked).toMatchObject({ code: 2, stdout: expect.stringMatching(sets) });
  expect(await service.mutations()).toHaveLength(0);
  expect(await repair(stack)).toMatchObject({ code: 0, stdout: expect.stringMatching(sets) });
  await stack.finish(before);
});
