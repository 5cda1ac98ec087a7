/**
 * The address of a service, as everything spells and compares it. Two addresses with equal project ids may be one
 * service or two, so whether they are one has three answers (docs/design/rules.md, 9).
 */
import { isLoopback } from "./loopback";

/** Its one spelling, without a trailing slash: `HTTPS://API.example.com:443/v2/` is `https://api.example.com/v2`. */
export function normalAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}

interface Service {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

function partsOf(address: string): Service {
  const { hostname, port, pathname } = new URL(address);
  const name = hostname.replace(/\.$/, "");
  // All names of this machine lead to what listens on the port. The usual ports of http and https belong together.
  return { host: isLoopback(name) ? "loopback" : name, port, path: pathname.replace(/\/+$/, "") };
}

/** What the addresses have in common that are certainly of one service: a key, and no address. */
export const serviceOf = (address: string): string => JSON.stringify(partsOf(address));

/**
 * Whether two addresses are of one service. Only another port of the same host is certainly another one: names may be
 * aliases, and a gateway may offer one service under several paths.
 */
export function isSameService(one: string, other: string): "yes" | "no" | "not known" {
  if (serviceOf(one) === serviceOf(other)) return "yes";
  const [{ host, port }, { host: otherHost, port: otherPort }] = [partsOf(one), partsOf(other)];
  return host === otherHost && port !== otherPort ? "no" : "not known";
}
