import { EACH_KIND, KIND_CASES } from "../kinds";
import { DEMO, wholeIn, type KindCase } from "../kinds/KindCase";
import { started as startedKind } from "../kinds/started";
import { STANDARD } from "../support/emailServers";
import type { Harness, State } from "../support/harness";

/*
 * An edited state: each stored value of every kind is replaced by the other JSON types. Every call then succeeds or
 * fails with a message, and the edited value is never sent.
 */

const EDITED = "edited-by-hand";
const NUMBER = 424_242;
const OTHER_TYPES = [NUMBER, true, EDITED, [NUMBER], [EDITED], { edited: EDITED }, { pgSettings: NUMBER }, []];

/** JavaScript's own error messages, with which no call may fail. */
const NO_WORDS =
  /is not a function|not iterable|Cannot |undefined|\[object|reading '|unexpected failure|is not a constructor/;

const typeOf = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);

const started = (kindCase: KindCase): Promise<Harness> => startedKind(kindCase, { activationMs: 5 }, { lagMs: 20 });

/** The error message, if it failed. */
async function expectWords(work: Promise<unknown>): Promise<string> {
  const words = await work.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : `no error: ${String(error)}`),
  );
  expect(words).not.toMatch(NO_WORDS);
  return words;
}

/** Asserts that none of our requests contained the edited value. */
async function expectNothingEditedSent(given: Harness): Promise<void> {
  const sent = JSON.stringify((await given.mutations()).map(({ method, path, body }) => [method, path, body]));
  expect(sent).not.toContain(EDITED);
  expect(sent).not.toContain(String(NUMBER));
}

const edited = ({ id, outs }: State, name: string, value: unknown): State => ({ id, outs: { ...outs, [name]: value } });

jest.setTimeout(90_000); // A compute has many arguments, and each gets values of all types.

describe.each(EACH_KIND)("%s", (_kind, kindCase) => {
  const inputs = wholeIn(kindCase, DEMO);
  test("is planned, read and updated, or refused with a message, whatever type a stored value has", async () => {
    const given = await started(kindCase);
    const state = await given.create(inputs);
    await given.forgetRequests();
    for (const [name, was] of Object.entries(state.outs).filter(([key]) => !key.startsWith("__"))) {
      for (const value of OTHER_TYPES.filter((other) => typeOf(other) !== typeOf(was))) {
        const odd = edited(state, name, value);
        given.restart();
        const olds = Object.hasOwn(inputs, name) ? { ...inputs, [name]: value } : inputs;
        await expectWords(given.check(inputs, olds));
        await expectWords(given.diff(odd, inputs));
        await expectWords(given.update(odd, inputs));
        const read = given.read(odd);
        await expectWords(read);
        // A state that is read again is whole again.
        const found = await read.catch(() => undefined);
        if (found !== undefined)
          expect([name, (await expectWords(given.update(found, inputs))).includes("edited")]).toEqual([name, false]);
      }
    }
    await expectNothingEditedSent(given);
  });

  test("is deleted, or stays and the deletion says why", async () => {
    const given = await started(kindCase);
    let state = await given.create(inputs);
    const names = Object.entries(state.outs).filter(([key]) => !key.startsWith("__"));
    for (const [at, [name, was]] of names.entries()) {
      const others = OTHER_TYPES.filter((other) => typeOf(other) !== typeOf(was));
      const words = await expectWords(given.delete(edited(state, name, others[at % others.length])));
      if (words !== "") continue;
      given.restart();
      state = await given.create(inputs);
    }
    await expectNothingEditedSent(given);
  });

  test("is neither updated nor deleted if what identifies the object is not a string", async () => {
    const given = await started(kindCase);
    const state = await given.create(inputs);
    await given.forgetRequests();
    const { identity = [] } = kindCase.lifecycle;
    expect(identity.length).toBeGreaterThan(0);
    for (const name of identity) {
      const odd = edited(state, name, NUMBER);
      const words = new RegExp(`the state has a value of the wrong type for "${name}": .*Nothing was sent`);
      expect(await expectWords(given.update(odd, inputs))).toMatch(words);
      expect(await expectWords(given.delete(odd))).toMatch(words);
    }
    expect(await given.requests()).toEqual([]);
  });
});

test("an e-mail server whose host is no text in the state is changed after a refresh, and not before", async () => {
  const given = await started(KIND_CASES.EmailServer);
  const state = edited(await given.create(STANDARD), "host", 25);
  await given.forgetRequests();
  const program = { ...STANDARD, senderName: "New" };
  expect(await expectWords(given.update(state, program))).toMatch(
    /the state has a value of the wrong type for "host": .*Nothing was sent\. Run pulumi refresh/,
  );
  expect(await given.requests()).toEqual([]);
  given.restart();
  const found = (await given.read(state)) ?? state;
  expect(found.outs["host"]).toBe(STANDARD.host);
  expect((await given.update(found, program)).outs).toMatchObject(program);
});
