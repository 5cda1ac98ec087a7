import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliEnvironment, ROOT } from "../support/cli";
import { leftIn } from "../support/temporary";

const LONGEST_RUN_MS = 1_200_000;
jest.setTimeout(LONGEST_RUN_MS + 60_000);

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-quickstart-test-"));
const home = join(folder, "home");
mkdirSync(home);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the quickstart creates, finds drift, repairs, destroys, and leaves nothing behind", async () => {
  // The login and the key of the caller must neither be used nor written to.
  const env = {
    ...cliEnvironment(home, join(folder, "backend of the caller")),
    SVC_API_KEY: "canary-key-of-the-caller",
    // Nothing listens on the port of discarded data: what goes to this machine itself must not go through a proxy.
    http_proxy: "http://127.0.0.1:9",
    https_proxy: "http://127.0.0.1:9",
    NODE_USE_ENV_PROXY: "1",
  };
  const { code, text } = await run(["quickstart"], env);

  expect({ code, text }).toMatchObject({ code: 0 });
  const scenes = text.slice(text.indexOf("== Done in")).split("\n").slice(1, 10);
  expect(scenes).toEqual([
    expect.stringContaining("the key encrypted"),
    expect.stringMatching(/created; the service shows ep-\S+ active/),
    expect.stringContaining("secretServerKey as [secret]"),
    expect.stringContaining("no changes"),
    expect.stringContaining("4 to 8 CU now, the program says 0.5 to 2"),
    expect.stringContaining("drift found: exit code 7"),
    expect.stringContaining("repaired: "),
    expect.stringContaining("no changes, no drift"),
    expect.stringContaining("destroyed: "),
  ]);
  // The CLI's own messages about the same scenes.
  for (const said of [/\+ 3 created/, /~ 1 updated/, /- 3 deleted/]) expect(text).toMatch(said);

  // A server key, the quickstart's own key and passphrase (random hex), and what the caller has set.
  expect(text).not.toMatch(/ssk_|[0-9a-f]{48}|canary|a passphrase of the tests/);

  const [, stack] = /Created stack '(quickstart-\w+)'/.exec(text) ?? [];
  expect(stack).toBeDefined();
  expect(existsSync(join(ROOT, `Pulumi.${stack}.yaml`))).toBe(false);
  expect(readdirSync(folder)).toEqual(["home"]);
  // TMPDIR is there, too: the quickstart's own folder stood in it. Node's compile cache may stay.
  expect(leftIn(home)).toEqual([]);

  const [, address] = /listening on (http:\S+)/.exec(text) ?? [];
  expect(address).toBeDefined();
  await expect(fetch(String(address))).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});

test("the picture of README.md shows what a first up shows today", async () => {
  const { code, text } = await run(["picture", "--check"], cliEnvironment(home, join(folder, "backend of the caller")));
  expect({ code, text }).toMatchObject({
    code: 0,
    text: expect.stringContaining("docs/first-up.svg is up to date"),
  });
});

/** As npm starts it. On TERM it ends its processes and removes its files. */
function run(task: readonly string[], env: Record<string, string>): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("node", [join("scripts", "run.mjs"), ...task], { cwd: ROOT, env });
    let text = "";
    const timer = setTimeout(() => {
      text += `\nThis took longer than ${LONGEST_RUN_MS / 1000} s.\n`;
      child.kill("SIGTERM");
    }, LONGEST_RUN_MS);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, text });
    });
  });
}
