import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKey } from "../../../src/contract/apiKey";
import { fromProgram } from "../../../src/cli/stack/configuration";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "configuration-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const pathFrom = (at: string): string | undefined =>
  fromProgram(join(folder, at), (name) => (name === "apiKeyFile" ? " keys/prod " : "as it is"))("apiKeyFile");

test("the path of a key begins at the folder of Pulumi.yaml, wherever a command runs", () => {
  mkdirSync(join(folder, "app", "src"), { recursive: true });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\nmain: app\n");
  for (const at of [".", "app", "app/src"]) expect(pathFrom(at)).toBe(join(folder, "keys", "prod"));
  expect(fromProgram(folder, () => "as it is")("baseUrl")).toBe("as it is");
});

test("the path of a key begins at the program, as for the provider, where that is outside of the project", () => {
  for (const name of ["project", "app"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "project", "Pulumi.yaml"), "name: proj\nruntime: nodejs\nmain: ../app\n");
  expect(pathFrom("project")).toBe(join(folder, "app", "keys", "prod"));
});

test("what is no path, but the value of a variable, stays as it is, and is refused without being shown", () => {
  process.env["SVC_TEST_KEY"] = "canary-key";
  try {
    const read = fromProgram(folder, (name) => (name === "apiKeyFile" ? "canary-key" : undefined));
    expect(read("apiKeyFile")).toBe("canary-key");
    const { problem } = findKey(read);
    expect(problem).toMatch(/^svc:apiKeyFile .* must be the path of a file, not the value of a variable/);
    expect(problem).not.toContain("canary");
  } finally {
    delete process.env["SVC_TEST_KEY"];
  }
});
