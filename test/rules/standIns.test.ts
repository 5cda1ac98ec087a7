import { createHash } from "node:crypto";
import type { Properties } from "../../src/contract/hiddenKeys";
import { CANARY, type Harness, type State } from "../support/harness";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { OAUTH_SHARED, OAUTH_STANDARD } from "../kinds/OAuthProvider";
import { mailOf, providerOf } from "../support/rules/routes";
import { computeScene, emailScene, oauthScene } from "../support/rules/scenes";
import { up, wordsOf } from "../support/rules/steps";

/**
 * Placeholders in a state for values that the service does not show: they are compared, and no request contains one.
 */
const NOT_SHOWN = "(not shown by the service)";

/** A stored secret as in the emulator. */
const hashOf = (secret: string): string => `sha256:${createHash("sha256").update(secret).digest("hex")}`;

/** What an import leaves for arguments that the service does not show. */
const imported = ({ id, outs }: State, hidden: readonly string[]): State => ({
  id,
  outs: { ...outs, ...Object.fromEntries(hidden.map((name) => [name, NOT_SHOWN])) },
});

/** With ignoreChanges the engine passes the old input. */
const ignoring = (program: Properties, ...names: string[]): Properties => ({
  ...program,
  ...Object.fromEntries(names.map((name) => [name, NOT_SHOWN])),
});

async function expectRefused(given: Harness, state: State, program: Properties, name: string): Promise<void> {
  await given.forgetRequests();
  const { outcome, state: after } = await up(given, state, program);
  expect(wordsOf(outcome)).toMatch(
    new RegExp(
      `"${name}" is a placeholder in the state for a value that the service does not show\\..*nothing was sent\\. Give the real value in the program`,
    ),
  );
  expect(await given.mutations()).toEqual([]);
  expect(after).toEqual(state);
}

describe("an imported e-mail server whose password the program ignores", () => {
  test("is not sent with the text that stands for its password: the update says so, and nothing leaves", async () => {
    const { given } = await emailScene();
    const state = imported(await given.create(EMAIL_STANDARD), ["password"]);
    await expectRefused(given, state, { ...ignoring(EMAIL_STANDARD, "password"), senderName: "New" }, "password");
    expect(await mailOf(given)).toMatchObject({ password: hashOf(EMAIL_STANDARD.password), sender_name: "Example" });
  });

  test("passes a plan and an up that change nothing", async () => {
    const { given } = await emailScene();
    const state = imported(await given.create(EMAIL_STANDARD), ["password"]);
    const program = ignoring(EMAIL_STANDARD, "password");
    expect(await given.check(program, program)).toEqual([]);
    expect(await given.diff(state, program)).toMatchObject({ changes: false });
  });

  test("is sent as a whole once the program gives the password", async () => {
    const { given } = await emailScene();
    const state = imported(await given.create(EMAIL_STANDARD), ["password"]);
    const { outcome } = await up(given, state, { ...EMAIL_STANDARD, password: `${CANARY}-real`, senderName: "New" });
    expect(outcome).toMatchObject({ ended: "well" });
    expect(await mailOf(given)).toMatchObject({ password: hashOf(`${CANARY}-real`), sender_name: "New" });
  });
});

describe("an OAuth provider", () => {
  test("that was imported is changed in what the program gives, where the text that stands for the rest is not sent", async () => {
    const { given } = await oauthScene();
    const state = imported(await given.create(OAUTH_STANDARD), ["clientId", "clientSecret"]);
    const { outcome } = await up(given, state, { ...ignoring(OAUTH_STANDARD, "clientSecret"), clientId: "new-id" });
    expect(outcome).toMatchObject({ ended: "well" });
    const { clientSecret } = OAUTH_STANDARD;
    expect(await providerOf(given)).toMatchObject({ client_id: "new-id", client_secret: hashOf(clientSecret) });
  });

  test("that was imported continues with an unfinished change only with real credentials", async () => {
    const { given } = await oauthScene();
    const { id, outs } = imported(await given.create(OAUTH_STANDARD), ["clientSecret"]);
    const unfinished = { id, outs: { ...outs, __unfinished: "update" } };
    await expectRefused(given, unfinished, ignoring(OAUTH_STANDARD, "clientSecret"), "clientSecret");
  });

  test("that somebody has made shared does not get the text that a refresh puts in place of the client id", async () => {
    const { given } = await oauthScene();
    const state = await given.create(OAUTH_STANDARD);
    await given.edit({ kind: "oauth_provider", id: "microsoft", delete: true });
    await given.post("/projects/prj-demo/auth/oauth_providers", { id: "microsoft" });
    given.restart();
    const { inputs, ...found } = (await given.read(state)) ?? { ...state, inputs: {} as Properties };
    expect(String(found.outs["clientId"])).toMatch(/^\(shared keys of the service/);
    // The refresh has put it into the inputs, where ignoreChanges keeps it.
    const program = { ...OAUTH_STANDARD, clientId: inputs["clientId"], clientSecret: `${CANARY}-new` };
    await expectRefused(given, found, program, "clientId");
    expect(await providerOf(given)).toMatchObject({ type: "shared" });
  });

  test("is not created with such a text either, wherever it comes from", async () => {
    const { given } = await oauthScene();
    const { outcome } = await up(given, undefined, {
      ...OAUTH_SHARED,
      clientId: "(own credentials: changed outside Pulumi)",
      clientSecret: "x",
    });
    expect(wordsOf(outcome)).toMatch(/"clientId" is a placeholder/);
    expect(await providerOf(given)).toBeUndefined();
  });
});

test("such a text deep in the settings of a compute is named by its place and not sent", async () => {
  const { given } = await computeScene();
  const state = await given.create(COMPUTE);
  const program = { ...COMPUTE, settings: { pgSettings: { work_mem: NOT_SHOWN } } };
  await expectRefused(given, state, program, "settings.pgSettings.work_mem");
});
