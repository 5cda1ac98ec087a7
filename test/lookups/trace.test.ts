import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { start } from "../support/emulator";
import { mockEngine } from "../support/mockedEngine";

beforeAll(() => mockEngine());

test("with SVC_LOG=debug a program shows the requests of its look-ups on standard error", async () => {
  const emulator = await start({ apiKey: "canary-key" });
  pulumi.runtime.setAllConfig({ "svc:apiKey": "canary-key", "svc:baseUrl": emulator.baseUrl });
  const lines: string[] = [];
  const stderr = jest.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  process.env["SVC_LOG"] = "debug";
  try {
    await svc.getComputeEndpoints({ projectId: "prj-demo" });
  } finally {
    Reflect.deleteProperty(process.env, "SVC_LOG");
    stderr.mockRestore();
    pulumi.runtime.setAllConfig({});
  }
  expect(lines).toEqual([
    expect.stringMatching(/^pulumi-svc: GET \/projects\/\{project_id\}\/endpoints -> 200, \d+ ms, attempt 1\n$/),
  ]);
});
