import { call, environment } from "../support/scripts";

/** With the loopback of this machine taken out of what goes through a proxy. */
const direct = async (env: Record<string, string>): Promise<unknown> =>
  (await call("lib/processes.mts", "directLoopback", ["env"], environment([], env))).value;

const LOOPBACK = "127.0.0.1,localhost,::1";

test.each([
  ["no list", {}, { no_proxy: LOOPBACK, NO_PROXY: LOOPBACK }],
  ["empty lists", { no_proxy: "", NO_PROXY: "" }, { no_proxy: LOOPBACK, NO_PROXY: LOOPBACK }],
  [
    "a list under one of the names",
    { NO_PROXY: ".corp.test" },
    { no_proxy: `.corp.test,${LOOPBACK}`, NO_PROXY: `.corp.test,${LOOPBACK}` },
  ],
  [
    "two lists that differ",
    { no_proxy: "a.test, b.test", NO_PROXY: "c.test" },
    { no_proxy: `a.test,b.test,${LOOPBACK}`, NO_PROXY: `c.test,${LOOPBACK}` },
  ],
  [
    "a list that has some of it",
    { no_proxy: "localhost, 10.0.0.0/8" },
    { no_proxy: "localhost,10.0.0.0/8,127.0.0.1,::1", NO_PROXY: "localhost,10.0.0.0/8,127.0.0.1,::1" },
  ],
  [
    "a list for gRPC alone",
    { no_grpc_proxy: "a.test" },
    { no_proxy: LOOPBACK, NO_PROXY: LOOPBACK, no_grpc_proxy: `a.test,${LOOPBACK}` },
  ],
])("%s of hosts without a proxy is kept, and the loopback is added", async (_, env, expected) => {
  expect(await direct(env)).toEqual(expected);
});
