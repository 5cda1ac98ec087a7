import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importProject } from "../../../src/cli/import/importProject";
import { api, DEMO, integrate } from "../../support/emulator";
import { Service } from "../../support/service";

const before = { ...process.env };
afterEach(() => {
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
