import { InvalidArgumentError, type Command } from "commander";
import { z } from "zod";
import { findKey, keySource } from "../contract/apiKey";
import { isLoopback } from "../contract/loopback";
import { exitCodes, projectOption } from "./options";

const DEFAULT_URL = "http://127.0.0.1:8787";
const LONGEST_MS = 30_000;

const KEYS = `
An emulator on a network address needs its key: in SVC_EMULATOR_API_KEY, or, where its address is in SVC_BASE_URL, in
SVC_API_KEY or in the file that SVC_API_KEY_FILE names.
`;

interface TokenFlags {
  readonly user?: string;
  readonly project?: string;
  readonly url?: string;
  readonly expiresIn?: number;
  readonly claims?: object;
}

const seconds = (text: string): number => {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of seconds.");
};

/** A JWT; its signature may be empty. The token is printed to a shell or a terminal. */
const signedAnswer = z.object({ token: z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]*$/) });

const jsonObject = (text: string): object => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new InvalidArgumentError('It must be a JSON object, such as {"role": "admin"}.');
  }
};

/** `pulumi-svc emulator token`: prints only a token, for use in `$(…)`. */
export function addTokenCommand(emulator: Command): void {
  emulator
    .command("token")
    .description("Print a signed token for a user of a running emulator")
    .option("--user <user>", "id or e-mail address of the user (default: the only one)")
    .addOption(projectOption("the project (default: the only one with an auth integration)"))
    .option("--url <url>", `address of the emulator (default: that of SVC_BASE_URL, else ${DEFAULT_URL})`)
    .option("--expires-in <seconds>", "how long it is valid; 0 or less: it has expired (default: 3600)", seconds)
    .option("--claims <json>", "additional claims; null leaves one out", jsonObject)
    .addHelpText("after", KEYS + exitCodes("the token was printed"))
    .action(async (flags: TokenFlags) => {
      process.stdout.write(`${await token(flags)}\n`);
    });
}

async function token({ user, project, url, expiresIn, claims }: TokenFlags): Promise<string> {
  const { origin, apiKey } = addressOf(url);
  // Loaded on demand, to keep the other commands fast. It takes the route of every other request, also through a proxy.
  const { Client, ProxyError, SvcError } = await import("../client/index.js");
  const emulator = new Client({ baseUrl: origin, apiKey, mutationAttemptTimeoutMs: LONGEST_MS });
  const body = { project_id: project, user, expires_in: expiresIn, claims };
  const request = { method: "POST", template: "/_emulator/tokens", params: {}, body } as const;
  const { status, text } = await emulator.probe(request).catch((error: unknown) => {
    if (error instanceof ProxyError) throw error;
    const reason = error instanceof SvcError && error.reason !== undefined ? ` (${error.reason})` : "";
    const words = `no emulator answers at ${origin}${reason}`;
    throw new Error(`${words}: start one with \`npx pulumi-svc emulator\`, or give its address with --url`);
  });
  const answer = jsonOf(text);
  const signed = signedAnswer.safeParse(answer);
  if (status < 300 && signed.success) return signed.data.token;
  const refused = z.object({ request_id: z.string(), message: z.string() }).safeParse(answer);
  if (!refused.success) throw new Error(`${origin} is not an emulator that signs tokens (status ${status})`);
  const hint = status === 401 ? ". Set its key in SVC_EMULATOR_API_KEY" : "";
  throw new Error(`the emulator at ${origin} signed no token: ${refused.data.message}${hint}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The key from the environment, found as in every other command. An emulator on a loopback address needs no key. */
function keyOfEnvironment(): string | undefined {
  const nothingElse = (): undefined => undefined;
  if (keySource(nothingElse) === undefined) return undefined;
  const { key, problem } = findKey(nothingElse);
  if (problem !== undefined) throw new Error(problem);
  return key?.apiKey;
}

/**
 * The emulator's address and key. An emulator on a network address requires one. SVC_API_KEY and SVC_API_KEY_FILE
 * belong to SVC_BASE_URL, and their key is sent nowhere else.
 */
function addressOf(given: string | undefined): { origin: string; apiKey: string } {
  const { SVC_BASE_URL, SVC_EMULATOR_API_KEY, SVC_ALLOW_HTTP } = process.env;
  const [address = "", name] = given === undefined ? [SVC_BASE_URL || DEFAULT_URL, "SVC_BASE_URL"] : [given, "--url"];
  // Not repeated in the message: it may contain a password.
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new Error(`${name} must be an address that begins with http:// or https://`);
  }
  const { origin, protocol, hostname } = new URL(address);
  const key = SVC_EMULATOR_API_KEY || (given === undefined && SVC_BASE_URL ? keyOfEnvironment() : undefined);
  if (!key) return { origin, apiKey: "" };
  const isAllowed = SVC_ALLOW_HTTP === "1" || SVC_ALLOW_HTTP === "true";
  if (protocol === "http:" && !isLoopback(hostname) && !isAllowed) {
    throw new Error(
      `${name} begins with http://, which would send the key unencrypted to another host. For an emulator in another container, set SVC_ALLOW_HTTP=1`,
    );
  }
  return { origin, apiKey: key };
}
