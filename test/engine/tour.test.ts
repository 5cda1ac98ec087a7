import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { api, control, records } from "../support/emulator";
import { LONGEST_BLOCK_MS, packInto, Reader } from "../support/reader";

jest.setTimeout(10 * LONGEST_BLOCK_MS);

const INSTALL = "npm install pulumi-svc @pulumi/pulumi\n";

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-tour-"));
/** Installs once, for both tests. */
const reader = new Reader(folder);
afterEach(() => reader.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a reader of README.md gets from nothing to a first up without a warning, and sees what docs/tour.md shows from there", async () => {
  const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
  expect(start).toMatch(/^## From nothing/);
  const before = codeBlocks("README.md", start);
  // Uses the package built here instead of the registry's. Everything else is as for a reader.
  const replaced = new Map([[INSTALL, INSTALL.replace("pulumi-svc", packInto(folder))]]);
  const said = await reader.follow([...before, ...codeBlocks("docs/tour.md")], "svc-start", replaced);
  const [first = ""] = said.split("unchanged");
  expect(first).toContain("+ 6 created");
  expect(first).not.toMatch(/\bpulumi\b.*warning:/i);
  expect(said).not.toMatch(/entry point|Deprecat/i);
  expect(readFileSync(join(reader.folder, "svc-start", "index.ts"), "utf8")).toContain("max: 4 }");
});

// Begins with what the first test has installed.
test("one terminal is enough, with the command of README.md: the file keeps what was made for the next command", async () => {
  const [, command = ""] =
    /`(npx pulumi-svc emulator --data [^`]*)`/.exec(textOf("README.md").replaceAll("\n", " ")) ?? [];
  expect(command).toContain('--exec "pulumi up --yes"');
  const terminal = reader.terminal("svc-start");
  const type = async (script: string): Promise<string> => {
    const { code, output } = await terminal.run(script);
    expect([code, output]).toEqual([0, expect.anything()]);
    return output;
  };
  // In the order of README.md: the address is that of an emulator in another terminal, which does not run.
  await type(`export SVC_BASE_URL=http://127.0.0.1:9/api/v2 SVC_API_KEY=test-key
    export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=start
    pulumi stack init one`);
  expect(await type(command)).toContain("+ 6 created");
  expect(await type(command)).toContain("6 unchanged");
  expect(await type(command.replace("pulumi up", "npx pulumi-svc drift --stack one #"))).toMatch(/no drift/i);
  expect(await type(command.replace("pulumi up", "pulumi destroy"))).toContain("- 6 deleted");
  const kept = readFileSync(join(reader.folder, "svc-start", "emulator.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ projects: [{ id: "prj-demo", integrations: [] }] });
});

/** Three stacks read their values from their configuration. */
const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.require("projectId");

const group = new svc.ComputeGroup("db", {
  projectId,
  branchId: config.require("branchId"),
  primary: { size: config.requireNumber("size") },
  replicas: [{ key: "reports", size: 1 }],
});
const auth = new svc.ProjectAuth("auth", {
  projectId,
  oauth: { google: { clientId: "shop", clientSecret: svc.fromEnv("GOOGLE_SECRET") } },
  redirectDomains: ["https://app.example.com"],
  deletionProtection: config.getBoolean("isProtected") ?? false,
});
export const host = group.primary.host;
export const jwksUrl = auth.integration.jwksUrl;
`;
const GOOGLE_SECRET = "canary-of-the-month";
const KEYS = { work: "key-of-the-work-account", shop: "key-of-the-shop-account" };
const STACKS = ["dev", "staging", "prod"] as const;

// Begins with what the first test has installed.
test("a month of a team: three stacks, two accounts, and what people do by hand", async () => {
  const terminal = reader.terminal("shop");
  const program = join(reader.folder, "shop", "index.ts");
  let log = "";
  /** The typed command, and its exit code. */
  const type = async (script: string, code: number | "failed" = 0): Promise<string> => {
    const { code: ended, output } = await terminal.run(script);
    log += output;
    // Neither a success nor one of our codes.
    if (code === "failed" ? ![1, 255].includes(ended) : ended !== code)
      throw new Error(`ended with ${ended} and not with ${code}:\n${script}\n${output}`);
    return output;
  };

  // The first day: a folder with what the tour has installed, and two accounts of the service. Faster, as
  // docs/performance.md has it.
  await type(`export NODE_COMPILE_CACHE="$HOME/compiled"
    mv ../svc-start/package.json ../svc-start/package-lock.json ../svc-start/node_modules .
    npx pulumi-svc init --yes --name shop`);
  writeFileSync(program, PROGRAM);
  const emulators = Object.fromEntries(
    await Promise.all(
      Object.entries(KEYS).map(async ([account, apiKey]) => {
        const projects = account === "work" ? "--project prj-dev --project prj-staging" : "--project prj-prod";
        const start = `npx pulumi-svc emulator --port 0 --activation-ms 50 ${projects}`;
        const said = await reader.terminal("shop").until(`SVC_EMULATOR_API_KEY=${apiKey} ${start}`, "API key");
        const [, url = ""] = /listening on (http:\S+)\/api\/v2/.exec(said) ?? [];
        return [account, { url, baseUrl: `${url}/api/v2`, apiKey }] as const;
      }),
    ),
  );
  const { work, shop } = emulators;
  if (work === undefined || shop === undefined) throw new Error("an emulator is missing");
  /** Somebody changes something by hand. */
  const byHand = async (account: typeof work, edit: object): Promise<void> => {
    expect(await control(account.url, "POST", "/edit", edit)).toMatchObject({ status: 200 });
  };
  const held = async (): Promise<unknown[]> =>
    Promise.all([work, shop].map(async ({ url }) => (await control(url, "GET", "/state")).body["projects"]));
  const edit = (from: string, to: string): void => {
    const source = readFileSync(program, "utf8");
    expect(source).toContain(from);
    writeFileSync(program, source.replace(from, to));
  };
  const endpoints = async (account: typeof work, project: string) =>
    records((await api(account, "GET", `/projects/${project}/endpoints`)).body, "endpoints");
  const before = await held();
  await type(`export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=month
    export WORK_KEY=${work.apiKey} SHOP_KEY=${shop.apiKey} GOOGLE_SECRET=${GOOGLE_SECRET}`);
  for (const stack of STACKS) {
    const [account, name] = stack === "prod" ? [shop, "SHOP_KEY"] : [work, "WORK_KEY"];
    await type(`pulumi stack init ${stack}
      pulumi config set-all --plaintext svc:baseUrl=${account.baseUrl} --plaintext svc:apiKeyEnv=${name} \\
        --plaintext projectId=prj-${stack} --plaintext branchId=br-dev-prj-${stack} --plaintext size=1`);
    expect(await type(`pulumi up --yes --skip-preview --stack ${stack}`)).toContain("+ 8 created");
    // From here on the types are checked where the program has changed.
    await type("export PULUMI_NODEJS_TRANSPILE_ONLY=true");
  }

  // The second week: a larger size, first in the plan of a pull request.
  await type("pulumi config set size 2 --stack dev");
  expect(await type("SVC_STRICT_PLAN=1 pulumi preview --stack dev")).toMatch(
    /warning: a change of "size" restarts compute ep-\S+ \("db-primary"\)/,
  );
  expect(await type("pulumi up --yes --skip-preview --stack dev")).toContain("~ 1 updated");

  // A colleague resizes the primary, which has a replica and dependent outputs: that is repaired.
  const [primary] = (await endpoints(work, "prj-dev")).filter(
    ({ type: kind, branch_id }) => kind === "read_write" && branch_id === "br-dev-prj-dev",
  );
  const id = String(primary?.["id"]);
  const resized = { kind: "endpoint", project_id: "prj-dev", id };
  await byHand(work, { ...resized, set: { autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 } });
  await byHand(work, { kind: "domain", project_id: "prj-dev", create: { domain: "https://odd.example.com" } });
  // All stacks in one look.
  const all = STACKS.map((stack) => `--stack ${stack}`).join(" ");
  const found = await type(`npx pulumi-svc drift --unmanaged ${all}`, 7);
  expect(found).toMatch(/ComputeEndpoint db-primary of stack dev .* changed/);
  expect(found).toContain("https://odd.example.com");
  // The other stacks have not drifted since their first `up`, and nothing else of this one has.
  expect(found.match(/^.* of stack \w+ .*$/gm)).toHaveLength(1);
  expect(await type("npx pulumi-svc drift --repair --yes --stack dev")).toContain("repaired");
  expect(await type(`npx pulumi-svc drift ${all}`)).toMatch(/no drift/i);
  await byHand(work, { kind: "domain", project_id: "prj-dev", id: "https://odd.example.com", delete: true });

  // The third week: the shop's key is rotated. The state knows its name alone.
  expect((await control(shop.url, "POST", "/key", { api_key: "rotated-key-of-the-shop" })).status).toBe(204);
  expect(await type("pulumi preview --refresh --stack prod", "failed")).toContain("SHOP_KEY");
  await type("export SHOP_KEY=rotated-key-of-the-shop");
  expect(await type("pulumi preview --refresh --expect-no-changes --stack prod")).toContain("8 unchanged");

  // What a colleague has created is adopted with the steps that the command prints. Nothing is deleted.
  const made = { branch_id: "br-test-prj-dev", type: "read_write" };
  expect((await api(work, "POST", "/projects/prj-dev/endpoints", { endpoint: made })).status).toBe(201);
  await type("pulumi stack select dev");
  const steps = await type("npx pulumi-svc import --project prj-dev");
  expect(steps).toContain('# add to index.ts: import "./imported";');
  const line = 'import "./imported";';
  edit("\nconst config", `\n${line}\n\nconst config`);
  const [, command = ""] = /^ +(pulumi import --file \S+.*--yes)/m.exec(steps) ?? [];
  expect(await type(command)).toMatch(/= \d+ imported/);
  expect(await type("PULUMI_NODEJS_TRANSPILE_ONLY=false pulumi up --yes --skip-preview")).not.toMatch(
    /deleted|replaced/,
  );
  expect(await type("pulumi preview --expect-no-changes")).not.toMatch(/delete/);

  // The fourth week: the branch changes. The compute keeps its host.
  const host = await type("pulumi stack output host --stack staging");
  await type("pulumi config set branchId br-none --stack staging");
  expect(await type("SVC_STRICT_PLAN=1 pulumi preview --stack staging", "failed")).toContain("br-none");
  await type("pulumi config set branchId br-test-prj-staging --stack staging");
  expect(await type("SVC_STRICT_PLAN=1 pulumi up --yes --stack staging")).toContain("~ 2 updated");
  expect(await type("pulumi stack output host --stack staging")).toBe(host);

  // Nobody deletes the shop's sign-in by mistake.
  await type("pulumi config set isProtected true --stack prod");
  expect(await type("pulumi up --yes --skip-preview --stack prod")).toContain("~ 1 updated");
  expect(await type("pulumi destroy --yes --stack prod", "failed")).toMatch(/auth.*protect/s);
  await type("pulumi config set isProtected false --stack prod");
  expect(await type("pulumi up --yes --skip-preview --stack prod")).toContain("~ 1 updated");

  // The end: everything is deleted, and the service is as it was, except for what the colleague created, which the
  // stack owns now.
  for (const stack of STACKS)
    expect(await type(`pulumi destroy --yes --skip-preview --stack ${stack}`)).toMatch(/- \d+ deleted/);
  // The import took over all that its project had; the computes of the others are as they were.
  const left = (await held()).flatMap((projects) => records({ projects }, "projects"));
  const ids = (project: (typeof left)[number]) => records(project, "endpoints").map((one) => one["id"]);
  const first = before.flatMap((projects) => records({ projects }, "projects"));
  expect(left.map((project) => [project["id"], ids(project)])).toEqual(
    first.map((project) => [project["id"], project["id"] === "prj-dev" ? [] : ids(project)]),
  );
  for (const project of left)
    expect(project).toMatchObject({ integrations: [], oauth_providers: [], domains: [], users: [] });
  // No secret was shown in between, or is in a file.
  const written = readdirSync(join(reader.folder, "shop"), { recursive: true, encoding: "utf8" })
    .filter((file) => !file.startsWith("node_modules"))
    .map((file) => join(reader.folder, "shop", file))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "utf8"));
  for (const secret of [GOOGLE_SECRET, ...Object.values(KEYS)])
    for (const text of [log, ...written]) expect(text).not.toContain(secret);
});
