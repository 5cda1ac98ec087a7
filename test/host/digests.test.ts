import { Digests, isDigest } from "../../src/host/digests";

const CHEAP = { N: 16, r: 1, p: 1 };

test("a digest tells the value that it was made of from any other, in another process too", async () => {
  const digest = await new Digests(CHEAP).of("hunter2");
  expect(digest).toMatch(/^scrypt\$16\$1\$1\$/);
  const digests = new Digests(CHEAP);
  expect([await digests.matches(digest, "hunter2"), await digests.matches(digest, "hunter3")]).toEqual([true, false]);
  // From memory.
  expect([await digests.matches(digest, "hunter2"), await digests.matches(digest, "hunter3")]).toEqual([true, false]);
});

test("two digests of one value differ, and none shows its length", async () => {
  const digests = new Digests(CHEAP);
  const [one, two, long] = [await digests.of("a"), await digests.of("a"), await digests.of("a".repeat(1_000))];
  expect(one).not.toBe(two);
  expect(long).toHaveLength(one.length);
});

test("the cost is that of the text: one that was stored is read when the cost has changed", async () => {
  const digest = await new Digests({ N: 32, r: 2, p: 2 }).of("v");
  expect(await new Digests(CHEAP).matches(digest, "v")).toBe(true);
});

test("a guess costs about a second of a processor and 32 MB", async () => {
  expect(await new Digests().of("v")).toMatch(/^scrypt\$32768\$8\$14\$/);
});

const SALT = "A".repeat(22) + "==";
const HASH = "A".repeat(43) + "=";
test.each([
  ["nothing", ""],
  ["a text", "digest"],
  ["a cost that would use up the process", `scrypt$99999$8$1$${SALT}$${HASH}`],
  ["memory that would use up the process", `scrypt$65536$9$1$${SALT}$${HASH}`],
  ["a time that would use up the process", `scrypt$65536$8$17$${SALT}$${HASH}`],
  ["a cost that scrypt does not take", `scrypt$65536$1$1$${SALT}$${HASH}`],
  ["no power of two", `scrypt$1000$8$1$${SALT}$${HASH}`],
  ["a cost of nothing", `scrypt$16$0$1$${SALT}$${HASH}`],
  ["a short hash", `scrypt$16$1$1$${SALT}$AAAA`],
])("%s is no digest, and matches nothing", async (_, text) => {
  expect(isDigest(text)).toBe(false);
  expect(await new Digests(CHEAP).matches(text, "v")).toBe(false);
});
