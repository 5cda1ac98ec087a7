import { AcceptedKey } from "../../../src/emulator/http/access";
import { Connections, type ConnectionEvent } from "../../../src/emulator/postgres/connections";
import { SessionError } from "../../../src/emulator/postgres/protocol";
import { control, start } from "../../support/emulator";

const KEY = "canary-key";
const MARK = { endpoint_id: "ep-one-1", role: "svcdb_owner", database: "svcdb", application_name: "shop" };

function watched() {
  const connections = new Connections(new AcceptedKey(KEY));
  const events: (ConnectionEvent | undefined)[] = [];
  connections.onChange((event) => events.push(event));
  return { connections, told: () => events.flatMap((event) => event?.what ?? []) };
}

test("a connection is known from its first message to its end, and looked at only when asked", () => {
  const { connections, told } = watched();
  const connection = connections.arrived();
  expect(connections.open()).toEqual([]);
  connection.claims({ role: "svcdb_owner" });
  expect(connections.open()).toMatchObject([{ endpoint_id: null, database: null, state: "authenticating" }]);
  connection.claims(MARK);
  connection.waits();
  expect(connections.open()).toEqual([{ ...MARK, since: expect.any(String), state: "waiting" }]);
  let isBusy = false;
  connection.opened(() => isBusy);
  expect(connections.open()).toMatchObject([{ state: "idle" }]);
  isBusy = true;
  expect(connections.open()).toMatchObject([{ state: "busy" }]);
  connection.closed();
  connection.closed();
  expect([connections.open(), connections.count]).toEqual([[], 0]);
  expect(told()).toEqual(["opened", "closed"]);
});

test("who leaves early has left, who is refused is kept, and who has said nothing was not there", () => {
  const { connections, told } = watched();
  connections.arrived().closed();
  const impatient = connections.arrived();
  impatient.claims(MARK);
  impatient.closed();
  const wrong = connections.arrived();
  wrong.claims(MARK);
  wrong.refused(new SessionError("28P01", "no"));
  wrong.closed();
  connections.arrived().refused(new SessionError("08P01", "nonsense"));
  expect(told()).toEqual(["left", "refused", "refused"]);
  expect(connections.refused()).toMatchObject([
    [0, { ...MARK, code: "28P01", message: "no" }],
    [1, { endpoint_id: null, role: null, code: "08P01" }],
  ]);
  expect(connections.count).toBe(0);
  connections.clear();
  connections.arrived().refused(new SessionError("08P01", "again"));
  expect(connections.refused()).toMatchObject([[2, { message: "again" }]]);
});

test("the list of the refused has an end, and their texts too; a key in the wrong place is not shown", () => {
  const { connections } = watched();
  for (let count = 0; count < 250; count++) {
    const connection = connections.arrived();
    connection.claims({ role: `${KEY}\n${"r".repeat(9_000)}`, endpoint_id: `ep;${KEY}` });
    connection.refused(new SessionError("28000", `no role ${KEY}\u001b[2J`));
  }
  const refused = connections.refused();
  expect([refused.length, refused[0]?.[0], refused.at(-1)?.[0]]).toEqual([100, 150, 249]);
  expect(refused[0]?.[1]).toMatchObject({ endpoint_id: "ep;[key]", message: "no role [key] [2J" });
  expect(JSON.stringify(refused)).not.toContain("canary");
  expect(refused[0]?.[1].role).toHaveLength(201);
});

test("without a Postgres there are no connections to list", async () => {
  const emulator = await start();
  expect(await control(emulator.url, "GET", "/connections")).toMatchObject({
    status: 404,
    body: { message: "there is no gate: start the emulator with --postgres" },
  });
});
