import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { run } from "../../lib/exec.mjs";
import { progress, say } from "../../lib/log.mjs";
import { CLI_VERSION } from "./place.mjs";

const OFFICIAL = "https://get.pulumi.com/releases/sdk";
const FETCH_FILE = join(dirname(fileURLToPath(import.meta.url)), "fetchFile.mjs");

/** What Pulumi's archives call the processors that Node names. @type {Record<string, string>} */
const PROCESSORS = { x64: "x64", arm64: "arm64" };

/**
 * Gets the official release archive, checks its checksum and unpacks it.
 * @param {string} work a folder to work in; the programs end up in its `bin`
 * @param {string} node the Node to download with
 * @param {NodeJS.ProcessEnv} env `PULUMI_SVC_RELEASES_URL` names a mirror
 * @returns {Promise<string | undefined>} why it could not be done
 */
export async function download(work, node, env) {
  const processor = PROCESSORS[process.arch];
  if (!processor) return `there is no official archive for ${process.arch}`;
  const site = env.PULUMI_SVC_RELEASES_URL ?? OFFICIAL;
  const archive = `pulumi-v${CLI_VERSION}-${process.platform}-${processor}.tar.gz`;
  const sums = `pulumi-${CLI_VERSION}-checksums.txt`;
  say(`   downloading ${site}/${archive}: about 150 MB; gives up after 5 s when the site does not answer`);

  // The small file first: it tells at once whether the site is there.
  for (const name of [sums, archive]) {
    const failure = await fetchFile(`${site}/${name}`, join(work, name), node, env);
    if (failure) return failure;
  }
  const expected = checksumOf(archive, readFileSync(join(work, sums), "utf8"));
  const actual = await sha256(join(work, archive));
  if (expected !== actual) return `the checksum of ${archive} is ${actual}, and the site's list says ${expected}`;

  const { code, output } = await run("tar", ["-xzf", join(work, archive), "-C", work], { env });
  const unpacked = join(work, "pulumi");
  if (code !== 0 || !existsSync(unpacked)) return `${archive} could not be unpacked: ${output.trim()}`;
  // The archive holds one folder, `pulumi`, with the programs in it (older ones: in a `bin` in it).
  const programs = readdirSync(unpacked).includes("bin") ? join(unpacked, "bin") : unpacked;
  for (const name of readdirSync(programs)) renameSync(join(programs, name), join(work, "bin", name));
  return undefined;
}

/**
 * @param {string} url
 * @param {string} file
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>}
 */
async function fetchFile(url, file, node, env) {
  const stop = progress((elapsed) => `still downloading, ${elapsed}`);
  const { code, stderr } = await run(node, [FETCH_FILE, url, file], { env: { ...env, NODE_USE_ENV_PROXY: "1" } });
  stop();
  return code === 0 ? undefined : `${url}: ${stderr.trim()}`;
}

/**
 * @public for the tests
 * @param {string} name
 * @param {string} list lines of `<sha256>  <file>`
 */
export function checksumOf(name, list) {
  const line = list.split("\n").find((candidate) => candidate.trim().split(/\s+/)[1] === name);
  return line?.trim().split(/\s+/)[0] ?? "nothing about it";
}

/** @param {string} file */
async function sha256(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
