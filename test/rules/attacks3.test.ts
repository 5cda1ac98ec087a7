/** Attacks on rules 2, 3 and 4, in process: claims, deletions and what this run has taken over. */
import { Deadline, FateUnknownError } from "../../src/client";
import { createCompute } from "../support/creating";
import { compute, ENDPOINTS, PRJ } from "../support/scene";
import { closeAll, errorOf, scripted } from "../support/scriptedServer";

afterEach(closeAll);

test("two creations that look alike, and both answers are about one compute: one of them made it", async () => {
  const made = compute({ type: "read_only", current_state: "idle" });
  const { server, client } = await scripted(({ method, path }) => {
    if (method === "POST") return { status: 201, json: { endpoint: made, operations: [] } };
    // The list lags: it shows nothing yet.
    return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
  });
  const replica = { branch_id: "br-1", type: "read_only" };
  const first = createCompute(client, PRJ, replica, { idleIsReady: true });
  const second = errorOf(createCompute(client, PRJ, replica, { idleIsReady: true }));
  expect(await first).toMatchObject({ id: "ep-1" });
  expect(await second).toBeInstanceOf(FateUnknownError);
  expect(server.count(`POST ${ENDPOINTS}`)).toBe(2);
});

test("creations that look alike end, each by its own clock, when no POST is answered", async () => {
  const { client } = await scripted(
    ({ method, path }) => {
      if (method === "POST") return { fault: "hang" };
      return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
    },
    { mutationAttemptTimeoutMs: 200 },
  );
  const replica = { branch_id: "br-1", type: "read_only" };
  const errors = await Promise.all(
    [1, 2, 3].map(() => errorOf(createCompute(client, PRJ, replica, { deadline: new Deadline(400) }))),
  );
  for (const error of errors) expect(error).toBeInstanceOf(FateUnknownError);
});
