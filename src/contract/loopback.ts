/**
 * Whether a host (as `URL` spells it) is this machine: never reached through a proxy, so the only one that plain http may
 * carry the API key to. A name below `localhost` is another: proxies and resolvers do with it what they like. In a file of its
 * own: the client may load it, and not the settings.
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);
}
