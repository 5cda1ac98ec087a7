import type { Properties } from "../../src/contract/hiddenKeys";
import type { Lifecycle } from "../../src/host/lifecycle";
import { authIntegration } from "../../src/resources/authIntegration/lifecycle";
import { authKeys } from "../../src/resources/authKeys/lifecycle";
import { authOwnershipTransfer } from "../../src/resources/authOwnershipTransfer/lifecycle";
import { authUser } from "../../src/resources/authUser/lifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/lifecycle";
import { emailServer } from "../../src/resources/emailServer/lifecycle";
import { oauthProvider } from "../../src/resources/oauthProvider/lifecycle";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import { EVERY } from "../support/computeCases";
import { STANDARD } from "../support/emailServers";
import { harness, PROJECT, withIntegration, type Harness, type State } from "../support/harness";

/*
 * A state that somebody has edited: each stored value, of every kind, gets the other types that JSON has. Whatever is
 * called then ends well or in words, and nothing of the edited value leaves.
 */

const inProject = { projectId: PROJECT };
const EDITED = "edited-by-hand";
const NUMBER = 424_242;
const OTHER_TYPES = [NUMBER, true, EDITED, [NUMBER], [EDITED], { edited: EDITED }, { pgSettings: NUMBER }, []];

/** What a call must not end with: words of JavaScript. */
const NO_WORDS =
  /is not a function|not iterable|Cannot |undefined|\[object|reading '|unexpected failure|is not a constructor/;

type Any = Lifecycle<object, object>;
/** As the engine sees them: of any arguments and outputs. */
const kinds: readonly (readonly [string, Any, Properties])[] = (
  [
    [authIntegration, { ...inProject, branchId: "br-main", databaseName: "svcdb" }],
    [authKeys, { ...inProject, rotationTriggers: ["first"] }],
    [authOwnershipTransfer, { ...inProject, triggers: ["first"] }],
    [authUser, { ...inProject, email: "ann@example.com", name: "Ann" }],
    [computeEndpoint, { ...EVERY, restartTriggers: ["first"] }],
    [emailServer, STANDARD],
    [oauthProvider, { ...inProject, providerId: "microsoft", clientId: "client", clientSecret: "secret" }],
    [whitelist, { ...inProject, domains: ["https://app.example.com"] }],
    [whitelistDomain, { ...inProject, domain: "https://app.example.com" }],
  ] as const
).map(([lifecycle, inputs]) => [lifecycle.kind, lifecycle as unknown as Any, inputs]);

const typeOf = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);

async function started(lifecycle: Any): Promise<Harness> {
  const given = await harness(lifecycle, { activationMs: 5 }, { lagMs: 20 });
  if (lifecycle.kind !== "AuthIntegration") await withIntegration(given);
  return given;
}

/** The words that it failed with, if it did. */
async function expectWords(work: Promise<unknown>): Promise<string> {
  const words = await work.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : `no error: ${String(error)}`),
  );
  expect(words).not.toMatch(NO_WORDS);
  return words;
}

/** No request of ours had the edited value in it. */
async function expectNothingEditedSent(given: Harness): Promise<void> {
  const sent = JSON.stringify((await given.mutations()).map(({ method, path, body }) => [method, path, body]));
  expect(sent).not.toContain(EDITED);
  expect(sent).not.toContain(String(NUMBER));
}

const edited = ({ id, outs }: State, name: string, value: unknown): State => ({ id, outs: { ...outs, [name]: value } });

describe.each(kinds)("%s", (_kind, lifecycle, inputs) => {
  test("is planned, read and updated in words or well, whatever type a stored value has been given", async () => {
    const given = await started(lifecycle);
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
    const given = await started(lifecycle);
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
});

test("an e-mail server whose host is no text in the state is changed after a refresh, and not before", async () => {
  const given = await started(emailServer as unknown as Any);
  const state = edited(await given.create(STANDARD), "host", 25);
  await given.forgetRequests();
  const program = { ...STANDARD, senderName: "New" };
  expect(await expectWords(given.update(state, program))).toMatch(
    /the state holds "host" with a value of another type .*Nothing was sent\. Run pulumi refresh/,
  );
  expect(await given.requests()).toEqual([]);
  given.restart();
  const found = (await given.read(state)) ?? state;
  expect(found.outs["host"]).toBe(STANDARD.host);
  expect((await given.update(found, program)).outs).toMatchObject(program);
});
