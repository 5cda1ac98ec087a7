import { datesIn, dayOf, isExpired } from "../../src/contract/expiry";
import { fakeClock } from "../support/fakeClock";
import { secret } from "../support/refreshes";

fakeClock();

test.each([
  ["2027-01-30T23:59:59.999Z", false],
  // Still the day before, or already the day after, in other time zones.
  ["2027-01-31T13:00:00+14:00", false],
  ["2027-01-30T19:00:00-05:00", true],
  ["2027-01-31T00:00:00.000Z", true],
  ["2028-01-01T00:00:00Z", true],
])("at %s a domain that expires on 2027-01-31 is expired: %s", (now, expected) => {
  jest.setSystemTime(new Date(now));
  expect(isExpired("2027-01-31")).toBe(expected);
});

test.each(["", "0", "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "20270131"])("%j is no day that has come", (text) => {
  expect(isExpired(text)).toBe(false);
});

test("a day is the one in UTC", () => {
  expect(dayOf(new Date("2027-01-31T00:30:00+01:00"))).toBe("2027-01-30");
});

test("the days of a resource, whatever a state or a plan has", () => {
  const one = { domain: "https://a.test", expiresOn: "2027-01-31" };
  expect(datesIn("WhitelistDomain", one)).toEqual([{ origin: "https://a.test", expiresOn: "2027-01-31" }]);
  const dated = { origin: "https://b.test", expiresOn: "2027-01-31" };
  expect(datesIn("Whitelist", { domains: ["https://a.test", dated, null, secret] })).toEqual([
    { origin: "https://a.test", expiresOn: undefined },
    dated,
    { origin: null, expiresOn: undefined },
    { origin: secret, expiresOn: secret },
  ]);
  expect(datesIn("Whitelist", {})).toEqual([{ origin: undefined, expiresOn: undefined }]);
  expect(datesIn("ComputeEndpoint", one)).toEqual([]);
});
