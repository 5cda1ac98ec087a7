import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { possibleOwner } from "../../src/resources/shared/conflictMessages";
import { DEMO_PRIMARY } from "../support/computeCases";
import { harness, PROJECT, thrownBy, withIntegration } from "../support/harness";

const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const INTERRUPTED = "An interrupted pulumi up may have created it, or another stack";

test.each([
  ["just now", ago(0), true],
  ["23 hours ago", ago(23), true],
  ["two days ago", ago(48), false],
  ["at a time that is not told", undefined, true],
  ["at a time that is no date", "soon", true],
])("an object that was created %s (%s) may come from an interrupted up: %s", (_when, createdAt, isSaid) => {
  expect(possibleOwner(createdAt).includes(INTERRUPTED)).toBe(isSaid);
});

test.each([
  [2, true],
  [2 * 365 * 24, false],
])(
  "of a conflict with what is %s hours old, the message says that an up may have been interrupted: %s",
  async (hours, isSaid) => {
    const created_at = ago(hours);
    const compute = await harness(computeEndpoint);
    await compute.edit({ kind: "endpoint", id: DEMO_PRIMARY, set: { created_at } });
    const integration = await harness(authIntegration);
    await withIntegration(integration);
    await integration.edit({ kind: "integration", set: { created_at } });
    const errors = [
      await thrownBy(compute.create({ projectId: PROJECT, branchId: "br-main" })),
      await thrownBy(integration.create({ projectId: PROJECT, branchId: "br-main" })),
    ];
    for (const { message } of errors) {
      expect(message).toMatch(/another stack may manage it\./i);
      expect(message).toMatch(/created (2 hours|730 days) ago.*"adopt: true"/);
      expect(message.includes(INTERRUPTED)).toBe(isSaid);
    }
  },
);
