/**
 * Whether a host (as `URL` spells it) is this machine: what never goes through a proxy, and so the only hosts that plain
 * http may carry the API key to. A name below `localhost` is not one of them: proxies and resolvers do with it what they
 * like.
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);
}
