const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/**
 * What an environment needs so that nothing asks a proxy for this machine itself. The Pulumi SDK does, even for the
 * engine on 127.0.0.1: its gRPC client takes the proxy of the environment unless the list names the host.
 */
export function directLoopback(env: NodeJS.ProcessEnv): Record<string, string> {
  const { no_proxy: lower, NO_PROXY: upper, no_grpc_proxy: grpc } = env;
  return {
    no_proxy: withLoopback(lower || upper),
    NO_PROXY: withLoopback(upper || lower),
    // Where it is given, the gRPC client reads it instead.
    ...(grpc && { no_grpc_proxy: withLoopback(grpc) }),
  };
}

function withLoopback(list = ""): string {
  const hosts = list.split(/[\s,]+/).filter(Boolean);
  return [...new Set([...hosts, ...LOOPBACK])].join(",");
}
