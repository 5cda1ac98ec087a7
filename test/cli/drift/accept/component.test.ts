/** What a component of this package creates: its arguments are edited. Which these are: test/components/origins.test.ts. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptDrift } from "../../../../src/cli/drift/accept/accept";
import type { AcceptResult } from "../../../../src/cli/drift/accept/result";
import { argumentsOf } from "../../../../src/cli/declarations";
import { StackState } from "../../../../src/cli/stack/state";
import { originsOf } from "../../../../src/components/origins";
import type { Properties } from "../../../../src/contract/hiddenKeys";
import { ownValue } from "../../../../src/contract/propertyPath";
import { typeToken } from "../../../../src/contract/pointer";
import { ROOT } from "../../../support/cli";
import { createdBy, planWith } from "../../../support/editedPrograms";
import { refreshedOf, type Refresh } from "../../../support/refreshes";

const IMPORT = 'import * as svc from "pulumi-svc";\n';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "accept-component-")));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Child = Pick<Refresh, "kind" | "name" | "found"> & { readonly declared?: Refresh["declared"] };

interface Scene {
  readonly program: string;
  readonly component: "ComputeGroup" | "ProjectAuth";
  readonly children: readonly Child[];
  /** The line of the program that the state has for the component. */
  readonly line?: number;
  readonly names?: readonly string[];
  readonly name?: string;
  readonly dryRun?: true;
}

/** The components of the tests are at the beginning of their line. */
async function accepted(scene: Scene): Promise<AcceptResult & { text: string }> {
  const { program, component, children, line, name = "own", names = [] } = scene;
  const type = `svc:components:${component}`;
  const parent = `urn:pulumi:dev::proj::${type}::${name}`;
  const stackTrace = [
    { sourcePosition: "project:///node_modules/pulumi-svc/src/resources/x/Kind.ts#1,1" },
    ...(line === undefined ? [{}] : [{ sourcePosition: `project:///index.ts#${line},1` }]),
  ];
  const all = children.map((one): [Refresh, string, string] => {
    const kind = one.kind ?? "ComputeEndpoint";
    const childType = `${type}$${typeToken(kind)}`;
    const declared = one.declared ?? { projectId: "prj-demo", branchId: "br-dev", size: 1 };
    const refresh = { ...one, kind, declared, id: `prj-demo/${one.name}`, differing: Object.keys(one.found ?? {}) };
    return [refresh, `urn:pulumi:dev::proj::${childType}::${one.name}`, kind];
  });
  const resources = all.flatMap(([refresh, urn]) =>
    refreshedOf(refresh).map((one) => ({ ...one, urn, drift: one.drift && { ...one.drift, urn } })),
  );
  const deployment = {
    resources: [
      { urn: parent, type },
      ...all.map(([refresh, urn]) => ({
        urn,
        type: typeToken(refresh.kind ?? "AuthKeys"),
        parent,
        id: refresh.id,
        stackTrace,
      })),
    ],
  };
  writeFileSync(join(folder, "index.ts"), program);
  const text = (): string => readFileSync(join(folder, "index.ts"), "utf8");
  /** What the component in the text gives to a child. */
  const argsOf = ({ name: child = "", kind = "ComputeEndpoint", declared }: Refresh) => {
    const normal = text().replace("https://A.example.com/", "https://a.example.com");
    const args = createdBy(normal).get(name) ?? {};
    const origins = originsOf(component, { name, args }, { kind, name: child }, argumentsOf(kind));
    const given = [...origins].map(([argument, at]) => [argument, at.reduce<unknown>(ownValue, args)]);
    return { ...declared, ...(Object.fromEntries(given) as Properties) };
  };
  const result = await acceptDrift(
    { resources, state: new StackState(JSON.stringify({ deployment })) },
    {
      names,
      folder,
      ignored: { name: "svc-drift.json", entries: [] },
      force: true,
      planned: () => Promise.resolve(planWith(all.map(([one, urn]) => [urn, argsOf(one)]))),
      others: () => Promise.resolve([]),
    },
  );
  return { ...result, text: text() };
}

const PLACE = 'projectId: "prj-demo", branchId: "br-dev"';
const group = (args: string): string => `${IMPORT}\nnew svc.ComputeGroup("own", { ${PLACE}, ${args} });\n`;
const told = ({ left }: AcceptResult) => left.map(({ name, path, reason, code }) => [name, path, reason, code]);

test.each([3, undefined])(
  "a compute of a group is edited in the arguments of the group, also one in a list, place %s",
  async (line) => {
    const before = group('primary: { size: 1 }, replicas: [{ size: 1 }, { key: "reports", size: 1, name: "reports" }]');
    const result = await accepted({
      ...(line !== undefined && { line }),
      program: before,
      component: "ComputeGroup",
      children: [
        { name: "own-primary", found: { size: 4 } },
        { name: "own-replica-0", found: { size: { min: 0.5, max: 2 } } },
        { name: "own-replica-reports", found: { size: 8, disabled: true } },
      ],
    });
    expect(told(result)).toEqual([]);
    expect(result.accepted.map(({ name, path, line: at }) => [name, path, at])).toEqual([
      ["own-primary", "size", 3],
      ["own-replica-0", "size", 3],
      ["own-replica-reports", "disabled", 3],
      ["own-replica-reports", "size", 3],
    ]);
    expect(result.text).toBe(
      group(
        'primary: { size: 4 }, replicas: [{ size: { min: 0.5, max: 2 } }, { key: "reports", size: 8, name: "reports", disabled: true }]',
      ),
    );
  },
);

test("an argument of several children is edited once where all of them differ in the same way, and reported otherwise", async () => {
  const before = group("primary: { size: 1 }, replicas: 2");
  const scene = { program: before, component: "ComputeGroup" } as const;
  const all = ["own-primary", "own-replica-0", "own-replica-1"];
  const alike = await accepted({ ...scene, children: all.map((name) => ({ name, found: { size: 4 } })) });
  expect([told(alike), alike.accepted.map(({ name }) => name)]).toEqual([[], all]);
  expect(alike.text).toBe(group("primary: { size: 4 }, replicas: 2"));

  const children = [
    { name: "own-primary", found: { size: 4 } },
    { name: "own-replica-0", found: { size: 8 } },
    { name: "own-replica-1" },
  ];
  const others = await accepted({ ...scene, children });
  expect(told(others)).toEqual([
    [
      "own-primary",
      "size",
      "several resources get the value from here, and they differ in different ways, or not at all",
      "size: 4",
    ],
    [
      "own-replica-0",
      "size",
      "several resources get the value from here, and they differ in different ways, or not at all",
      "size: 8",
    ],
  ]);
  expect(others.text).toBe(before);
  // Only one of those that differ alike was selected.
  const named = await accepted({
    ...scene,
    children: all.map((name) => ({ name, found: { size: 4 } })),
    names: ["own-primary"],
  });
  expect(told(named)).toEqual([
    [
      "own-primary",
      "size",
      'an edit here also changes the plan of "own-replica-0", the plan of "own-replica-1", so it was undone',
      "size: 4",
    ],
  ]);
  expect(named.text).toBe(before);
});

test("what the group sets itself, and what it does not get as literals, is reported", async () => {
  const scene = { component: "ComputeGroup" } as const;
  const declared = { projectId: "prj-demo", branchId: "br-dev", size: 1, name: "own-replica-0" };
  const named = await accepted({
    ...scene,
    program: group("primary: { size: 1 }, replicas: 1"),
    children: [{ name: "own-primary" }, { name: "own-replica-0", declared, found: { name: "theirs" } }],
  });
  expect(told(named)).toEqual([
    ["own-replica-0", "name", "no argument of the component declares it", 'name: "theirs"'],
  ]);
  const listed = await accepted({
    ...scene,
    program: `${IMPORT}const list: svc.GroupReplicaArgs[] = process.argv.map(() => ({ size: 1 }));\nnew svc.ComputeGroup("own", { ${PLACE}, primary: { size: 1 }, replicas: list });\n`,
    children: [
      { name: "own-primary", found: { size: 2 } },
      { name: "own-replica-0", found: { size: 4 } },
    ],
  });
  // The primary has no list.
  expect(listed.text).toContain("primary: { size: 2 }");
  expect(told(listed)).toEqual([["own-replica-0", "size", "no argument of the component declares it", "size: 4"]]);
});

test("a component in a loop is edited, and one of two of this name is reported", async () => {
  const children = [{ name: "own-primary", found: { size: 4 } }];
  const loop = await accepted({
    program: `${IMPORT}for (const _ of [1]) {\nnew svc.ComputeGroup("own", { ${PLACE}, primary: { size: 1 } });\n}\n`,
    component: "ComputeGroup",
    children,
    line: 3,
  });
  expect([told(loop), loop.text]).toEqual([[], expect.stringContaining("primary: { size: 4 }")]);
  const text = group("primary: { size: 1 }");
  const twice = await accepted({ program: text + text.replace(IMPORT, ""), component: "ComputeGroup", children });
  expect(told(twice)).toEqual([
    ["own-primary", "size", expect.stringMatching(/more than one `new ComputeGroup`/), "size: 4"],
  ]);
});

const auth = (more: string): string =>
  `${IMPORT}\nnew svc.ProjectAuth("own", {\n  projectId: "prj-demo",\n  databaseName: "svcdb",\n${more}});\n`;
const EMAIL =
  '  email: { type: "standard", host: "a.example.com", port: 25, username: "u", password: svc.fromEnv("P"), senderEmail: "a@example.com", senderName: "A" },\n';
const MAIL = {
  projectId: "prj-demo",
  ...{ type: "standard", host: "a.example.com", port: 25, username: "u", password: { fromEnv: "P" } },
  ...{ senderEmail: "a@example.com", senderName: "A" },
};

test("a ProjectAuth: the integration, the whole list of domains and the mail server", async () => {
  const domains = ["https://a.example.com", "https://b.example.com"];
  const before = auth(
    `  redirectDomains: ["https://A.example.com/", "https://b.example.com"],\n  exclusiveDomains: true,\n${EMAIL}`,
  );
  const result = await accepted({
    program: before,
    component: "ProjectAuth",
    line: 3,
    children: [
      {
        kind: "AuthIntegration",
        name: "own",
        declared: { projectId: "prj-demo", databaseName: "svcdb" },
        found: { databaseName: "other" },
      },
      {
        kind: "Whitelist",
        name: "own-domains",
        declared: { projectId: "prj-demo", domains },
        found: { domains: ["https://a.example.com", "https://c.example.com"] },
      },
      { kind: "EmailServer", name: "own-email", declared: MAIL, found: { host: "b.example.com", port: 587 } },
    ],
  });
  expect(told(result)).toEqual([]);
  expect(result.text).toBe(
    before
      .replace('"svcdb"', '"other"')
      .replace('"https://b.example.com"', '"https://c.example.com"')
      .replace('a.example.com", port: 25', 'b.example.com", port: 587'),
  );
});

test("the mail server of a ProjectAuth changes its form as a whole", async () => {
  const found = {
    type: "shared",
    host: null,
    port: null,
    username: null,
    password: null,
    senderEmail: null,
    senderName: null,
  };
  const result = await accepted({
    program: auth(EMAIL),
    component: "ProjectAuth",
    children: [
      { kind: "AuthIntegration", name: "own", declared: { projectId: "prj-demo" } },
      { kind: "EmailServer", name: "own-email", declared: MAIL, found },
    ],
  });
  expect(told(result)).toEqual([]);
  expect(result.text).toBe(auth('  email: { type: "shared" },\n'));
});

test("a list of domains that is left is reported under the name that the component has for it", async () => {
  const result = await accepted({
    program: auth("  redirectDomains: process.argv,\n  exclusiveDomains: true,\n"),
    component: "ProjectAuth",
    children: [
      {
        kind: "Whitelist",
        name: "own-domains",
        declared: { projectId: "prj-demo", domains: ["https://a.test"] },
        found: { domains: [] },
      },
    ],
  });
  expect(told(result)).toEqual([["own-domains", "domains", "the value is an expression", "redirectDomains: []"]]);
});
