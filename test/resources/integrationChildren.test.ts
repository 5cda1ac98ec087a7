/** What lives in an integration, where the project has none. */
import { EACH_CHILD } from "../kinds";
import { DEMO } from "../kinds/KindCase";
import { harness, thrownBy } from "../support/harness";

test.each(EACH_CHILD)("a %s without an integration is an error that says what to declare", async (_kind, held) => {
  const given = await harness(held.lifecycle);
  const error = await thrownBy(given.create(held.least(DEMO)));
  expect(error.message).toMatch(
    /Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output/,
  );
  expect(error).not.toHaveProperty("id");
});
