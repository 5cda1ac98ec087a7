/** The plugin as the engine starts it, in the archive that users install. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, symlinkSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaRequest, type GetSchemaResponse } from "@pulumi/pulumi/proto/provider_pb";
import { fakeEngine } from "../support/fakeEngine";
import { ROOT } from "../support/cli";
import { packInto } from "../support/reader";

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-plugin-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the archive has an executable that answers, with the schema, and loads no more of the SDK than it needs", async () => {
  execFileSync("tar", ["xzf", packInto(folder), "-C", folder]);
  const plugin = join(folder, "package", "plugin");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  expect(statSync(join(plugin, "pulumi-resource-svc")).mode & 0o111).toBe(0o111);
  for (const file of ["pulumi-resource-svc.cmd", "PulumiPlugin.yaml", "package.json", "schema.json"])
    expect([file, existsSync(join(plugin, file))]).toEqual([file, true]);
  const engine = await fakeEngine((_request, reply) => reply(null));
  // It tells what it has loaded at its end.
  const told =
    "process.on('SIGTERM', () => { process.stderr.write(Object.keys(require.cache).join('\\n')); process.exit(); })";
  const child = spawn(process.execPath, [
    "-e",
    `${told}; process.argv[1] = ""; require(${JSON.stringify(join(plugin, "pulumi-resource-svc"))})`,
    engine.address,
  ]);
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const client = new ResourceProviderClient(`127.0.0.1:${port.toString().trim()}`, grpc.credentials.createInsecure());
    const response = await new Promise<GetSchemaResponse>((resolve, reject) =>
      client.getSchema(new GetSchemaRequest(), (error, found) => (error === null ? resolve(found) : reject(error))),
    );
    client.close();
    const schema = JSON.parse(response.getSchema()) as { name: string; resources: object };
    expect([schema.name, Object.keys(schema.resources)]).toEqual([
      "svc",
      expect.arrayContaining(["svc:index:Whitelist"]),
    ]);
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    child.kill("SIGTERM");
    await once(child, "close");
    const ofSdk = said.split("\n").filter((file) => /@pulumi[\\/]pulumi[\\/]/.test(file));
    expect(ofSdk.length).toBeGreaterThan(0);
    expect(ofSdk.filter((file) => !/[\\/]proto[\\/]/.test(file))).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    engine.close();
  }
});
