import { durationMs, hasWords, isNamedAfter, matchesGlob } from "../../../src/cli/sweep/matching";

test.each([
  ["pr-*", "pr-12", true],
  ["pr-*", "a pr-12", false],
  ["pr-1", "pr-12", false],
  ["*/pr-1", "preview/a/pr-1", true],
  ["https://pr-*.example.com", "https://pr-1.example.com", true],
  ["https://pr-*.example.com", "https://pr-1.example.com.evil.com", false],
  ["https://pr-*.example.com", "https://pr-1xexample.com", false],
  ["pr-[0-9]", "pr-1", false],
  ["pr-*", "pr-\n1", true],
])("the pattern %j of %j: %s", (pattern, text, expected) => expect(matchesGlob(pattern, text)).toBe(expected));

test.each([
  ["https://feature-login.example.com", "feature/login", true],
  ["https://app-git-feature-login-team.example.com", "Feature_Login", true],
  ["preview/pr-12-login", "pr-12", true],
  ["preview/pr-12-login", "pr-1", false],
  ["https://pr-1.example.com", "pr-12", false],
  ["preview/größe", "größe", true],
  ["anything", "/", false],
])("%j is named after the branch %j: %s", (text, branch, expected) =>
  expect(isNamedAfter(text, branch)).toBe(expected),
);

test.each([
  ["0", 0],
  ["30m", 1_800_000],
  ["12h", 43_200_000],
  ["7d", 604_800_000],
  ["0d", 0],
  ["7", undefined],
  ["-1d", undefined],
  ["1.5h", undefined],
  ["1w", undefined],
])("the duration %j: %s", (text, expected) => expect(durationMs(text)).toBe(expected));

test("a pattern of nothing but wildcards recognises nothing", () =>
  expect(["*", "*/**", "pr-*", "ü*"].map(hasWords)).toEqual([false, false, true, true]));
