import fc from "fast-check";
import { domainForm, redirectDomainIn } from "../../../src/contract/redirectDomains";
import { originSchema } from "../../../src/resources/whitelist/origin";

const reason = (text: unknown): string => originSchema.safeParse(text).error?.issues[0]?.message ?? "accepted";

test.each([
  ["https://app.example.com", "https://app.example.com"],
  ["HTTPS://App.Example.COM", "https://app.example.com"],
  ["https://app.example.com/", "https://app.example.com"],
  ["https://app.example.com:443/", "https://app.example.com"],
  ["http://app.example.com:80", "http://app.example.com"],
  ["http://app.example.com:443", "http://app.example.com:443"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["http://[::1]:3000", "http://[::1]:3000"],
  ["https://*.Example.com", "https://*.example.com"],
  ["http://localhost:*", "http://localhost:*"],
  ["HTTPS://*.Example.com:*/", "https://*.example.com:*"],
  ["https://BÜCHER.example", "https://xn--bcher-kva.example"],
  ["https://bu\u0308cher.example", "https://xn--bcher-kva.example"],
  ["https://xn--bcher-kva.example", "https://xn--bcher-kva.example"],
])("%s is the origin %s", (text, origin) => {
  expect(originSchema.parse(text)).toBe(origin);
});

test.each([
  ["https://app.example.com/callback", /without path$/],
  ["https://app.example.com//", /without path$/],
  ["https://app.example.com\\x", /without path$/],
  ["https://app.example.com/@me", /without path$/],
  ["https://app.example.com?", /without query$/],
  ["https://app.example.com/?a=/b", /without query$/],
  ["https://app.example.com#", /without fragment$/],
  ["https://me@app.example.com", /without user name or password$/],
  [`https://${"me:pw"}@app.example.com/a?b#c`, /without user name or password, path, query, fragment$/],
  ["app.example.com", /must begin with http:\/\/ or https:\/\//],
  ["ftp://app.example.com", /must begin with http/],
  ["https:app.example.com", /must begin with http/],
  ["", /must begin with http/],
  ["https://", /host or port is not valid/],
  ["https:///", /path|host or port/],
  ["https://app.example.com:99999", /host or port is not valid/],
  ["https://app.example.com:8*", /host or port is not valid/],
  ["https://app.example.com:80:*", /host or port is not valid/],
  ["https://:*", /host or port is not valid/],
  ["https://app.exa mple.com", /must not contain a space/],
  [" https://app.example.com", /must not contain a space/],
  [7, /must be a string/],
])("%j is refused with the rule", (text, words) => {
  expect(reason(text)).toMatch(words);
});

test.each(["app.example.com/callback", "ftp://app.example.com/callback", "app.example.com/a b"])(
  "%s has two problems, and both are reported",
  (text) => {
    const issues = originSchema.safeParse(text).error?.issues ?? [];
    expect(issues.map(({ message }) => message).join("; ")).toMatch(/must begin with http.*without path/);
  },
);

test.each([
  ["myapp://callback", "myapp://callback"],
  ["MyApp://CallBack", "myapp://CallBack"],
  ["myapp://", "myapp://"],
  ["exp://192.168.1.2:8081", "exp://192.168.1.2:8081"],
  ["exp://exp.host/@me/app", "exp://exp.host/@me/app"],
  ["com.example.app://oauth", "com.example.app://oauth"],
])("%s is the address %s of an app", (text, address) => {
  expect(originSchema.parse(text)).toBe(address);
  expect(domainForm(text)).toBe(address);
  expect(originSchema.parse(address)).toBe(address);
});

test.each([
  ["myapp://callback?a=b", /address of an app such as myapp:\/\/callback, without query$/],
  ["myapp://callback#a", /without fragment$/],
  ["myapp://me:pw@callback", /without user name or password$/],
  ["myapp://call back", /must not contain a space/],
  ["myapp:callback", /must begin with http/],
  ["javascript://%0aalert(1)", /must begin with http/],
  ["JavaScript://x", /must begin with http/],
  ["data://x", /must begin with http/],
  ["file:///etc/passwd", /must begin with http/],
  ["blob://https://a.test", /must begin with http/],
  ["wss://a.test", /must begin with http/],
])("%j is no address of an app", (text, words) => {
  expect(reason(text)).toMatch(words);
});

const host = fc.domain();
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
const scheme = fc.constantFrom("http", "https");
const cased = (text: string, upper: boolean): string => (upper ? text.toUpperCase() : text);

test("any spelling of an origin becomes the one that a browser sends, and that one stays as it is", () => {
  fc.assert(
    fc.property(scheme, host, port, fc.boolean(), fc.constantFrom("", "/"), (scheme, host, port, upper, slash) => {
      const text = `${cased(scheme, upper)}://${cased(host, upper)}${port === undefined ? "" : `:${port}`}${slash}`;
      const isDefault = port === undefined || port === (scheme === "http" ? 80 : 443);
      const expected = `${scheme}://${host.toLowerCase()}${isDefault ? "" : `:${port}`}`;
      const origin = originSchema.parse(text);
      expect(origin).toBe(expected);
      expect(originSchema.parse(origin)).toBe(origin);
    }),
  );
});

test("whatever is accepted is an origin without anything else, and no reason repeats what was given", () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()), (text) => {
      const parsed = originSchema.safeParse(text);
      const isApp = redirectDomainIn(text)?.isApp === true;
      if (parsed.success && !/^https?:/.test(parsed.data)) expect(isApp).toBe(true);
      else if (parsed.success) expect(new URL(text).href).toBe(`${parsed.data}/`);
      else if (text.length > 3) expect(parsed.error.issues[0]?.message).not.toContain(text);
    }),
  );
});
