import { readFileSync } from "node:fs";
import { join } from "node:path";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import { hashed } from "../../src/emulator/model/records";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

// What somebody changes of a secret by reference, in a program that `main` puts into another folder than the project's.

const VALUE = "canary-token-Wd4";
const BY_HAND = "canary-by-hand-Wd4";
const ROTATED = "canary-rotated-Wd4";
const PATH = 'settings.pgSettings["app.token"]';

const PROGRAM = `const svc = require("pulumi-svc");
new svc.ComputeEndpoint("api", {
  projectId: "prj-demo", branchId: "br-dev", size: 1,
  settings: { pgSettings: { work_mem: "64MB", "app.token": { fromFile: "run/token" } } },
});
`;

test("a setting by reference is told by --accept, and sent again by --repair, from the project's folder", async () => {
  const stack = await Stack.create({ program: "" });
  stack.write("Pulumi.yaml", "name: proj\nmain: app\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n");
  stack.write("app/index.js", PROGRAM);
  stack.write("app/package.json", '{ "name": "proj", "private": true }\n');
  stack.write("run/token", `${VALUE}\n`);
  stack.write("app/run/token", "of-the-program\n");
  expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
  const sent = async (): Promise<string> => JSON.stringify(await stack.service.requests());
  expect(await sent()).toContain(hashed(VALUE));

  const [, id] = (await stack.resource("api")).id.split("/");
  const settings = { pg_settings: { work_mem: "64MB", "app.token": BY_HAND } };
  await stack.service.edit({ kind: "endpoint", id, set: { settings } });
  const { code, report } = await drift(stack);
  expect(code).toBe(7);
  expect(report.drift).toMatchObject([
    {
      properties: [
        { path: PATH, declared: { fromFile: "run/token" }, found: "(another value: changed outside Pulumi)" },
      ],
    },
  ]);

  const accept = await svc(stack, ["drift", "--accept", "--force", "--json"]);
  expect(accept.code).toBe(7);
  expect(acceptSchema.parse(JSON.parse(accept.stdout)).left).toMatchObject([
    {
      path: PATH,
      code: null,
      reason: expect.stringMatching(/^it is a secret by reference\. Set the file run\/token /),
    },
  ]);
  expect(readFileSync(join(stack.folder, "program", "app", "index.js"), "utf8")).toBe(PROGRAM);

  // The value of now, as in `up`.
  stack.write("run/token", ROTATED);
  await stack.service.clearRequests();
  const repair = await svc(stack, ["drift", "--repair", "--yes"], { folder: "program/app" });
  expect([repair.code, repair.stderr]).toEqual([0, expect.any(String)]);
  expect(await sent()).toContain(hashed(ROTATED));
  expect((await drift(stack)).code).toBe(0);
  expect(await stack.run("preview", "--expect-no-changes")).toMatchObject({ code: 0 });

  await stack.run("stack", "export", "--show-secrets");
  expect(await stack.leaks([VALUE, BY_HAND, ROTATED])).toEqual([]);
});
