import { hosted, URN } from "../support/toy";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

describe("check", () => {
  test("passes good arguments on, normalised, with the hidden keys of the inputs and no default", async () => {
    const { toy } = hosted();
    const result = await toy.check(
      {},
      { home: "a", label: "LOUD", __urn: URN, __provider: "p", __timeouts: { create: 2 } },
    );
    expect(result).toEqual({
      inputs: { home: "a", label: "loud", __urn: URN, __provider: "p", __timeouts: { create: 2 } },
      failures: [],
    });
  });

  test("gives all failures at once, each with the path in the reason and never as the property", async () => {
    const { toy } = hosted();
    const { failures } = await toy.check({}, { size: { min: "CANARY", max: 2 }, secret: "CANARY", tags: { a: 1 } });
    expect(failures?.map(({ property }) => property)).toEqual(failures?.map(() => ""));
    expect(failures?.map(({ reason }) => reason.split(":")[0])).toEqual(["size", "secret", "tags", "home"]);
  });

  test("never repeats a string value: it may be a secret", async () => {
    const { toy } = hosted();
    const bad = {
      home: 1,
      size: "CANARY",
      label: ["CANARY"],
      secret: "CANARY",
      region: { x: "CANARY" },
      adopt: "CANARY",
    };
    expect(JSON.stringify((await toy.check({}, bad)).failures)).not.toContain("CANARY");
    expect((await toy.check({}, bad)).failures).toHaveLength(6);
  });

  test("says of an unknown key where it may come from", async () => {
    const { toy } = hosted();
    const { failures } = await toy.check({}, { home: "a", tags: {} });
    expect(failures?.[0]?.reason).toMatch(/^tags: is not an argument of ComputeEndpoint.*transformation/);
  });

  test.each([
    ["a whole argument", { home: UNKNOWN }],
    ["an object in place of which the marker stands", { home: "a", size: UNKNOWN }],
    ["a value inside an object", { home: "a", size: { min: 1, max: UNKNOWN } }],
  ])("lets unknown values pass: %s", async (_what, news) => {
    const { toy } = hosted();
    expect(await toy.check({}, news)).toEqual({ inputs: news, failures: [] });
  });

  test("still finds what is wrong beside an unknown value", async () => {
    const { toy } = hosted();
    const { failures } = await toy.check({}, { home: UNKNOWN, secret: "short" });
    expect(failures).toEqual([{ property: "", reason: "secret: is too short" }]);
  });

  test("gives the rules only arguments that are known and well formed", async () => {
    const seen: object[] = [];
    const { toy } = hosted({ rules: (args) => (seen.push(args), []) });
    await toy.check({}, { home: UNKNOWN, size: { min: 1, max: UNKNOWN }, secret: "short", label: "x" });
    expect(seen).toEqual([{ label: "x" }]);
  });

  test("reports missing settings beside the failures of the arguments", async () => {
    const { toy } = hosted();
    void toy.configure({ config: { get: () => undefined, require: () => "" } });
    const { failures } = await toy.check({}, { secret: "short" });
    expect(failures?.map(({ reason }) => reason)).toEqual([
      "secret: is too short",
      "home: is required",
      expect.stringMatching(/^no API key: .*svc:apiKey.*SVC_API_KEY/),
      expect.stringMatching(/^no base URL: .*svc:baseUrl.*SVC_BASE_URL/),
    ]);
  });

  test("is silent about settings that a preview does not know yet", async () => {
    const { toy } = hosted();
    void toy.configure({ config: { get: () => UNKNOWN, require: () => "" } });
    expect((await toy.check({}, { home: "a" })).failures).toEqual([]);
  });

  test("warns of a path of ignoreChanges or replaceOnChanges that leads to no argument, at the first plan", async () => {
    const { toy, log } = hosted();
    const paths = { __ignoreChanges: ["siz", "size", "size.minimum", "*"], __replaceOnChanges: ["nothing"] };
    const { inputs = {}, failures } = await toy.check({}, { home: "a", __urn: URN, ...paths });
    expect([failures, Object.keys(inputs).sort()]).toEqual([[], ["__urn", "home"]]);
    const what = (option: string, path: string): string =>
      `"${option}" of ComputeEndpoint ("toy") names "${path}", which is no argument and no part of one, so it has no effect. `;
    const said = log.map(({ severity, message }) => `${severity} ${message}`);
    expect(said).toEqual([
      `warning ${what("ignoreChanges", "siz")}Did you mean "size"?`,
      `warning ${what("ignoreChanges", "size.minimum")}Did you mean "size.min"?`,
      `warning ${what("replaceOnChanges", "nothing")}Its arguments: home, size, label, secret, region, adopt`,
    ]);
  });
});
