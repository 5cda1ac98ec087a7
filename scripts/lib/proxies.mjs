const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/**
 * What an environment needs so that nothing asks a proxy for this machine itself. The Pulumi SDK does, even for the
 * engine on 127.0.0.1: its gRPC client takes the proxy of the environment unless the list names the host.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>} the lists as they are, and the loopback
 */
export function directLoopback(env) {
  const { no_proxy: lower, NO_PROXY: upper, no_grpc_proxy: grpc } = env;
  return {
    no_proxy: withLoopback(lower || upper),
    NO_PROXY: withLoopback(upper || lower),
    // Where it is given, the gRPC client reads it instead.
    ...(grpc && { no_grpc_proxy: withLoopback(grpc) }),
  };
}

/** @param {string} [list] */
function withLoopback(list) {
  const hosts = (list ?? "").split(/[\s,]+/).filter(Boolean);
  return [...new Set([...hosts, ...LOOPBACK])].join(",");
}
