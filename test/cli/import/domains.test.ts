import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importProject } from "../../../src/cli/import/importProject";
import { api, DEMO, integrate } from "../../support/emulator";
import { Service } from "../../support/service";

const before = { ...process.env };
const cwd = process.cwd();
// Without a program, so that no stack is asked.
beforeEach(() => process.chdir(tmpdir()));
afterEach(() => {
  process.chdir(cwd);
  process.env = { ...before };
});

it("imports the redirect domains of an auth provider that the settings do not name, with the argument", async () => {
  const service = await Service.start({ authProvider: "other" });
  const folder = mkdtempSync(join(tmpdir(), "import-domains-"));
  try {
    const { emulator } = service;
    Object.assign(process.env, { SVC_API_KEY: emulator.apiKey, SVC_BASE_URL: emulator.baseUrl });
    await integrate(emulator, { auth_provider: "other" });
    await api(emulator, "POST", `${DEMO}/auth/domains`, { domain: "https://a.example.com", auth_provider: "other" });
    const [out, program] = [join(folder, "import.json"), join(folder, "index.ts")];
    await importProject({ project: "prj-demo", out, program });
    const { resources } = JSON.parse(readFileSync(out, "utf8")) as { resources: { type: string; inputs: object }[] };
    const domain = resources.find(({ type }) => type.endsWith(":WhitelistDomain"));
    expect(domain?.inputs).toMatchObject({
      projectId: "prj-demo",
      domain: "https://a.example.com",
      authProvider: "other",
    });
    expect(readFileSync(program, "utf8")).toMatch(/WhitelistDomain\([^;]*authProvider: "other",\n/);
  } finally {
    rmSync(folder, { recursive: true });
    await service.emulator.close();
  }
});

it("writes addresses of apps and wildcards, as a resource each and as one list, and says what no program can declare", async () => {
  const service = await Service.start({ appDomains: true });
  const folder = mkdtempSync(join(tmpdir(), "import-domains-"));
  try {
    const { emulator } = service;
    Object.assign(process.env, { SVC_API_KEY: emulator.apiKey, SVC_BASE_URL: emulator.baseUrl });
    await integrate(emulator);
    const auth_provider = "supported_provider";
    for (const domain of ["MyApp://callback", "https://*.vercel.app", "http://localhost:*"])
      expect((await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider })).status).toBe(201);
    const [out, program] = [join(folder, "import.json"), join(folder, "index.ts")];
    const single = await importProject({ project: "prj-demo", out, program });
    expect([single.leftOut, readFileSync(program, "utf8")]).toEqual([
      [],
      expect.stringMatching(
        /domain: "http:\/\/localhost:\*"[^]*domain: "https:\/\/\*\.vercel\.app"[^]*domain: "myapp:\/\/callback"/,
      ),
    ]);
    const whole = await importProject({ project: "prj-demo", out, program, whitelist: true, force: true });
    expect([whole.leftOut, readFileSync(program, "utf8")]).toEqual([
      [],
      expect.stringMatching(
        /domains: \[\s*"http:\/\/localhost:\*",\s*"https:\/\/\*\.vercel\.app",\s*"myapp:\/\/callback",?\s*\]/,
      ),
    ]);
    await service.edit({ kind: "domain", create: { domain: "javascript://x" } });
    const { leftOut } = await importProject({ project: "prj-demo", out, program, force: true });
    expect(leftOut).toMatchObject([{ describe: "redirect domain javascript://x" }]);
  } finally {
    rmSync(folder, { recursive: true });
    await service.emulator.close();
  }
});
