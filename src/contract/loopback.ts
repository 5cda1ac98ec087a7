/**
 * Whether a host (as `URL` spells it) is this machine. It is never reached through a proxy, so plain http may carry the
 * API key only to it. A name below `localhost` does not count: proxies and resolvers treat these as they like. In a
 * file of its own because the client may load this but not the settings.
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);
}
