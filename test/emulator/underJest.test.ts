import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

jest.setTimeout(120_000);

const ROOT = resolve(__dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "emulator-under-jest-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As a user of the package writes it. Our own jest compiles the source, `import()` included, and theirs does not. */
const TEST = `
const { startEmulator } = require("pulumi-svc/emulator");

test("the programs of Postgres", async () => {
  process.env.PULUMI_SVC_POSTGRES_BIN = "/nowhere";
  await expect(startEmulator({ postgres: true })).rejects.toThrow("found no Postgres in /nowhere");
});

test("nodemailer, and the signing of tokens", async () => {
  const emulator = await startEmulator();
  const post = async (path, body) => {
    const response = await fetch(emulator.url + "/_emulator" + path, { method: "POST", body: JSON.stringify(body) });
    return [response.status, await response.json()];
  };
  const email = { type: "standard", host: "127.0.0.1", port: 9, username: "u", password: "p", sender_email: "a@example.com" };
  const edits = [
    ["integration", { create: { branch_id: "br-main" } }],
    ["user", { create: { email: "ana@example.com" } }],
    ["email_server", { set: { ...email, sender_name: "A" } }],
  ];
  for (const [kind, edit] of edits) {
    expect(await post("/edit", { kind, project_id: "prj-demo", ...edit })).toEqual([200, expect.anything()]);
  }
  expect(await post("/tokens", {})).toEqual([201, expect.objectContaining({ token: expect.stringMatching(/^eyJ/) })]);
  const [status, { message }] = await post("/mail", { to: "ana@example.com" });
  expect([status, message]).toEqual([502, expect.stringContaining("nothing listens there (ECONNREFUSED)")]);
  await emulator.close();
});
`;

test("in a jest without settings, the emulator looks for Postgres, gets nodemailer, and signs tokens", () => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ jest: { testEnvironment: "node", transform: {} } }));
  writeFileSync(join(folder, "emulator.test.js"), TEST);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  // If we set the flag, that jest would get `import()`, too.
  const { NODE_OPTIONS: _ours, ...env } = process.env;
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "node_modules/jest/bin/jest.js"), "--ci", "--forceExit"],
    {
      cwd: folder,
      env,
      encoding: "utf8",
      timeout: 100_000,
    },
  );
  expect(`${stderr}\nended with ${status}`).toMatch(/Tests: +2 passed, 2 total[^]*\nended with 0$/);
});
