/** The host and the port of an address with http:// or https://, for messages: nothing else of it. */
export function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}
