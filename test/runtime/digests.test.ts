import { createHmac, scryptSync } from "node:crypto";
import { Digests, isDigest } from "../../src/runtime/digests";

const CHEAP = { N: 16, r: 1, p: 1 };
const PLACE = { kind: "OAuthProvider", id: "prj/google", path: "clientSecret" };

test("a digest distinguishes its value from any other, in another process too", async () => {
  const digest = (await new Digests(CHEAP).of("hunter2"))(PLACE);
  expect(digest).toMatch(/^scrypt-bound\$16\$1\$1\$/);
  const digests = new Digests(CHEAP);
  const match = (value: string): Promise<boolean> => digests.matches(digest, value, PLACE);
  expect([await match("hunter2"), await match("hunter3")]).toEqual([true, false]);
  // From memory.
  expect([await match("hunter2"), await match("hunter3")]).toEqual([true, false]);
});

test.each([
  ["kind", { ...PLACE, kind: "EmailServer" }],
  ["object", { ...PLACE, id: "prj/github" }],
  ["argument", { ...PLACE, path: "password" }],
  ["place whose names make the same text", { ...PLACE, kind: "OAuthProviderprj", id: "/google" }],
])("a digest that is copied to another %s matches nothing there", async (_, place) => {
  const digests = new Digests(CHEAP);
  expect(await digests.matches((await digests.of("v"))(PLACE), "v", place)).toBe(false);
});

test("two digests of one value differ, and none shows its length", async () => {
  const digests = new Digests(CHEAP);
  const path = "password";
  const [one, two, long] = [await digests.of("a"), await digests.of("a"), await digests.of("a".repeat(1_000))];
  expect(one(PLACE).split("$").at(-1)).not.toBe(
    two({ ...PLACE, path })
      .split("$")
      .at(-1),
  );
  expect(one(PLACE)).not.toBe((await new Digests(CHEAP).of("a"))(PLACE));
  expect(long(PLACE)).toHaveLength(one(PLACE).length);
});

test("a digest is scrypt of the value, with the place as the message of an HMAC", async () => {
  const [, N, r, p, salt = "", hash] = (await new Digests(CHEAP).of("v"))(PLACE).split("$");
  const key = scryptSync("v", Buffer.from(salt, "base64"), 32, { N: Number(N), r: Number(r), p: Number(p) });
  const message = '["OAuthProvider","prj/google","clientSecret"]';
  expect(createHmac("sha256", key).update(message).digest("base64")).toBe(hash);
});

describe("a digest without a place, as earlier versions stored it,", () => {
  const salt = Buffer.alloc(16, 7);
  const stored = (cost: typeof CHEAP): string =>
    [
      "scrypt",
      cost.N,
      cost.r,
      cost.p,
      salt.toString("base64"),
      scryptSync("v", salt, 32, cost).toString("base64"),
    ].join("$");

  test("matches its value at any place, and is distinguished from one of today", async () => {
    const digests = new Digests(CHEAP);
    const digest = stored({ N: 32, r: 2, p: 2 });
    expect(await digests.matches(digest, "v", PLACE)).toBe(true);
    expect(await digests.matches(digest, "w", PLACE)).toBe(false);
    expect([digests.isBound(digest), digests.isBelieved(digest)]).toEqual([false, true]);
    expect(digests.isBound((await digests.of("v"))(PLACE))).toBe(true);
  });
});

test.each([
  ["N", { N: 2 ** 14, r: 8, p: 3 }],
  ["r", { N: 2 ** 15, r: 7, p: 3 }],
  ["p", { N: 2 ** 15, r: 8, p: 2 }],
])("a digest of a lower %s than today's is not believed, and matches nothing", async (_, cost) => {
  const digest = (await new Digests(cost).of("v"))(PLACE);
  const digests = new Digests();
  expect(isDigest(digest)).toBe(true);
  expect([digests.isBelieved(digest), await digests.matches(digest, "v", PLACE)]).toEqual([false, false]);
});

test("the cost is that of the text: one that was stored when more was asked for still tells", async () => {
  const digest = (await new Digests({ N: 32, r: 2, p: 2 }).of("v"))(PLACE);
  expect(await new Digests(CHEAP).matches(digest, "v", PLACE)).toBe(true);
});

test("a guess costs what OWASP asks for, and 32 MB", async () => {
  expect((await new Digests().of("v"))(PLACE)).toMatch(/^scrypt-bound\$32768\$8\$3\$/);
});

const SALT = "A".repeat(22) + "==";
const HASH = "A".repeat(43) + "=";
test.each([
  ["nothing", ""],
  ["a text", "digest"],
  ["a cost that would use up the process", `scrypt$99999$8$1$${SALT}$${HASH}`],
  ["memory that would use up the process", `scrypt-bound$65536$9$1$${SALT}$${HASH}`],
  ["a time that would use up the process", `scrypt$65536$8$17$${SALT}$${HASH}`],
  ["a cost that scrypt does not take", `scrypt-bound$65536$1$1$${SALT}$${HASH}`],
  ["no power of two", `scrypt$1000$8$1$${SALT}$${HASH}`],
  ["a cost of nothing", `scrypt$16$0$1$${SALT}$${HASH}`],
  ["a short hash", `scrypt$16$1$1$${SALT}$AAAA`],
  ["another form", `scrypt-other$16$1$1$${SALT}$${HASH}`],
])("%s is no digest, and matches nothing", async (_, text) => {
  expect(isDigest(text)).toBe(false);
  expect(await new Digests(CHEAP).matches(text, "v", PLACE)).toBe(false);
});
