import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator, type Emulator } from "../src/emulator";
import type { Contender } from "./programs";

export interface Figures {
  readonly "up, s": number;
  readonly "up without changes, s": number;
  readonly "refresh, s": number;
  readonly "requests of a refresh": number;
  readonly "destroy, s": number;
  readonly "requests of a destroy": number;
  readonly "state, kB": number;
}

const ROOT = join(__dirname, "..");

/** One whole life of a stack, on an emulator and a file backend of its own. */
export async function measure({ program }: Contender, resources: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-bench-"));
  const emulator = await startEmulator({ apiKey: "bench-key" });
  try {
    await createIntegration(emulator);
    const project = join(folder, "program");
    for (const name of ["program", "backend", "home"]) mkdirSync(join(folder, name));
    writeFileSync(
      join(project, "Pulumi.yaml"),
      "name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
    );
    writeFileSync(join(project, "package.json"), '{ "name": "bench", "private": true }\n');
    writeFileSync(join(project, "index.js"), program(resources));
    symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
    const env = {
      ...process.env,
      HOME: join(folder, "home"),
      PULUMI_HOME: join(folder, "home", ".pulumi"),
      PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      SVC_API_KEY: emulator.apiKey,
      SVC_BASE_URL: emulator.baseUrl,
    };
    const pulumi = (...args: string[]) => timed(args, project, env);
    await pulumi("stack", "init", "dev");
    const up = await pulumi("up", "--yes", "--skip-preview");
    const state = statSync(join(folder, "backend", ".pulumi", "stacks", "bench", "dev.json")).size;
    const again = await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
    await clearRequests(emulator);
    const refresh = await pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    const reads = await countRequests(emulator);
    await clearRequests(emulator);
    const destroy = await pulumi("destroy", "--yes", "--skip-preview");
    return {
      "up, s": up,
      "up without changes, s": again,
      "refresh, s": refresh,
      "requests of a refresh": reads,
      "destroy, s": destroy,
      "requests of a destroy": await countRequests(emulator),
      "state, kB": state / 1_000,
    };
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Seconds of one command that has to succeed. */
function timed(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn("pulumi", [...args, "--non-interactive"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve((performance.now() - began) / 1_000);
      else reject(new Error(`pulumi ${args.join(" ")} ended with ${String(code)}:\n${text}`));
    });
  });
}

async function createIntegration({ baseUrl, apiKey }: Emulator): Promise<void> {
  const response = await fetch(`${baseUrl}/projects/auth/create`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ auth_provider: "supported_provider", project_id: "prj-demo", branch_id: "br-main" }),
  });
  if (!response.ok) throw new Error(`the integration was not created: ${response.status}`);
}

const clearRequests = async ({ url }: Emulator): Promise<void> => {
  await fetch(`${url}/_emulator/requests`, { method: "DELETE" });
};

async function countRequests({ url }: Emulator): Promise<number> {
  const { requests } = (await (await fetch(`${url}/_emulator/requests`)).json()) as { requests: unknown[] };
  return requests.length;
}
