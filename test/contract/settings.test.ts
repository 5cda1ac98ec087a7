import { maxSizeCu, resolveSettings, unknownSettings } from "../../src/contract/settings";

const NAMES = [
  "SVC_API_KEY",
  "SVC_BASE_URL",
  "SVC_AUTH_PROVIDER",
  "SVC_QUIET",
  "SVC_ALLOW_HTTP",
  "SVC_ALLOW_UNLISTED_SIZES",
  "SVC_STRICT_PLAN",
  "SVC_OFFLINE_PLAN",
  "SVC_MAX_REQUESTS_PER_MINUTE",
  "SVC_MAX_SIZE_CU",
];
const saved = NAMES.map((name) => [name, process.env[name]] as const);

beforeEach(() => NAMES.forEach((name) => delete process.env[name]));
afterAll(() =>
  saved.forEach(([name, value]) => (value === undefined ? delete process.env[name] : (process.env[name] = value))),
);

const reading = (values: Record<string, string>) => (name: string) => values[name];
const from = (values: Record<string, string>) => resolveSettings(reading(values));

test("the configuration wins over the environment, setting by setting", () => {
  process.env["SVC_API_KEY"] = "env-key";
  process.env["SVC_BASE_URL"] = "https://env.example/v2";
  expect(from({ baseUrl: "https://config.example/api/v2/" }).settings).toEqual({
    apiKey: "env-key",
    baseUrl: "https://config.example/api/v2",
    authProvider: "supported_provider",
    quiet: false,
    strictPlan: false,
    offlinePlan: false,
  });
});

test("the environment is read at the time of the call", () => {
  expect(from({ baseUrl: "https://x.example/v2" }).settings).toBeUndefined();
  process.env["SVC_API_KEY"] = "late";
  expect(from({ baseUrl: "https://x.example/v2" }).settings?.apiKey).toBe("late");
});

test.each([
  ["without a scheme", "api.example.com/api/v2", /must begin with https:\/\//],
  ["with a password", "https://me:CANARY@x.example/v2", /a user name or a password/],
  ["with a query", "https://x.example/v2?key=CANARY", /a query or a fragment/],
  ["without the version segment", "https://x.example/api/CANARY", /version segment/],
  ["that is none", "https://", /is not a URL/],
])("a base URL %s is refused with a message that does not repeat it", (_what, baseUrl, words) => {
  const { settings, problems } = from({ apiKey: "k", baseUrl });
  expect(settings).toBeUndefined();
  expect(problems).toEqual([expect.stringMatching(words)]);
  expect(problems.join()).not.toContain("CANARY");
});

test.each([
  "api.example.com",
  "127.0.0.1.example.com",
  "localhost.example.com",
  "10.0.0.5:8787",
  "[::2]",
  "notlocalhost",
  "emulator.localhost",
])("http is refused to %s, where the key would travel unencrypted, unless it is allowed", (host) => {
  const given = { apiKey: "k", baseUrl: `http://${host}/CANARY/v2` };
  const { settings, problems } = from(given);
  expect(settings).toBeUndefined();
  expect(problems).toEqual([expect.stringMatching(/must begin with https:\/\/.*unencrypted.*svc:allowHttp/)]);
  expect(problems.join()).not.toContain("CANARY");
  expect(from({ ...given, allowHttp: "true" }).settings?.baseUrl).toBe(given.baseUrl);
  expect(from({ ...given, allowHttp: "false" }).settings).toBeUndefined();
  process.env["SVC_ALLOW_HTTP"] = "1";
  expect(from(given).settings?.baseUrl).toBe(given.baseUrl);
});

test.each(["127.0.0.1:8787", "127.8.0.1", "localhost:1", "LOCALHOST", "[::1]:8787"])(
  "http may go to %s, which is this machine",
  (host) => {
    expect(from({ apiKey: "k", baseUrl: `http://${host}/v2` }).problems).toEqual([]);
  },
);

test.each(["CANARY/b", "CANARY b", "-CANARY", "C".repeat(129)])(
  "an auth provider that is no segment of an id is refused without showing it: %p",
  (authProvider) => {
    const { settings, problems } = from({ apiKey: "k", baseUrl: "https://x.example/v2", authProvider });
    expect(settings).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/^svc:authProvider .*short name of an auth provider/)]);
    expect(problems.join()).not.toContain(authProvider);
  },
);

test.each(["CANARY\nX: y", "CANARY ключ"])(
  "a key that no header can carry is refused without showing it: %j",
  (apiKey) => {
    const { settings, problems } = from({ apiKey, baseUrl: "https://x.example/v2" });
    expect(settings).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("CANARY");
  },
);

test("a key with a line end around it, as files and pipes leave it, is used without", () => {
  expect(from({ apiKey: " abc\n", baseUrl: "https://x.example/v2" }).settings?.apiKey).toBe("abc");
});

test.each([
  "nonsense-CANARY",
  "ftp://CANARY.test/v2",
  "https://user:CANARY@x.test/v2",
  "https://x.test/v2?k=CANARY",
  "https://x.test/v2#CANARY",
])("a base URL that cannot be used is refused without showing it: %s", (baseUrl) => {
  const { settings, problems } = from({ apiKey: "k", baseUrl });
  expect(settings).toBeUndefined();
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join()).not.toContain("CANARY");
});

test.each(["maybe", "TRUE", "yes", "CANARY"])("%j is no value of a setting that is on or off", (value) => {
  const good = { apiKey: "k", baseUrl: "https://x.example/v2" };
  const { settings, problems } = from({
    ...good,
    quiet: value,
    allowHttp: value,
    allowUnlistedSizes: value,
    strictPlan: value,
    offlinePlan: value,
  });
  expect(settings).toBeUndefined();
  // Another text than a flag may be a key that was set under the wrong name.
  const but = ["TRUE", "yes"].includes(value) ? `, not "${value}"` : "";
  expect(problems).toEqual([
    `svc:quiet (or SVC_QUIET) must be true or false (or 1 or 0)${but}`,
    `svc:allowHttp (or SVC_ALLOW_HTTP) must be true or false (or 1 or 0)${but}`,
    `svc:allowUnlistedSizes (or SVC_ALLOW_UNLISTED_SIZES) must be true or false (or 1 or 0)${but}`,
    `svc:strictPlan (or SVC_STRICT_PLAN) must be true or false (or 1 or 0)${but}`,
    `svc:offlinePlan (or SVC_OFFLINE_PLAN) must be true or false (or 1 or 0)${but}`,
  ]);
  process.env["SVC_QUIET"] = value;
  expect(from(good).problems).toHaveLength(1);
});

test.each([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
])("the setting quiet may be %s", (quiet, isQuiet) => {
  expect(from({ apiKey: "k", baseUrl: "https://x.example/v2", quiet }).settings?.quiet).toBe(isQuiet);
});

test.each(["10", "99", "120", "7000"])("a share of %s requests a minute is taken", (maxRequestsPerMinute) => {
  const good = { apiKey: "k", baseUrl: "https://x.example/v2" };
  const share = Number(maxRequestsPerMinute);
  expect(from({ ...good, maxRequestsPerMinute }).settings?.maxRequestsPerMinute).toBe(share);
  process.env["SVC_MAX_REQUESTS_PER_MINUTE"] = maxRequestsPerMinute;
  expect(from(good).settings?.maxRequestsPerMinute).toBe(share);
  expect(from({ ...good, maxRequestsPerMinute: "33" }).settings?.maxRequestsPerMinute).toBe(33);
});

test("without a share there is no limit", () => {
  expect(from({ apiKey: "k", baseUrl: "https://x.example/v2", maxRequestsPerMinute: " " }).settings).toHaveProperty(
    "maxRequestsPerMinute",
    undefined,
  );
});

test.each(["9", "0", "-10", "12.5", "1e3", "0x20", "Infinity", "many CANARY", "0120", "10 20"])(
  "%j is no share of requests",
  (maxRequestsPerMinute) => {
    const { settings, problems } = from({ apiKey: "k", baseUrl: "https://x.example/v2", maxRequestsPerMinute });
    expect(settings).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      /^svc:maxRequestsPerMinute \(or SVC_MAX_REQUESTS_PER_MINUTE\) must be a whole number, 10 or more/,
    );
    expect(problems[0]).not.toContain("CANARY");
  },
);

test("a share that is too small is shown", () => {
  const { problems } = from({ apiKey: "k", baseUrl: "https://x.example/v2", maxRequestsPerMinute: "9" });
  expect(problems).toEqual([expect.stringMatching(/10 or more, not "9"$/)]);
});

test.each(["2", "0.25", "56", "1.5"])("a limit of %s CU is taken, and without one there is no limit", (limit) => {
  const good = { apiKey: "k", baseUrl: "https://x.example/v2" };
  const given = { ...good, maxSizeCu: limit };
  expect(from(given).problems).toEqual([]);
  expect(maxSizeCu(reading(given))).toBe(Number(limit));
  expect(maxSizeCu(reading(good))).toBeUndefined();
  process.env["SVC_MAX_SIZE_CU"] = limit;
  expect(maxSizeCu(reading(good))).toBe(Number(limit));
  expect(maxSizeCu(reading({ ...good, maxSizeCu: "8" }))).toBe(8);
});

test.each(["0", "0.0", "-2", "1e3", "0x20", "Infinity", "two CANARY", "2 CU", "2,5", ".5"])(
  "%j is no limit of a size",
  (limit) => {
    const { settings, problems } = from({ apiKey: "k", baseUrl: "https://x.example/v2", maxSizeCu: limit });
    expect(settings).toBeUndefined();
    expect(problems).toEqual([
      expect.stringMatching(
        /^svc:maxSizeCu \(or SVC_MAX_SIZE_CU\) must be a number of compute units \(CU\) above 0, such as 2/,
      ),
    ]);
    expect(problems[0]).not.toContain("CANARY");
  },
);

test("settings that nobody knows: of our namespace alone, and none in a project of its name", () => {
  const keys = ["svc:strictplan", "svc:strictPlan", "svc:apiKeyEnv", "svc:", "svcs:quiet", "proj:svc:x", "proj:quiet"];
  expect(unknownSettings(keys, "proj")).toEqual(["strictplan", ""]);
  expect(unknownSettings(keys, "svc")).toEqual([]);
});

test("all that is wrong comes at once", () => {
  expect(from({ baseUrl: "x" }).problems).toHaveLength(2);
  expect(from({ baseUrl: "x", maxRequestsPerMinute: "5", quiet: "?" }).problems).toHaveLength(4);
});
