import { isOutput, mustBe, objectProblems } from "./given";
import { shownAlone } from "./shownAlone";

export interface ConnectionUriOptions {
  /** The `host` of a compute. With `pooled`, its pooled form is used, if it is not one already. */
  readonly host: string;
  readonly database: string;
  readonly role: string;
  /** Secret, and part of the result. Wrap the result in `pulumi.secret`; `connectionUriOutput` does this itself. */
  readonly password?: string;
  /** Through the connection pooler (up to 10,000 client connections; docs/design/api.md, Compute sizes). @default false */
  readonly pooled?: boolean;
  /** @default 5432 */
  readonly port?: number;
  /**
   * With a gate, "verify-full" also names the file of the variable `SVC_POSTGRES_CA`, which the emulator sets with
   * `SVC_POSTGRES_GATE`. node-postgres verifies the server with "require", too.
   *
   * @default "require"; with a gate "disable", which every driver accepts there
   */
  readonly sslMode?: "disable" | "require" | "verify-full";
  /**
   * `host:port` of the gate of a local emulator with a Postgres, the address of all its computes. The compute is then
   * named in `options`. It has a port, so `port` cannot be given.
   *
   * @default the environment variable `SVC_POSTGRES_GATE`, which `pulumi-svc emulator --postgres --exec` sets
   */
  readonly gate?: string;
}

/** Set by the emulator. An explicit `gate` comes first. */
const GATE_VARIABLE = "SVC_POSTGRES_GATE";
/** The certificate of the authority of the emulator's gate. */
const AUTHORITY_VARIABLE = "SVC_POSTGRES_CA";

/**
 * `postgresql://role:password@host:5432/database?sslmode=require`, each part escaped.
 * @throws TypeError if an option is missing, unknown or of the wrong type. For Outputs, use `connectionUriOutput`.
 */
export function connectionUri(options: ConnectionUriOptions): string {
  const problems = optionProblems(options);
  if (problems.length > 0) throw shownAlone(new TypeError(`connectionUri: ${problems.join("; ")}`));
  const { database, role, password, pooled = false, port = 5432 } = options;
  const gate = options.gate ?? gateOfEnvironment();
  const { sslMode = gate === undefined ? "require" : "disable" } = options;
  const user = encode(role) + (password === undefined ? "" : `:${encode(password)}`);
  const host = pooled ? pooledHost(options.host) : options.host;
  if (gate === undefined) {
    return `postgresql://${user}@${host}:${port}/${encode(database)}?sslmode=${sslMode}`;
  }
  const endpoint = encode(`endpoint=${host.replace(/\..*$/s, "")}`);
  const authority = sslMode === "verify-full" ? process.env[AUTHORITY_VARIABLE] : undefined;
  const root = authority ? `&sslrootcert=${encode(authority)}` : "";
  return `postgresql://${user}@${gate}/${encode(database)}?sslmode=${sslMode}&options=${endpoint}${root}`;
}

function gateOfEnvironment(): string | undefined {
  const gate = process.env[GATE_VARIABLE];
  if (gate === undefined || gate === "") return undefined;
  if (!GATE.test(gate))
    throw shownAlone(new TypeError(`connectionUri: the variable ${GATE_VARIABLE} must be HOST:PORT`));
  return gate;
}

const isText = (value: unknown): boolean =>
  // A lone surrogate (half of a character) cannot be encoded in a URI.
  typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value);

const SSL_MODES: readonly unknown[] = ["disable", "require", "verify-full"];

/** An address or a name, in brackets if it contains colons, and a port. */
const GATE = /^(\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/;

/** What each option must be. */
const OPTIONS: Record<keyof ConnectionUriOptions, OptionRule> = {
  host: ["string", "a string that is not empty", isText],
  database: ["string", "a string that is not empty", isText],
  role: ["string", "a string that is not empty", isText],
  password: ["string", "a string", (value) => value === "" || isText(value)],
  pooled: ["boolean", "true or false", (value) => typeof value === "boolean"],
  port: [
    "number",
    "a whole number from 1 to 65535",
    (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536,
  ],
  sslMode: ["string", '"disable", "require" or "verify-full"', (value) => SSL_MODES.includes(value)],
  gate: ["string", "HOST:PORT", (value) => typeof value === "string" && GATE.test(value)],
};

type OptionRule = readonly [type: "string" | "number" | "boolean", words: string, isGood: (value: unknown) => boolean];

/** The problems with the given names, regardless of their values. */
export function optionNameProblems(options: unknown): string[] {
  return objectProblems(options, "", { known: Object.keys(OPTIONS), required: ["host", "database", "role"] });
}

function optionProblems(options: unknown): string[] {
  if (isOutput(options)) return ["the options are an Output: pass them to connectionUriOutput"];
  const problems = optionNameProblems(options);
  const values = typeof options === "object" && options !== null ? options : {};
  if (Reflect.get(values, "gate") !== undefined && Reflect.get(values, "port") !== undefined) {
    problems.push("port: cannot be given with gate, which has a port");
  }
  for (const [name, [type, words, isGood]] of Object.entries(OPTIONS)) {
    const value: unknown = Reflect.get(values, name);
    if (isOutput(value)) problems.push(`${name}: is an Output: pass the options to connectionUriOutput`);
    else if (value === null || (value !== undefined && !isGood(value))) {
      problems.push(`${name}: ${mustBe(words, type, value)}`);
    }
  }
  return problems;
}

/** `<endpoint id>-pooler.<proxy host>` of `<endpoint id>.<proxy host>` (docs/design/api.md, Compute record). */
export function pooledHost(host: string): string {
  return host.replace(/^([^.]+?)(-pooler)?(?=\.|$)/, "$1-pooler");
}

/** Also encodes what `encodeURIComponent` leaves alone but a strict URI parser may reject. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
