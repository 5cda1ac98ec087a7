import { Deadline } from "../../src/client";
import { changeRequest } from "../../src/client/changes";

// What runs before each attempt of a change: the proof first, and then what is to run in the tick in which it is sent.
const ROUTE = { method: "PATCH", template: "/things/{id}", params: { id: "a" } } as const;

/** What runs before an attempt, in its order. */
function attempting({ proves, checks }: { readonly proves: boolean; readonly checks: boolean }) {
  const order: string[] = [];
  const deadline = new Deadline(1_000);
  const prove = async (options: object): Promise<void> => {
    expect(options).toMatchObject({ deadline });
    await Promise.resolve();
    order.push("proof");
  };
  const beforeAttempt = (): void => void order.push("check");
  const request = changeRequest(ROUTE, {
    deadline,
    ...(proves && { integration: { prove } }),
    ...(checks && { beforeAttempt }),
  });
  return { order, request };
}

test.each([
  [{ proves: true, checks: true }, ["proof", "check"]],
  [{ proves: true, checks: false }, ["proof"]],
  [{ proves: false, checks: true }, ["check"]],
  [{ proves: false, checks: false }, []],
])("before each attempt of a change with %j: %j", async (how, expected) => {
  const { order, request } = attempting(how);
  await request.beforeAttempt?.();
  expect(order).toEqual(expected);
  await request.beforeAttempt?.();
  expect(order).toEqual([...expected, ...expected]);
});

test("a change has ten minutes, unless it is given another time", () => {
  expect(changeRequest(ROUTE, {})).toMatchObject({ ...ROUTE, deadline: { totalMs: 600_000 } });
  const deadline = new Deadline(5);
  expect(changeRequest(ROUTE, { deadline }).deadline).toBe(deadline);
});
