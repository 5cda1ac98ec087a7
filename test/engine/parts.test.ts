import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";

/** Runs that look at a part of the stack (docs/design/rules.md, 4 and 9). */

const integration = (name: string, more = ""): string =>
  `new svc.AuthIntegration("${name}", { projectId: "prj-demo"${more} });`;

const shown = async ({ service }: Stack): Promise<unknown[]> =>
  (await service.list("/projects/prj-demo/auth/integrations"))["data"] as unknown[];

/** A stack with two entries for one integration: that under the old name, and the one that has adopted it. */
async function withTwoEntries() {
  const stack = await Stack.create({ program: integration("old") });
  const start = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(integration("renamed", ", adopt: true"));
  const { urn } = await stack.resource("old");
  const up = await stack.up("--target", urn.replace(/::old$/, "::renamed"));
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toMatch(/\("renamed"\) was taken over: .*pulumi state delete/);
  return { stack, start };
}

test.each([
  ["up --target old", (old: string) => ["--target", old]],
  ["up --exclude renamed", (old: string) => ["--exclude", old.replace(/::old$/, "::renamed")]],
])("%s does not delete what the program declares under another name", async (_, options) => {
  const { stack, start } = await withTwoEntries();
  const before = await shown(stack);
  const { urn } = await stack.resource("old");
  const up = await stack.up(...options(urn));
  expect(up.code).not.toBe(0);
  expect(up.text).toContain(
    'it is not known whether "renamed" of this program manages the same object: the program declares it there, and this run has not looked at "renamed" (with --target or --exclude it may never do so)',
  );
  expect(up.text).toContain(`pulumi state delete '${urn}'`);
  expect(await shown(stack)).toEqual(before);

  expect(await stack.run("state", "delete", urn, "--yes")).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await shown(stack)).toEqual(before);
  await stack.finish(start);
});

test.each([
  ["up --target between", "between", (urn: string) => ["--target", urn]],
  ["up --exclude first", "first", (urn: string) => ["--exclude", urn]],
])(
  "%s does not take an entry that was renamed by an alias for the resource that has its former name",
  async (_, name, options) => {
    const stack = await Stack.create({ program: integration("first") });
    const start = await stack.service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program('new svc.AuthIntegration("between", { projectId: "prj-demo" }, { aliases: [{ name: "first" }] });');
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { urn } = await stack.resource("between");
    const first = urn.replace(/::between$/, "::first");
    stack.program(integration("first", ", adopt: true"));
    expect(await stack.up("--target", first)).toMatchObject({ code: 0 });
    const before = await shown(stack);

    // The entry still has the URN of before the alias in what a deletion gets.
    const up = await stack.up(...options(name === "first" ? first : urn));
    expect(up.code).not.toBe(0);
    expect(up.text).toContain('it is not known whether "first" of this program manages the same object');
    // Which would be the entry of the resource that manages it.
    expect(up.text).not.toContain(`pulumi state delete '${first}'`);
    expect(await shown(stack)).toEqual(before);

    expect(await stack.run("state", "delete", urn, "--yes")).toMatchObject({ code: 0 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await shown(stack)).toEqual(before);
    await stack.finish(start);
  },
);

test("up --target old deletes nothing either if it cannot hear what the program declares", async () => {
  const { stack, start } = await withTwoEntries();
  const before = await shown(stack);
  const { urn } = await stack.resource("old");
  const temporary = join(stack.folder, "tmp");
  mkdirSync(join(temporary, `pulumi-svc-${process.getuid?.()}`), { recursive: true, mode: 0o755 });
  stack.env["TMPDIR"] = temporary;
  const up = await stack.up("--target", urn);
  expect(up.code).not.toBe(0);
  expect(up.text).toMatch(
    /it is not known whether the program declares the same object under another name: .*chmod 700/,
  );
  expect(await shown(stack)).toEqual(before);

  delete stack.env["TMPDIR"];
  expect(await stack.run("state", "delete", urn, "--yes")).toMatchObject({ code: 0 });
  await stack.finish(start);
});

test("up for the whole program drops the old entry and leaves the object", async () => {
  const { stack, start } = await withTwoEntries();
  const before = await shown(stack);
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(await shown(stack)).toEqual(before);
  await stack.finish(start);
});

test("what leaves with its integration in a run of the whole program may have been renamed", async () => {
  const program = (databaseName: string, child: string): string =>
    `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${databaseName}" });\n${child}`;
  const domain = 'domain: "https://app.example.com"';
  const stack = await Stack.create({
    program: program("svcdb", `new svc.WhitelistDomain("old", { projectId: auth.projectId, ${domain} });`),
  });
  const start = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  // The program says at once what it declares, and registers it only after its integration.
  const renamed = `new svc.WhitelistDomain("renamed", { projectId: "prj-demo", ${domain}, adopt: true }, { dependsOn: auth });`;
  stack.program(program("other", renamed));
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { domains } = (await stack.service.list("/projects/prj-demo/auth/domains")) as { domains?: unknown[] };
  expect(domains).toEqual([expect.objectContaining({ domain: "https://app.example.com" })]);
  await stack.finish(start);
});

test("what is replaced along with another resource is deleted before it is looked at", async () => {
  const program = (databaseName: string): string => `
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${databaseName}" });
    const dev = { projectId: "prj-demo", branchId: "br-dev" };
    new svc.ComputeEndpoint("dev", dev, { replaceWith: [auth] });`;
  const stack = await Stack.create({ program: program("svcdb") });
  const start = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = (await stack.resource("dev")).id;
  stack.program(program("other"));
  const up = await stack.up("--skip-preview");
  expect(up).toMatchObject({ code: 0 });
  expect((await stack.resource("dev")).id).not.toBe(before);
  await stack.finish(start);
});

test("what is lost with an integration that a part of a run replaces is named, and the next refresh brings it back", async () => {
  const program = (databaseName: string): string => `
    new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${databaseName}" });
    new svc.OAuthProvider("apple", { projectId: "prj-demo", providerId: "apple", clientId: "app", clientSecret: "s-1" });
    new svc.WhitelistDomain("app", { projectId: "prj-demo", domain: "https://app.example.com" });
    new svc.AuthKeys("spare", { projectId: "prj-demo" });`;
  const stack = await Stack.create({ program: program("svcdb") });
  const start = await stack.service.state();
  // Children that name the project themselves wait for nothing.
  expect(await stack.up("--target", "**AuthIntegration::auth")).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });

  stack.program(program("other"));
  const { urn } = await stack.resource("auth");
  const part = await stack.up("--target", urn);
  expect(part).toMatchObject({ code: 0 });
  const [, named = ""] = /Of what this program declares, it takes (.*?): /.exec(part.text) ?? [];
  expect(named.split(", ").toSorted()).toEqual(['"app"', '"apple"', '"spare"']);

  const next = await stack.up("--refresh");
  expect(next).toMatchObject({ code: 0 });
  expect(next.text).toMatch(/OAuthProvider apple create/);
  expect(await stack.preview("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.finish(start);
});

test("in a run that goes on after an error, what the program has not declared stays", async () => {
  const program = (name: string, options = "{}"): string => `
    const other = new svc.Provider("other");
    const auth = new svc.AuthIntegration("${name}", { projectId: "prj-demo" }, ${options});
    auth.branchId.apply(() => new svc.ComputeEndpoint("dev", { projectId: "prj-demo", branchId: "br-dev" }, { provider: other }));`;
  const stack = await Stack.create({ program: program("old") });
  const start = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await stack.service.state();

  // An inline program, as here, ends when this fails. The engine deletes "old" and "dev".
  stack.program(program("renamed"));
  const { code, text } = await stack.up("--continue-on-error");
  expect(code).not.toBe(0);
  for (const name of ["old", "dev"])
    expect(text).toMatch(
      new RegExp(
        `Could not delete .* \\("${name}"\\): it is not known whether the program still declares it: "renamed" has`,
      ),
    );
  expect(await stack.service.state()).toEqual(before);

  stack.program(program("renamed", '{ aliases: [{ name: "old" }] }'));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.state()).toEqual(before);
  await stack.finish(start);
});
