import { checkArguments, problemText } from "../../src/runtime/arguments";
import { EACH_CASE } from "../kinds";
import type { ArgumentCase } from "../kinds/KindCase";
import { free } from "../kinds/rules";

const KINDS = EACH_CASE.map(({ kind, lifecycle, arguments: args }) => ({
  kind,
  args: Object.entries<ArgumentCase>(args),
  /** The reasons of what is refused. */
  check: (given: Record<string, unknown>) => checkArguments(kind, lifecycle.args, given).problems.map(problemText),
}));

const CANARY = "canary value";
/** Objects of every shape that an argument has, with a null or a wrong type inside. */
const NESTED = ["min", "max", "afterSeconds", "pgSettings", "preloadLibraries", "other"].flatMap((name) =>
  [null, 7, true, CANARY, [null], {}, { "": null, useDefaults: null, enabledLibraries: null, work_mem: null }].map(
    (value) => ({ [name]: value }),
  ),
);
const LIBRARIES = [[null], [[null]], CANARY, {}, 7].map((enabledLibraries) => ({
  preloadLibraries: { enabledLibraries, useDefaults: CANARY },
}));
const WRONG = [null, 7, Number.NaN, true, CANARY, "", [null], [7, CANARY], [[]], {}, ...NESTED, ...LIBRARIES];

test.each(KINDS)(
  "$kind answers anything with messages of its own, never with those of the library",
  ({ args, check }) => {
    for (const [name] of args) {
      for (const value of WRONG) {
        for (const problem of check({ [name]: value })) {
          expect(problem).not.toMatch(/Invalid|expected|Unrecognized|Too (small|big)|received/i);
          expect(problem).not.toContain(CANARY);
          expect(problem).toMatch(/^\S+: \S+/);
        }
      }
    }
  },
);

test.each(KINDS)(
  "$kind refuses a list or an object that is empty inside, but for free lists and a flag",
  ({ args, check }) => {
    for (const [name] of args.filter(([, { rule }]) => rule !== free)) {
      expect([name, check({ [name]: [null] }).some((problem) => problem.startsWith(name))]).toEqual([name, true]);
    }
  },
);

const accepted = (kind: string, given: Record<string, unknown>): string[] => {
  const found = KINDS.find((each) => each.kind === kind);
  const [name = ""] = Object.keys(given);
  return (found?.check(given) ?? ["no such kind"]).filter((problem) => problem.startsWith(name));
};

test.each(["me@example.com", "a@localhost", "a@bücher.example", "ü@example.com", "用户@例子.广告", "a+b@x.example"])(
  "%s is an address, since the service may know it",
  (address) => {
    expect(accepted("AuthUser", { email: address })).toEqual([]);
    expect(accepted("EmailServer", { senderEmail: address })).toEqual([]);
  },
);

test.each(["", "me", "@example.com", "me@", "me@a@b", "me @example.com", "Me <me@example.com>", "a@b,c@d"])(
  "%j is no address",
  (address) => {
    expect(accepted("AuthUser", { email: address })).toEqual(["email: must be an e-mail address"]);
    expect(accepted("EmailServer", { senderEmail: address })).toEqual(["senderEmail: must be an e-mail address"]);
  },
);

test.each([
  ["AuthUser", "name", 255],
  ["ComputeEndpoint", "name", 64],
  ["AuthIntegration", "databaseName", 63],
])("the length of %s.%s is counted in characters", (kind, name, longest) => {
  expect(accepted(kind, { [name]: "😀".repeat(longest) })).toEqual([]);
  const words = [`${name}: must have 1 to ${longest} characters`];
  expect(accepted(kind, { [name]: "😀".repeat(longest + 1) })).toEqual(words);
  expect(accepted(kind, { [name]: "x".repeat(longest + 1) })).toEqual(words);
  expect(accepted(kind, { [name]: "" })).toEqual(words);
});

test.each(["google", "my-provider_2", "x".repeat(64)])("%s may be an OAuth provider", (providerId) => {
  expect(accepted("OAuthProvider", { providerId })).toEqual([]);
});

test.each(["Google", "2fa", "a.b", "a~b", "-a", "", "x".repeat(65)])("%j is no OAuth provider", (providerId) => {
  expect(accepted("OAuthProvider", { providerId })).toEqual([
    expect.stringMatching(/^providerId: must be the short name of an OAuth provider/),
  ]);
});
