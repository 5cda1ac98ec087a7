/**
 * Which proxy of the environment leads to a service. Decided here alone, so that what is sent and what the doctor shows
 * agree, whatever axios and Node read by themselves (NODE_USE_ENV_PROXY). The variables are those of curl.
 */
import { BlockList, isIP } from "node:net";
import { hostAndPort } from "./hostAndPort";
import { isLoopback } from "./loopback";

export interface Proxy {
  /** The variable that names it. */
  readonly variable: string;
  /** For messages, without credentials. */
  readonly where: string;
  readonly isSecure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Secret. */
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
}

export type Route =
  | { readonly through: "proxy"; readonly proxy: Proxy }
  /** `because`, a clause for messages: why it does not go through the proxy that the environment names. */
  | { readonly through: "nothing"; readonly because?: string }
  /** Not sent without the proxy either: `problem` names the variable, and never its value, which may hold a password. */
  | { readonly through: "unusable"; readonly variable: string; readonly problem: string };

/** The route to a service at this address. */
export function routeTo(address: string): Route {
  const { protocol, hostname } = new URL(address);
  const scheme = protocol.slice(0, -1);
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, "all_proxy", "ALL_PROXY"];
  const [variable, value] = firstSet(names) ?? [];
  if (variable === undefined || value === undefined) return { through: "nothing" };
  // No proxy reaches this machine's loopback; it would receive the key in clear.
  if (isLoopback(hostname)) return { through: "nothing", because: `${variable} is not used for this machine` };
  const [exceptions = "", list = ""] = firstSet(["no_proxy", "NO_PROXY"]) ?? [];
  if (list.split(/[\s,]+/).some((entry) => excepts(entry, address)))
    return { through: "nothing", because: `${exceptions} excepts it from ${variable}` };
  const proxy = proxyIn(variable, value);
  return typeof proxy === "string"
    ? { through: "unusable", variable, problem: `${variable} ${proxy}` }
    : { through: "proxy", proxy };
}

function firstSet(names: readonly string[]): [name: string, value: string] | undefined {
  for (const name of names) {
    const value = process.env[name]?.trim();
    if (value) return [name, value];
  }
  return undefined;
}

/** The proxy, or why the variable names none. As in curl, a value without a scheme is one of http://. */
function proxyIn(variable: string, value: string): Proxy | string {
  const address = value.includes("://") ? value : `http://${value}`;
  if (!/^https?:\/\//i.test(address)) return "names a proxy that does not begin with http:// or https://";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // A character of the password that is not encoded may end the host. Then the rest is in the path.
  if (url === undefined || /@/.test(url.pathname + url.search + url.hash)) {
    return "is not the address of a proxy, such as http://proxy.example.com:3128 (special characters in a user name or a password have to be percent-encoded)";
  }
  const isSecure = url.protocol === "https:";
  const [username, password] = [decoded(url.username), decoded(url.password)];
  return {
    variable,
    where: hostAndPort(address),
    isSecure,
    host: withoutBrackets(url.hostname),
    port: Number(url.port || (isSecure ? 443 : 80)),
    credentials: username === "" && password === "" ? undefined : { username, password },
  };
}

/** As it was before it was percent-encoded. A text that is not well encoded stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

/**
 * Whether an entry of NO_PROXY excepts an address: a host with all names below it, an IP address or a range of them, each
 * with or without a port, or `*`.
 */
function excepts(entry: string, address: string): boolean {
  if (entry === "" || entry === "*") return entry === "*";
  // An IPv6 address without brackets has no port.
  const [, named = entry, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && !hostAndPort(address).endsWith(`:${port}`)) return false;
  const name = withoutBrackets(named)
    .toLowerCase()
    .replace(/^\*?\./, "")
    .replace(/\.$/, "");
  const host = withoutBrackets(new URL(address).hostname).replace(/\.$/, "");
  if (isIP(host) === 0) return name !== "" && (host === name || host.endsWith(`.${name}`));
  const [base = "", bits] = name.split("/");
  const version = isIP(base);
  if (version === 0) return false;
  const family = version === 6 ? "ipv6" : "ipv4";
  const longest = version === 6 ? 128 : 32;
  const prefix = bits === undefined ? longest : /^\d+$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(prefix <= longest)) return false;
  const range = new BlockList();
  range.addSubnet(base, prefix, family);
  return range.check(host, isIP(host) === 6 ? "ipv6" : "ipv4");
}
