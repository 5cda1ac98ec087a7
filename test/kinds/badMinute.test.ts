import { EACH_CASE } from ".";
import { DEMO, wholeIn, type KindCase } from "./KindCase";
import { started } from "./started";
import { expectNoSecrets, MISBEHAVIOURS, thrownBy } from "../support/harness";

/* Tests of every resource while the service misbehaves. They wait, so they are not in everyKind.test.ts. */

describe.each(EACH_CASE)("$kind", (kindCase: KindCase) => {
  const { lifecycle, secretOutputs } = kindCase;

  test.each(MISBEHAVIOURS)(
    "a refresh that is answered with %s fails with a message and drops nothing",
    async (_how, fault, words) => {
      const given = await started(kindCase);
      const state = await given.create(wholeIn(kindCase, DEMO));
      await given.fault(fault);
      given.restart({ readDeadlineMs: 800, attemptTimeoutMs: 500, baseDelayMs: 1 });
      const error = await thrownBy(given.read(state));
      expect(error.message).toContain(`Could not read ${lifecycle.kind} ${state.id} ("thing"): `);
      expect(error.message).toMatch(words);
      expect(error).not.toHaveProperty("id");
      expectNoSecrets(
        given,
        secretOutputs.map((name) => String(state.outs[name])),
      );
    },
  );
});
