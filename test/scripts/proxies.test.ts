import { call, environment } from "../support/scripts";

/** With the loopback of this machine taken out of what goes through a proxy. */
const direct = async (env: Record<string, string>): Promise<unknown> =>
  (await call("lib/processes.mts", "directLoopback", ["env"], environment([], env))).value;

const LOOPBACK = "127.0.0.1,localhost,::1";

const MIXED = "localhost,10.0.0.0/8,127.0.0.1,::1";

test.each<[string, Record<string, string>, [lower: string, upper: string, grpc: string]]>([
  ["no list", {}, [LOOPBACK, LOOPBACK, LOOPBACK]],
  ["empty lists", { no_proxy: "", NO_PROXY: "" }, [LOOPBACK, LOOPBACK, LOOPBACK]],
  ["one of two names", { NO_PROXY: "a.test" }, [`a.test,${LOOPBACK}`, `a.test,${LOOPBACK}`, `a.test,${LOOPBACK}`]],
  [
    "two lists that differ",
    { no_proxy: "a.test, b.test", NO_PROXY: "c.test" },
    [`a.test,b.test,${LOOPBACK}`, `c.test,${LOOPBACK}`, `a.test,b.test,${LOOPBACK}`],
  ],
  ["a list that has some of it", { no_proxy: "localhost, 10.0.0.0/8" }, [MIXED, MIXED, MIXED]],
  ["a list for gRPC alone", { no_grpc_proxy: "a.test" }, [LOOPBACK, LOOPBACK, `a.test,${LOOPBACK}`]],
])("%s of hosts without a proxy is kept, and the loopback is added", async (_, env, [lower, upper, grpc]) => {
  expect(await direct(env)).toEqual({ no_proxy: lower, NO_PROXY: upper, no_grpc_proxy: grpc });
});
