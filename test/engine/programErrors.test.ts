import { Stack } from "../support/Stack";

/** A mistake in a program is said in words: the lines of this package in a stack trace would only hide them. */

const COMPUTE = `{ projectId: "prj-demo", branchId: "br-dev" }`;

/** What the native plugin allows, and a program of its own import does not do. */
const ofDynamicProtocol = (row: readonly [program: string, words: string]): boolean =>
  process.env["PULUMI_SVC_DOOR"] !== "native" || !/import: 'x'|svc\/native/.test(row[0]);

let stack: Stack;
beforeAll(async () => (stack = await Stack.create({ program: "" })));

const MISTAKES: readonly (readonly [program: string, words: string])[] = [
  ["svc.fromEnv(undefined);", "fromEnv: must be the name of an environment variable"],
  ["svc.fromFile('');", "fromFile: must be the path of a file, not its content"],
  ["new svc.ComputeEndpoint();", "ComputeEndpoint: the name of the resource, the first argument, is missing."],
  [`new svc.ComputeEndpoint('', ${COMPUTE});`, "the first argument, must be a string that is not empty."],
  [`new svc.ComputeEndpoint(5, ${COMPUTE});`, "the first argument, must be a string, not a number."],
  ["svc.ComputeEndpoint.get();", "ComputeEndpoint: the name of the resource, the first argument, is missing."],
  ["new svc.Provider();", "Provider: the name of the resource, the first argument, is missing."],
  ["new svc.ComputeGroup();", "ComputeGroup: the name of the resource, the first argument, is missing."],
  ["new svc.ProjectAuth();", "ProjectAuth: the name of the resource, the first argument, is missing."],
  [
    `new svc.ComputeEndpoint('api', ${COMPUTE}, { ignoreChanges: "size" });`,
    'ComputeEndpoint "api": the option "ignoreChanges" must be a list of paths, not a string.',
  ],
  [
    `new svc.ComputeEndpoint('api', ${COMPUTE}, { replaceOnChanges: 5 });`,
    'the option "replaceOnChanges" must be a list of paths, not a number.',
  ],
  ["new svc.ComputeEndpoint('api');", 'ComputeEndpoint "api": the arguments are missing.'],
  ["new svc.ComputeEndpoint('api', 5);", 'ComputeEndpoint "api": the arguments must be an object, not a number.'],
  [`new svc.ComputeEndpoint('api', ${COMPUTE}, 5);`, 'ComputeEndpoint "api": the options must be an object'],
  [`new svc.ComputeEndpoint('api', ${COMPUTE}, { id: '' });`, "the id to look up must be a string that is not empty."],
  [`new svc.ComputeEndpoint('api', ${COMPUTE}, { import: 'x' });`, 'the option "import" does not work'],
  [
    `new svc.ComputeEndpoint('api', ${COMPUTE}, { customTimeouts: { create: "10 minutes" } });`,
    'customTimeouts: "10 minutes" is not a duration',
  ],
  ["new svc.Provider('other', { apiKey: undefined });", 'Provider "other": apiKey'],
  ["new svc.Provider('other', { apiKey: pulumi.output(undefined) });", 'Provider "other": apiKey'],
  ["new svc.ComputeGroup('group', { projectid: 'prj-demo' });", 'ComputeGroup "group": projectid: unknown property'],
  ["new svc.ProjectAuth('auth', { projectId: 'prj-demo' }, 5);", 'ProjectAuth "auth": the options must be an object'],
  ["new svc.ProjectAuth('auth', { projectId: 'prj-demo' }, { id: 'x' });", 'the option "id" looks up one resource'],
  ["svc.connectionUri({ host: 'h' });", "connectionUri: database: is required"],
  ["pulumi.output(1).apply(() => svc.connectionUri({ host: 'h' }));", "connectionUri: database: is required"],
  ["svc.connectionUriOutput({ hots: 'h' });", "connectionUriOutput: hots: unknown property"],
  ["svc.maxConnections(17);", "17 CU is not a size of a compute"],
  ["svc.ramGb('2');", "a size must be a number of compute units (CU)"],
  ["svc.getBranches({});", "getBranches: projectId"],
  ["svc.getBranchesOutput({ project: 'p' });", "getBranches: project: unknown property"],
  [
    `new svc.ComputeEndpoint('api', ${COMPUTE}); require('pulumi-svc/native');`,
    "pulumi-svc/native: this program has already",
  ],
];

test.each(MISTAKES.filter(ofDynamicProtocol))("%s", async (program, words) => {
  stack.program(program);
  const { code, text } = await stack.preview();
  expect(code).not.toBe(0);
  expect(text).toContain(words);
  // The CLI's own last line is about the whole.
  expect(text).not.toMatch(/^\s+at |unhandled exception|\.js:\d+/m);
});

test("the option `id` beside arguments is a look-up, and the plan says so", async () => {
  const { service } = stack;
  const before = await service.state();
  stack.program(
    `new svc.ComputeEndpoint("api", ${COMPUTE}, { id: "prj-demo/ep-demo-main-10000001" });
new svc.ComputeEndpoint.get("seen", "prj-demo/ep-demo-main-10000001");`.replace(
      "new svc.ComputeEndpoint.get",
      "svc.ComputeEndpoint.get",
    ),
  );
  const { code, text } = await stack.preview();
  expect(code).toBe(0);
  expect(text).toContain(
    'warning: ComputeEndpoint "api": with the option "id" it is only looked up. Its arguments have no effect, and nothing is created, changed or deleted. ' +
      'Remove "id" to declare it; to look it up, use ComputeEndpoint.get("api", id)',
  );
  expect(text).not.toContain('"seen": with the option');
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.end(before);
});
