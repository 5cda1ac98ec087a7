import { changedSinceFirst, firstShown, withoutTransfer } from "../../src/contract/watched";

const KEYS = "https://keys.example.com/one.json";
const THEIRS = "https://keys.attacker.example/one.json";

/** The outs after one refresh for each of these values, beginning with what a creation has stored. */
const refreshed = (...shown: readonly Record<string, unknown>[]) =>
  shown.reduce<Record<string, unknown>>((outs, now, index) => {
    const __first = index === 0 ? {} : firstShown("AuthIntegration", outs, now);
    return { ...now, ...(Object.keys(__first).length > 0 && { __first }) };
  }, {});
const told = (...shown: readonly Record<string, unknown>[]) =>
  changedSinceFirst("AuthIntegration", refreshed(...shown));

test("another owner, and keys on another host, are told as long as they are, whatever a refresh has stored", () => {
  const change = { name: "ownedBy", first: "svc", now: "user" };
  expect(told({ ownedBy: "svc" }, { ownedBy: "user" })).toEqual([change]);
  expect(told({ ownedBy: "svc" }, { ownedBy: "user" }, { ownedBy: "user" }, { ownedBy: "user" })).toEqual([change]);
  expect(told({ ownedBy: "svc" }, { ownedBy: "eve" }, { ownedBy: "user" })).toEqual([change]);
  expect(told({ jwksUrl: KEYS }, { jwksUrl: THEIRS })).toEqual([{ name: "jwksUrl", first: KEYS, now: THEIRS }]);
  for (const other of [
    "https://keys.example.com:444/one.json",
    "http://keys.example.com/one.json",
    "https://keys.example.com.attacker.example/",
    "none",
  ])
    expect(told({ jwksUrl: KEYS }, { jwksUrl: other })).toHaveLength(1);
});

test("when the first value is back there is nothing to tell, and no mark", () => {
  const back = refreshed(
    { ownedBy: "svc", jwksUrl: KEYS },
    { ownedBy: "user", jwksUrl: THEIRS },
    { ownedBy: "svc", jwksUrl: KEYS },
  );
  expect(back).toEqual({ ownedBy: "svc", jwksUrl: KEYS });
});

test("what the service begins to show is no change, and what it stops to show is told when it is back as another", () => {
  expect(refreshed({}, { ownedBy: "user", jwksUrl: KEYS })).toEqual({ ownedBy: "user", jwksUrl: KEYS });
  expect(told({ jwksUrl: "" }, { jwksUrl: KEYS })).toEqual([]);
  expect(told({ ownedBy: "svc" }, {})).toEqual([]);
  expect(told({ ownedBy: "svc" }, {}, { ownedBy: "svc" })).toEqual([]);
  expect(told({ ownedBy: "svc" }, {}, {}, { ownedBy: "user" })).toHaveLength(1);
});

test("another path of the same server is no change, nor another port of an emulator", () => {
  expect(told({ jwksUrl: KEYS }, { jwksUrl: "https://KEYS.example.com:443/two.json" })).toEqual([]);
  expect(told({ jwksUrl: "http://127.0.0.1:8787/a" }, { jwksUrl: "http://localhost:9999/a" })).toEqual([]);
  expect(told({ jwksUrl: KEYS }, { jwksUrl: "http://127.0.0.1:8787/a" })).toHaveLength(1);
});

test("a transfer that was declared excuses the user as the owner, and nothing else", () => {
  const all = told({ ownedBy: "svc", jwksUrl: KEYS }, { ownedBy: "user", jwksUrl: THEIRS });
  expect(withoutTransfer(all, false)).toHaveLength(2);
  expect(withoutTransfer(all, true).map(({ name }) => name)).toEqual(["jwksUrl"]);
  expect(withoutTransfer(told({ ownedBy: "svc" }, { ownedBy: "eve" }), true)).toHaveLength(1);
});

test("a state that somebody has edited, and other kinds, tell nothing and fail nothing", () => {
  for (const __first of [null, 1, "svc", [], { ownedBy: 1 }, { ownedBy: "" }, { toString: "svc", other: "a" }])
    expect(changedSinceFirst("AuthIntegration", { ownedBy: "user", other: "b", __first })).toEqual([]);
  expect(firstShown("OAuthProvider", { ownedBy: "svc" }, { ownedBy: "user" })).toEqual({});
  expect(changedSinceFirst("OAuthProvider", { ownedBy: "user", __first: { ownedBy: "svc" } })).toEqual([]);
});
