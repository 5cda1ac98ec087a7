import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSecret } from "../../src/contract/engineSecrets";

/**
 * What the CLI keeps in files, made and read without a process of it: `pulumi stack init dev`, a secret of `pulumi config set`,
 * `pulumi stack export`, with `--show-secrets`, too. Each of these costs it half a second of processor time.
 */

const STACK = join(".pulumi", "stacks", "proj", "dev.json");

/**
 * The key of the passphrase in cli.ts: the CLI derives it with this salt, in a million rounds at the start of each
 * command.
 */
const SALT = "c2FsdHlzYWw=";
const KEY = Buffer.from("22Ay5gty1HoKAupkR3FyzJGOG7enYiMjDHh8HGXjN5M=", "base64");

/** The provider of secrets from which the CLI gets `KEY` without these rounds: a Vault, at `startVault`. */
const VAULT = { url: "hashivault://tests", encryptedkey: Buffer.from("the key").toString("base64") };

/** The part of a Vault that answers these requests. Returns the settings by which the CLI finds it. */
export async function startVault(): Promise<{ settings: Record<string, string>; close: () => void }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: { plaintext: KEY.toString("base64") } }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // The address of a server that listens on a port.
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { settings: { VAULT_SERVER_URL: `http://127.0.0.1:${port}`, VAULT_SERVER_TOKEN: "none" }, close };
}

/** A secret in the form of Pulumi.dev.yaml. */
export function sealed(text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", KEY, nonce);
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `v1:${nonce.toString("base64")}:${data.toString("base64")}`;
}

/** What `sealed` has made, or the CLI. */
function opened(text: string): string {
  const [, nonce = "", data = ""] = text.split(":");
  const sealedData = Buffer.from(data, "base64");
  const decipher = createDecipheriv("aes-256-gcm", KEY, Buffer.from(nonce, "base64"));
  decipher.setAuthTag(sealedData.subarray(-16));
  return Buffer.concat([decipher.update(sealedData.subarray(0, -16)), decipher.final()]).toString("utf8");
}

/** A state that `exportedState` has read, with each secret as `shown` makes it of the JSON text that was encrypted. */
export function withSecrets(state: string, shown: (plaintext: string) => unknown): unknown {
  return JSON.parse(state, (_key, value: unknown) =>
    // The stored form of a secret.
    isSecret(value) ? shown(opened((value as { ciphertext: string }).ciphertext)) : value,
  );
}

/** The folders of a stack, none of which the CLI has seen yet. */
export interface Folders {
  readonly project: string;
  readonly backend: string;
  readonly home: string;
}

/** An empty stack `dev` of the project `proj`, selected. `passphrase`: its key comes from that. */
export function initStack({ project, backend, home }: Folders, passphrase: boolean): void {
  // The CLI recognizes the right passphrase by this encrypted text.
  const salt = `v1:${SALT}:${sealed("pulumi")}`;
  const { url, encryptedkey } = VAULT;
  const settings = passphrase
    ? `encryptionsalt: ${salt}\n`
    : `secretsprovider: ${url}\nencryptedkey: ${encryptedkey}\n`;
  write(join(project, "Pulumi.dev.yaml"), settings);
  write(join(backend, ".pulumi", "meta.yaml"), "version: 1\n");
  const latest = {
    manifest: { time: new Date().toISOString(), magic: "", version: "" },
    secrets_providers: passphrase ? { type: "passphrase", state: { salt } } : { type: "cloud", state: VAULT },
    metadata: {},
  };
  const checkpoint = { stack: "organization/proj/dev", latest };
  write(join(backend, STACK), JSON.stringify({ version: 3, checkpoint }));
  // As the CLI sees the folder that it runs in: without links.
  const path = createHash("sha1")
    .update(join(realpathSync(project), "Pulumi.yaml"))
    .digest("hex");
  const selection = { stacks: { [`file://${backend}`]: "organization/proj/dev" } };
  write(join(home, ".pulumi", "workspaces", `proj-${path}-workspace.json`), JSON.stringify(selection));
}

/** The state of `dev` as `pulumi stack export` writes it, secrets encrypted. Undefined: it has another name by now. */
export function exportedState(backend: string): string | undefined {
  const file = join(backend, STACK);
  if (!existsSync(file)) return undefined;
  const { version, checkpoint } = JSON.parse(readFileSync(file, "utf8")) as {
    version: number;
    checkpoint: { latest: unknown };
  };
  return JSON.stringify({ version, deployment: checkpoint.latest });
}

function write(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}
