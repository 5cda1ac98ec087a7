/** Blanks and line breaks around names and in them, and around secrets, for every argument that is a text. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blanksAround } from "../../src/contract/blanks";
import { EACH_CASE } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { cheapDigests } from "../support/cheapDigests";
import { CANARY, harness, UNKNOWN, withIntegration, type Harness } from "../support/harness";
import { started } from "../kinds/started";

cheapDigests();

const TEXTS = EACH_CASE.flatMap((kindCase) =>
  Object.entries(wholeIn(kindCase, DEMO)).flatMap(([argument, value]) =>
    typeof value === "string" ? [{ kind: kindCase.kind, argument, value, kindCase }] : [],
  ),
);
const isSecret = ({ argument, kindCase }: (typeof TEXTS)[number]): boolean =>
  Object.keys(kindCase.secretArguments).includes(argument);

test.each(TEXTS.filter((one) => !isSecret(one)))(
  "$kind $argument has neither line breaks nor blanks around it, and no reason shows the value",
  async ({ argument, value, kindCase }) => {
    const given = await harness(kindCase.lifecycle);
    const whole = wholeIn(kindCase, DEMO);
    const reasons = async (text: string): Promise<string[]> =>
      (await given.check({ ...whole, [argument]: text })).filter((reason) => reason.startsWith(argument));
    expect(await reasons(value)).toEqual([]);
    for (const odd of [
      ...[` ${value}`, `${value} `, `${value}\u00a0`, `\ufeff${value}`],
      ...["\n", "\r\n", "\r", "\u2028", "\u0000", "\t"].flatMap((one) => [`${value}${one}`, `${one}${value}`]),
      `${value}\r\nBcc: ${CANARY}@example.com`,
    ]) {
      const [reason = "none"] = await reasons(odd);
      expect([odd, reason]).toEqual([odd, expect.stringMatching(/^\S+: must [^\n]+$/)]);
      expect(reason).not.toContain(CANARY);
    }
    expect(await given.requests()).toEqual([]);
  },
);

describe.each(EACH_CASE.filter(({ byReference }) => byReference.length > 0))("a secret of $kind", (kindCase) => {
  const NAME = "SVC_TEST_BLANKS";
  const secretArguments: Readonly<Record<string, ((secret: string | { fromEnv: string }) => unknown) | undefined>> =
    kindCase.secretArguments;
  const with_ = (secret: string | { fromEnv: string } | { fromFile: string }) => ({
    ...wholeIn(kindCase, DEMO),
    ...Object.fromEntries(
      kindCase.byReference.map((name) => [name, secretArguments[name]?.(secret as { fromEnv: string })]),
    ),
  });
  const warned = (given: Harness): string[] =>
    given.log
      .filter(({ severity, message }) => severity === "warning" && / blank| line break/.test(message))
      .map(({ message }) => message);
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "blanks-"))));
  afterEach(() => {
    rmSync(folder, { recursive: true });
    delete process.env[NAME];
  });

  test.each([
    ["\n", "ends with a line break"],
    ["\r\n", "ends with a line break"],
    [" ", "ends with a blank"],
  ])("that ends with %j is warned of by name, literal or by reference, and sent as it is", async (end, words) => {
    const given = await started(kindCase);
    const isText = kindCase.byReference.some((name) => secretArguments[name]?.("") === "");
    const literal = with_(`${CANARY}${end}`);
    await given.check(literal);
    expect(warned(given)).toEqual(
      isText
        ? [expect.stringMatching(new RegExp(`" of ${kindCase.kind} \\("thing"\\): it ${words}, which is sent with`))]
        : [],
    );
    given.restart();
    given.log.splice(0);
    process.env[NAME] = `${CANARY}${end}`;
    const referring = with_({ fromEnv: NAME });
    await given.check(referring);
    expect(warned(given)).toEqual([
      expect.stringMatching(
        new RegExp(`" of ${kindCase.kind} \\("thing"\\): the value of ${NAME} ${words}, which is sent`),
      ),
    ]);
    const state = await given.create(referring);
    // It may be meant, so it is said once.
    given.restart();
    given.log.splice(0);
    await given.check(referring, referring);
    await given.diff(state, referring);
    expect(warned(given)).toEqual([]);
    // Another value of the same reference is said again.
    process.env[NAME] = `${CANARY}-rotated${end}`;
    given.restart();
    await given.check(referring, referring);
    await given.diff(state, referring);
    expect(warned(given)).toEqual([expect.stringContaining(`the value of ${NAME} ${words}`)]);
    expect(JSON.stringify(given.log)).not.toContain(CANARY);
  });

  test("of a file is what it holds without its last line break", async () => {
    const given = await started(kindCase);
    const file = join(folder, "secret");
    const said: string[][] = [];
    for (const content of [`${CANARY}\n`, `${CANARY}\r\n`, `${CANARY}\n\n`, ` ${CANARY}\n`]) {
      writeFileSync(file, content);
      given.restart();
      given.log.splice(0);
      await given.check(with_({ fromFile: file }));
      said.push(warned(given));
    }
    expect(said.map((one) => one.length)).toEqual([0, 0, 1, 1]);
    expect(said.flat().join()).not.toContain(CANARY);
  });
});

test("a value that is not known yet, or has no value, is not warned of", async () => {
  const kindCase = EACH_CASE.find(({ kind }) => kind === "EmailServer");
  if (kindCase === undefined) throw new Error("no such kind");
  const given = await harness(kindCase.lifecycle);
  await withIntegration(given);
  for (const password of [UNKNOWN, { fromEnv: "SVC_TEST_BLANKS" }])
    expect(await given.check({ ...wholeIn(kindCase, DEMO), password })).toEqual([]);
  expect(given.log).toEqual([]);
});

test.each([
  ["secret", undefined],
  ["two words", undefined],
  ["-----BEGIN KEY-----\nabc\n-----END KEY-----", undefined],
  ["-----BEGIN KEY-----\nabc\n-----END KEY-----\n", "ends with a line break"],
  ["secret\n ", "ends with a line break"],
  ["\nsecret", "begins with a blank"],
  ["\tsecret ", "begins and ends with a blank"],
  ["secret\u00a0", "ends with a blank"],
  [" ", "begins and ends with a blank"],
])("%j: %s", (secret, words) => expect(blanksAround(secret)).toBe(words));
