/** What lives in an integration: where the project has none, and ids of another form. */
import { authKeys } from "../../src/resources/authKeys/authKeysLifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { EACH_CHILD } from "../kinds";
import { DEMO } from "../kinds/KindCase";
import { harness, PROJECT, PROVIDER, thrownBy, withIntegration } from "../support/harness";

test.each(EACH_CHILD)("a %s without an integration is an error that says what to declare", async (_kind, held) => {
  const given = await harness(held.lifecycle);
  const error = await thrownBy(given.create(held.least(DEMO)));
  expect(error.message).toMatch(
    /Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output/,
  );
  expect(error).not.toHaveProperty("id");
});

test.each([PROJECT, `${PROJECT}/`, "/ep-1"])(
  "the look-up of a compute by the id %s says which form it has",
  async (id) => {
    const given = await harness(computeEndpoint);
    const { message } = await thrownBy(given.provider.read(id, {}));
    expect(message).toContain("the id must have the form <project id>/<id in the project>");
  },
);

test.each([`${PROJECT}/${PROVIDER}`, `${PROJECT}/${PROVIDER}/`, `${PROJECT}//0123456789ab`])(
  "the look-up of a key set by the id %s says which form it has",
  async (id) => {
    const given = await harness(authKeys);
    await withIntegration(given);
    const { message } = await thrownBy(given.provider.read(id, {}));
    expect(message).toContain("the id must have the form <project id>/<auth provider>/<hash>");
  },
);
