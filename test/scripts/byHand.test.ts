import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, runProcess, temporaryFolder } from "../support/scripts";

/**
 * Possible names of a user's folder. If it were split at its spaces, or its quotes were read as a shell's, it would be
 * another folder.
 */
const NAME = `it's a "temporary" $HOME folder`;

async function environmentFile(settings: Record<string, string>): Promise<string> {
  const args = [JSON.stringify(settings)];
  return String((await call("tasks/quickstart.mts", "environmentFile", args, environment([]))).value);
}

/** The environment of a bash that has sourced the file, as a program that it starts sees it. */
async function sourced(file: string, caller: Record<string, string>): Promise<Record<string, string>> {
  const show = `${JSON.stringify(process.execPath)} -p 'JSON.stringify(process.env)'`;
  const env = environment([], caller);
  expect(await runProcess("bash", ["-n", file], { env })).toEqual({ code: 0, output: "" });
  const { code, output } = await runProcess("bash", ["-c", `source "$0" && ${show}`, file], { env });
  expect({ code, output }).toMatchObject({ code: 0 });
  return JSON.parse(output) as Record<string, string>; // printed by the line above
}

describe("what --keep leaves to be sourced", () => {
  test("sets each value as it is", async () => {
    const settings = { PULUMI_HOME: `/tmp/${NAME}/home`, PULUMI_CONFIG_PASSPHRASE: "`id`;\\", no_proxy: "a,::1" };
    const file = join(temporaryFolder(), "env.sh");
    writeFileSync(file, await environmentFile({ ...settings, PATH: `/opt/${NAME}:/bin` }));
    expect(await sourced(file, {})).toMatchObject({ ...settings, PATH: `/opt/${NAME}:/bin` });
  });

  test("takes the caller's own settings of Pulumi and of the service away", async () => {
    const file = join(temporaryFolder(), "env.sh");
    writeFileSync(file, await environmentFile({ PULUMI_HOME: "/srv/stack" }));
    const caller = {
      SVC_API_KEY: "caller's",
      SVC_BASE_URL: "http://x",
      PULUMI_ACCESS_TOKEN: "t",
      PULUMI_HOME: "/mine",
    };
    const seen = await sourced(file, { ...caller, MY_SVC_KEY: "kept" });
    expect(
      Object.keys(seen)
        .filter((name) => /SVC_|PULUMI_/.test(name))
        .sort(),
    ).toEqual(["MY_SVC_KEY", "PULUMI_HOME"]);
    expect(seen["PULUMI_HOME"]).toBe("/srv/stack");
  });
});

test("the commands that --keep prints work on the folder of the stack and on no other", async () => {
  const parent = temporaryFolder();
  const folder = join(parent, NAME);
  mkdirSync(folder);
  for (const word of NAME.split(/[ "']+/)) mkdirSync(join(parent, word), { recursive: true });
  const envFile = join(folder, "env.sh");
  const bin = temporaryFolder();
  for (const name of ["pulumi", "curl"]) fakeExecutable(bin, name, `echo "${name} $*"`);
  const path = String(environment([bin]).PATH);
  writeFileSync(envFile, await environmentFile({ PATH: path }));

  const args = [folder, envFile, "http://127.0.0.1:1/_emulator/state", 4711].map((arg) => JSON.stringify(arg));
  const { value } = await call("tasks/quickstart.mts", "commandsByHand", args, environment([]));
  const typed = ['kill() { echo "kill $*"; }', ...(value as string[])].join("\n"); // what the function says it answers with
  const { code, output } = await runProcess("bash", ["-e", "-c", typed], { env: environment([]), cwd: parent });
  expect({ code, output }).toEqual({
    code: 0,
    output: [
      "pulumi stack output",
      "pulumi preview --refresh --diff",
      "pulumi up",
      "curl http://127.0.0.1:1/_emulator/state",
      "pulumi destroy --yes",
      "pulumi stack rm --yes",
      "kill 4711",
      "",
    ].join("\n"),
  });
  expect(existsSync(folder)).toBe(false);
  for (const word of NAME.split(/[ "']+/)) expect(existsSync(join(parent, word))).toBe(true);
});
