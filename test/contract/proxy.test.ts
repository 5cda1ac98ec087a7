import { routeTo } from "../../src/contract/proxy";
import { withProxies } from "../support/proxy";

const SERVICE = "https://api.example.com/api/v2";
const PROXY = "http://proxy.test:3128";

const routeWith = (variables: Record<string, string>, address = SERVICE) =>
  withProxies(variables, () => routeTo(address));

test.each([
  ["127.0.0.1:3128", { where: "127.0.0.1:3128", host: "127.0.0.1", port: 3128, isSecure: false }],
  ["localhost:3128", { where: "localhost:3128", host: "localhost", port: 3128, isSecure: false }],
  ["proxy.test", { where: "proxy.test:80", host: "proxy.test", port: 80, isSecure: false }],
  [" http://proxy.test:3128/ ", { where: "proxy.test:3128", isSecure: false }],
  ["https://proxy.test", { where: "proxy.test:443", port: 443, isSecure: true }],
  ["[::1]:3128", { where: "[::1]:3128", host: "::1", port: 3128 }],
  ["me:p%40ss%2Fword@proxy.test:1", { where: "proxy.test:1", credentials: { username: "me", password: "p@ss/word" } }],
  ["me:50%@proxy.test:1", { credentials: { username: "me", password: "50%" } }],
])("HTTPS_PROXY=%s is taken as curl takes it", async (value, expected) => {
  expect(await routeWith({ HTTPS_PROXY: value })).toMatchObject({
    through: "proxy",
    proxy: { variable: "HTTPS_PROXY", ...expected },
  });
});

test.each([
  "socks5://canary:canary@proxy.test:1080",
  "ftp://proxy.test",
  "http://",
  "http://canary:ca/nary@proxy.test:3128",
  "http://canary:12/nary@proxy.test:3128",
  "http://canary:12#nary@proxy.test:3128",
  "http://proxy.test:99999",
])("ALL_PROXY=%s is no proxy that can be used: the message names the variable alone", async (value) => {
  const route = await routeWith({ ALL_PROXY: value });
  expect(route).toMatchObject({ through: "unusable", variable: "ALL_PROXY" });
  expect(JSON.stringify(route)).toMatch(/"problem":"ALL_PROXY /);
  expect(JSON.stringify(route)).not.toMatch(/canary|nary|socks5|ftp/);
});

test("the variable of the scheme comes before the one for all, and an empty one is not set", async () => {
  const [one, other] = ["http://one.test:1", "http://other.test:2"];
  const variableOf = async (variables: Record<string, string>, address?: string) => {
    const route = await routeWith(variables, address);
    return route.through === "proxy" ? route.proxy.variable : route.through;
  };
  expect(await variableOf({ ALL_PROXY: one, HTTPS_PROXY: other })).toBe("HTTPS_PROXY");
  expect(await variableOf({ https_proxy: one, HTTPS_PROXY: other })).toBe("https_proxy");
  expect(await variableOf({ https_proxy: " ", HTTPS_PROXY: other })).toBe("HTTPS_PROXY");
  expect(await variableOf({ http_proxy: one })).toBe("nothing");
  expect(await variableOf({ http_proxy: one }, "http://emulator.test:8787")).toBe("http_proxy");
  expect(await variableOf({ all_proxy: one }, "http://emulator.test:8787")).toBe("all_proxy");
});

test.each([
  ["*", SERVICE],
  ["api.example.com", SERVICE],
  ["example.com", SERVICE],
  [".example.com", SERVICE],
  ["*.example.com", SERVICE],
  ["API.EXAMPLE.COM.", SERVICE],
  ["other.test, api.example.com:443", SERVICE],
  ["other.test api.example.com", SERVICE],
  ["10.1.2.3", "https://10.1.2.3/v2"],
  ["10.0.0.0/8", "https://10.1.2.3/v2"],
  ["2001:db8::5", "https://[2001:db8::5]:8443/v2"],
  ["[2001:DB8::5]:8443", "https://[2001:db8::5]:8443/v2"],
  ["2001:db8::/32", "https://[2001:db8::5]/v2"],
])("NO_PROXY=%s excepts %s", async (list, address) => {
  expect(await routeWith({ HTTPS_PROXY: PROXY, NO_PROXY: list }, address)).toEqual({
    through: "nothing",
    because: "NO_PROXY excepts it from HTTPS_PROXY",
  });
});

test.each([
  ["", SERVICE],
  [",", SERVICE],
  [".", SERVICE],
  ["ple.com", SERVICE],
  ["www.api.example.com", SERVICE],
  ["api.example.com:8443", SERVICE],
  ["api.example.com:3", SERVICE],
  ["10.0.0.0/", "https://10.1.2.3/v2"],
  ["10.0.0.0/33", "https://10.1.2.3/v2"],
  ["11.0.0.0/8", "https://10.1.2.3/v2"],
  ["2.3", "https://10.1.2.3/v2"],
  ["2001:db9::/32", "https://[2001:db8::5]/v2"],
])("NO_PROXY=%s does not except %s", async (list, address) => {
  expect((await routeWith({ HTTPS_PROXY: PROXY, NO_PROXY: list }, address)).through).toBe("proxy");
});

test.each(["http://127.0.0.1:8787/v2", "http://localhost:8787/v2", "http://[::1]:8787/v2", "https://[::1]/v2"])(
  "%s is this machine, which no proxy leads to",
  async (address) => {
    const all = { http_proxy: PROXY, https_proxy: PROXY, all_proxy: PROXY };
    expect(await routeWith(all, address)).toMatchObject({
      through: "nothing",
      because: expect.stringContaining("is not used for this machine"),
    });
  },
);
