import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EmulatorOptions } from "../../src/emulator";
import { cliEnvironment, descendants, pulumi, ROOT, type Run } from "./cli";
import { isOurEntry } from "../../src/contract/pointer";
import { SECRET, SIGNATURE } from "../../src/contract/engineSecrets";
import { exportedState, initStack, sealed, startVault, withSecrets } from "./backend";
import { takeHost } from "./hosts";
import { Service } from "./service";

jest.setTimeout(1_800_000);

export interface StackOptions {
  /** A plain JavaScript program, `svc` and `pulumi` at hand; what it assigns to `exports` are the stack's outputs. */
  readonly program: string;
  readonly emulator?: EmulatorOptions;
  /** That of another stack, which closes it. @default one of its own */
  readonly service?: Service;
  /** False: neither key nor base URL in the configuration; the environment gives them. @default true */
  readonly configured?: boolean;
  /** The node_modules of the program. @default this repository's */
  readonly modules?: string;
  /** Each digest of a secret by reference takes a quarter of a second of a processor. True: next to none (preload.cjs). @default false */
  readonly cheapDigests?: boolean;
  /**
   * True: the CLI starts a process for the program and one for the provider with each command, as a user's does: for tests of what
   * such a process does or says. A program of ES modules has one in any case. Otherwise programHost.cjs is the language
   * host of all commands, and providerHost.cjs the provider, of the commands of `pulumi-svc` too: a third of the processor time. A
   * command that a test interrupts (`started`) has processes of its own in any case. @default false
   */
  readonly ownProcess?: boolean;
  /** The key of the stack's secrets comes from a passphrase: a sixth of a second more of a processor for each command. @default false */
  readonly passphrase?: boolean;
  /** True: the native plugin of this repository is at hand, as `native(kind, name, args, outputs, options)`. @default false */
  readonly native?: boolean;
}

export interface StoredResource {
  readonly urn: string;
  readonly id: string;
  readonly type: string;
  readonly inputs: Record<string, unknown>;
  readonly outputs: Record<string, unknown>;
}

/** What every Node process of a stack loads first. */
const PRELOAD = join(ROOT, "test", "support", "preload.cjs");

/** With PULUMI_SVC_DOOR=native, the programs of the engine's tests declare resources of the native plugin. */
const IS_NATIVE = process.env["PULUMI_SVC_DOOR"] === "native";
const ENTRY = IS_NATIVE ? "pulumi-svc/native" : "pulumi-svc";

const PACKAGES = `packages:\n  svc: ${join(ROOT, "plugin")}\n`;

/** A resource of the native plugin. `outputs`: the names of the outputs that the program reads. */
const NATIVE =
  "const native = (kind, name, args, outputs = [], options = {}) => new pulumi.CustomResource(`svc:index:${kind}`, name, " +
  "{ ...Object.fromEntries(outputs.map((output) => [output, undefined])), ...args }, options);";

interface Exported {
  readonly deployment: { readonly resources?: StoredResource[] };
}

const open: Stack[] = [];
/** One for all stacks of a test file. */
let vault: ReturnType<typeof startVault> | undefined;
afterAll(async () => {
  for (const stack of open.splice(0)) await stack.close();
  (await vault)?.close();
});

/**
 * A program, a stack of its own on a file backend, and an emulator: everything thrown away at the end. It runs the real CLI, a second
 * or more for each command; the `Stack` of rules/program.ts takes the engine's steps in process, for hundreds of runs.
 */
export class Stack {
  readonly #project: string;
  readonly #backend: string;
  readonly env: Record<string, string>;
  /** The folder of its node_modules. */
  readonly #packages: string;
  /** The program runs in a process for each command. */
  #hasOwnProgram = false;
  /** Its service is that of another stack. */
  #isGuest = false;
  #helper = "";
  /** Everything the CLI has said so far. */
  said = "";

  private constructor(
    readonly folder: string,
    readonly service: Service,
    public ownProcess: boolean,
    modules: string,
  ) {
    this.#packages = dirname(modules);
    this.#project = join(folder, "program");
    this.#backend = join(folder, "backend");
    mkdirSync(this.#project);
    mkdirSync(this.#backend);
    mkdirSync(join(folder, "home"));
    this.env = {
      ...cliEnvironment(join(folder, "home"), this.#backend),
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      NODE_OPTIONS: `--require ${PRELOAD}`,
    };
  }

  static async create({
    program,
    emulator,
    service: given,
    configured = true,
    modules = join(ROOT, "node_modules"),
    cheapDigests,
    ownProcess = false,
    passphrase = false,
    native = IS_NATIVE,
  }: StackOptions): Promise<Stack> {
    if (!existsSync(join(ROOT, "dist", "provider.js"))) throw new Error("dist is missing: run `npm run build` first.");
    // A key that no other text contains, so that it can be looked for everywhere.
    const apiKey = `canary-key-${randomBytes(9).toString("hex")}`;
    const service = given ?? (await Service.start({ apiKey, ...emulator }));
    const stack = new Stack(mkdtempSync(join(tmpdir(), "pulumi-svc-engine-")), service, ownProcess, modules);
    stack.#isGuest = given !== undefined;
    open.push(stack);
    if (native && !IS_NATIVE) stack.#helper = ` ${NATIVE}`;
    if (cheapDigests === true) stack.env["CHEAP_DIGESTS"] = "1";
    const packages = native ? PACKAGES : "";
    stack.#write("Pulumi.yaml", `name: proj\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n${packages}`);
    stack.#write("package.json", '{ "name": "proj", "private": true }\n');
    symlinkSync(modules, join(stack.#project, "node_modules"));
    stack.program(program);
    initStack({ project: stack.#project, backend: stack.#backend, home: join(stack.folder, "home") }, passphrase);
    if (!passphrase) Object.assign(stack.env, (await (vault ??= startVault())).settings);
    if (configured) {
      // As `pulumi config set` would write it, without a process for it.
      const { baseUrl, apiKey } = service.emulator;
      const config = `config:\n  svc:baseUrl: ${baseUrl}\n  svc:apiKey:\n    secure: ${sealed(apiKey)}\n`;
      appendFileSync(join(stack.#project, "Pulumi.dev.yaml"), config);
    }
    return stack;
  }

  /** `entry`: the module that `svc` comes from. */
  program(text: string, entry = ENTRY): void {
    this.#write(
      "index.js",
      `const pulumi = require("@pulumi/pulumi");\nconst svc = require("${entry}");${this.#helper}\n${text}\n`,
    );
  }

  write(file: string, text: string): void {
    // An ES module cannot be loaded anew.
    if (file === "package.json") this.#hasOwnProgram = true;
    const named = text.replace(/(from |require\()"pulumi-svc"/g, `$1"${ENTRY}"`);
    this.#write(file, IS_NATIVE && file === "Pulumi.yaml" && !text.includes("packages:") ? named + PACKAGES : named);
  }

  #write(file: string, text: string): void {
    const path = join(this.#project, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async config(key: string, value: string, secret = false): Promise<void> {
    // The value goes in by standard input: a process list shows arguments.
    const args = ["config", "set", key, ...(secret ? ["--secret"] : ["--plaintext"]), "--stack", "dev"];
    const { code, text } = await pulumi(args, { cwd: this.#project, env: this.env, input: value });
    if (code !== 0) throw new Error(text);
  }

  async removeConfig(key: string): Promise<void> {
    await this.run("config", "rm", key, "--stack", "dev");
  }

  /** Any command, whatever its exit code. The types of a TypeScript program are checked by `up` alone: they take two seconds. */
  async run(...args: string[]): Promise<Run> {
    const isChecked = args[0] === "up" && existsSync(join(this.#project, "index.ts"));
    const start = (env: Record<string, string>): Promise<Run> => {
      const all = [...args, "--non-interactive"];
      const { PULUMI_DEBUG_LANGUAGES: host, ...others } = env;
      if (host === undefined || !args.includes("--policy-pack")) return pulumi(all, { cwd: this.#project, env });
      // A policy pack is started by the CLI's own language host.
      const client = `--client=${host.replace("nodejs", "127.0.0.1")}`;
      return pulumi([...all, client], { cwd: this.#project, env: others });
    };
    const env = isChecked ? { ...this.env, PULUMI_NODEJS_TRANSPILE_ONLY: "false" } : this.env;
    const { ended, written } = await this.served(env, start);
    const text = ended.text + written;
    this.said += text;
    return { ...ended, text };
  }

  /**
   * Starts something that runs the CLI, in which hosts take the place of the processes for the program and its resources. Returns what
   * the provider has written meanwhile, too.
   */
  async served<T>(
    env: Record<string, string>,
    start: (env: Record<string, string>) => Promise<T>,
  ): Promise<{ ended: T; written: string }> {
    if (this.ownProcess) return { ended: await start(env), written: "" };
    // As the engine passes it to the processes that it starts.
    const given = { cwd: this.#project, env: { ...env, PULUMI_NODEJS_PROJECT: "proj" } };
    // programHost.cjs checks no types.
    const hasOwnProgram = this.#hasOwnProgram || env["PULUMI_NODEJS_TRANSPILE_ONLY"] === "false";
    const program = hasOwnProgram ? undefined : takeHost("programHost", this.#packages, env);
    const provider = takeHost("providerHost", this.#packages, env);
    let written = "";
    const write = (chunk: Buffer): void => void (written += chunk.toString());
    const streams = [provider.process.stdout, provider.process.stderr];
    for (const stream of streams) stream?.on("data", write);
    try {
      // Each answers with its port.
      const [ofProgram, ofProvider] = (await Promise.all([program?.ask(given), provider.ask(given)])) as number[];
      const ended = await start({
        ...env,
        ...(program && { PULUMI_DEBUG_LANGUAGES: `nodejs:${ofProgram}` }),
        PULUMI_DEBUG_PROVIDERS: `pulumi-nodejs:${ofProvider}`,
      });
      return { ended, written };
    } finally {
      for (const stream of streams) stream?.off("data", write);
      program?.release();
      provider.release();
    }
  }

  /** A command whose process `onStart` gets, to kill it. */
  async started(onStart: (cli: ChildProcess) => void, ...args: string[]): Promise<Run> {
    const result = await pulumi([...args, "--non-interactive"], { cwd: this.#project, env: this.env, onStart });
    this.said += result.text;
    return result;
  }

  /** A command, and the arguments of each process that it has started, as a process list shows them again and again. */
  async listed(...args: string[]): Promise<Run & { processes: Set<string> }> {
    const processes = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    const run = await this.started(
      ({ pid = Number.NaN }) => {
        timer = setInterval(() => descendants(pid).forEach(({ command }) => processes.add(command)), 200);
      },
      ...args,
    );
    clearInterval(timer);
    return { ...run, processes };
  }

  /** An `up` that is interrupted as often as `times`, each time once `ready` is true. */
  async interruptedUp(times: number, ready: () => Promise<boolean>): Promise<Run> {
    let child: ChildProcess | undefined;
    let said = "";
    const running = pulumi(["up", "--yes", "--skip-preview", "--non-interactive"], {
      cwd: this.#project,
      env: this.env,
      onStart: (started) => {
        child = started;
        for (const stream of [started.stdout, started.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
      },
    });
    let ended = false;
    const end = () => (ended = true);
    void running.then(end, end);
    const until = async (condition: () => boolean | Promise<boolean>) => {
      while (!ended && !(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await until(ready);
    for (let time = 0; time < times; time++) {
      child?.kill("SIGINT");
      // Two signals that come before the CLI has seen the first are one.
      await until(() => said.includes("press ^C again"));
    }
    const result = await running;
    this.said += result.text;
    return result;
  }

  /** Without the preview that precedes it: `preview` shows that on its own. */
  up(...args: string[]): Promise<Run> {
    return this.run("up", "--yes", "--skip-preview", ...args);
  }

  preview(...args: string[]): Promise<Run> {
    return this.run("preview", ...args);
  }

  /** `preview --refresh --expect-no-changes`: 0, or 7 for drift. */
  drift(...args: string[]): Promise<Run> {
    return this.run("preview", "--refresh", "--expect-no-changes", ...args);
  }

  refresh(...args: string[]): Promise<Run> {
    return this.run("refresh", "--yes", "--skip-preview", ...args);
  }

  destroy(...args: string[]): Promise<Run> {
    return this.run("destroy", "--yes", "--skip-preview", ...args);
  }

  /** The files of the backend. */
  stateFiles(): string[] {
    return filesBelow(this.#backend);
  }

  /** The state as `pulumi stack export` writes it, secrets encrypted. */
  async exported(): Promise<string> {
    // If a test has renamed the stack, the CLI knows the file.
    return (
      exportedState(this.#backend) ?? (await pulumi(["stack", "export"], { cwd: this.#project, env: this.env })).stdout
    );
  }

  async resources(): Promise<StoredResource[]> {
    const { deployment } = JSON.parse(await this.exported()) as Exported;
    return (deployment.resources ?? []).filter(isOurEntry);
  }

  async resource(name: string): Promise<StoredResource> {
    const found = (await this.resources()).find(({ urn }) => urn.endsWith(`::${name}`));
    if (found === undefined) throw new Error(`the state holds no resource "${name}"`);
    return found;
  }

  /** As `pulumi stack output --json --show-secrets` writes them. */
  async outputs(): Promise<Record<string, unknown>> {
    const { deployment } = withSecrets(await this.exported(), (plaintext) => JSON.parse(plaintext)) as Exported;
    return (deployment.resources ?? []).find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
  }

  /**
   * The entries of the state by URN, secrets in clear, without what each update of the engine writes, whatever it does: times, the
   * order of sets, empty lists, secrets' salt.
   */
  async entries(): Promise<Record<string, unknown>> {
    const clear = withSecrets(await this.exported(), (plaintext) => ({ [SIGNATURE]: SECRET, plaintext })) as {
      deployment: { resources: Record<string, unknown>[] };
    };
    return Object.fromEntries(
      clear.deployment.resources.map(
        ({ modified: _modified, created: _created, dependencies, propertyDependencies, ...rest }) => [
          `${String(rest["urn"])}${rest["delete"] === true ? " (to be deleted)" : ""}`,
          {
            ...rest,
            // The SDK sends them in the order in which promises end.
            dependencies: ((dependencies ?? []) as string[]).toSorted(),
            propertyDependencies: Object.fromEntries(
              Object.entries((propertyDependencies ?? {}) as Record<string, string[]>)
                .filter(([, urns]) => urns.length > 0)
                .map(([name, urns]) => [name, urns.toSorted()]),
            ),
          },
        ],
      ),
    );
  }

  /** Where, if anywhere, a secret stands in clear. */
  async leaks(secrets: readonly string[]): Promise<string[]> {
    const places = await this.places();
    return secrets.flatMap((secret) =>
      [...places].filter(([, text]) => text.includes(secret)).map(([place]) => `${secret} in ${place}`),
    );
  }

  /** What was said, the state, and the files of the backend and the home. */
  async places(): Promise<Map<string, string>> {
    const places = new Map<string, string>([
      ["the CLI's output", this.said],
      ["the exported state", await this.exported()],
    ]);
    for (const file of filesBelow(this.folder)) {
      // The program is the test's own text, and may hold what it plants.
      if (!file.startsWith(this.#project) || file.includes("Pulumi.dev"))
        places.set(file, readFileSync(file, "latin1"));
    }
    return places;
  }

  /** How every test ends: the plan is empty, so is the plan after a refresh, destroy works, and nothing of ours is left. */
  async finish(before: { projects: Record<string, unknown>[] }): Promise<void> {
    expect(await this.preview("--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await this.drift()).toMatchObject({ code: 0 });
    await this.end(before);
  }

  /** How a test ends that has shown already that both plans are empty, as by an `up --refresh --expect-no-changes`. */
  async end(before: { projects: Record<string, unknown>[] }): Promise<void> {
    expect(await this.destroy()).toMatchObject({ code: 0 });
    expect(holdings(await this.service.state())).toEqual(holdings(before));
    expect(await this.leaks([this.service.emulator.apiKey])).toEqual([]);
    await this.close();
  }

  async close(): Promise<void> {
    if (!this.#isGuest) await this.service.emulator.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    // No links, and no pipes: reading one would wait for ever.
    return entry.isFile() ? [path] : [];
  });
}

/** The objects of a project that a program may have created. */
export function holdings({ projects }: { projects: Record<string, unknown>[] }): object {
  const ids = (value: unknown) => (value as Record<string, unknown>[]).map(({ id, domain }) => id ?? domain);
  return projects.map(({ id, endpoints, integrations, oauth_providers, domains, users, email_server }) => ({
    id,
    endpoints: ids(endpoints),
    integrations,
    oauthProviders: ids(oauth_providers),
    domains: ids(domains),
    users: ids(users),
    emailServer: (email_server as { type: string }).type,
  }));
}
