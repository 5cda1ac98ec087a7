import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(__dirname, "..");

/** The modules that a fresh Node process holds at its end, after this text, as a program would write it. */
function loadedBy(text: string): string[] {
  expect(existsSync(join(ROOT, "dist", "index.js"))).toBe(true);
  const script = `process.on("exit", () => console.log(JSON.stringify(Object.keys(require.cache)))); ${text}`;
  return JSON.parse(execFileSync(process.execPath, ["-e", script], { cwd: ROOT, encoding: "utf8" })) as string[];
}

const packages = (modules: string[]): Set<string> =>
  new Set(modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));

test.each(["pulumi-svc", "pulumi-svc/native"])("importing %s loads neither axios nor zod nor the emulator", (entry) => {
  const modules = loadedBy(`require("${entry}")`);
  const loaded = packages(modules);
  expect(loaded).toContain("@pulumi/pulumi");
  for (const name of ["axios", "zod", "hono", "@hono/node-server", "commander"]) expect(loaded).not.toContain(name);
  expect(
    modules.filter((path) =>
      /dist\/(client\/|host\/(?!errors\.js)|emulator\/|cli\/)|dist\/resources\/\w+\/(?!\w+Declaration\.js)[a-z]/.test(
        path,
      ),
    ),
  ).toEqual([]);
});

test("the provider side, by contrast, loads zod and the client, so that the test above can fail", () => {
  const modules = loadedBy('require("pulumi-svc/provider")');
  expect(packages(modules)).toContain("zod");
  expect(modules.filter((path) => /dist\/client\//.test(path))).not.toEqual([]);
});

test("axios comes with the first request: a plan without a refresh sends none", () => {
  expect(packages(loadedBy('require("pulumi-svc/provider").load("ComputeEndpoint")'))).not.toContain("axios");
});

const DEPLOYMENT = 'require("pulumi-svc"); require("pulumi-svc/provider"); require("./dist/client"); require("axios")';

test.each([
  ["a deployment", DEPLOYMENT],
  ["an emulator without flags", 'require("pulumi-svc/emulator").startEmulator().then((emulator) => emulator.close())'],
])("%s loads none of the optional peers", (_what, text) => {
  const { peerDependenciesMeta } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    peerDependenciesMeta: Record<string, object>;
  };
  const names = Object.keys(peerDependenciesMeta);
  expect(names).toContain("nodemailer");
  const loaded = packages(loadedBy(text));
  for (const name of names) expect(loaded).not.toContain(name);
});

test("a deployment loads no part of the emulator", () => {
  const modules = loadedBy(DEPLOYMENT);
  expect(modules.filter((path) => /dist\/(emulator|cli)\//.test(path))).toEqual([]);
  for (const name of ["hono", "@hono/node-server", "commander"]) expect(packages(modules)).not.toContain(name);
});
