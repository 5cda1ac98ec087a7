import { createConnection } from "node:net";
import { control, PRIMARY, until } from "../support/emulator";
import { startGate, suspended, uriOf, useServers } from "../support/gate";
import { VISITORS } from "../support/visitors";

useServers();
const visit = VISITORS.pg;

test("the control route lists who is connected, who waits and who was refused, without a secret", async () => {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line.replace(/^\S+Z |, \d+ ms$/g, ""));
  const emulator = await startGate({ apiKey: "canary-key", activationMs: 1500, log });
  const listed = async () => {
    const response = await fetch(`${emulator.url}/_emulator/connections`);
    return (await response.json()) as { open: { state: string }[]; refused: object[] }; // the test compares it
  };
  expect(await listed()).toEqual({ open: [], refused: [] });
  const client = await visit(`${uriOf(emulator)}&application_name=shop`);
  await client.ask("begin; select 'canary-query'");
  const seen = { endpoint_id: PRIMARY, role: "svcdb_owner", database: "svcdb", since: expect.stringMatching(/Z$/) };
  expect(await listed()).toEqual({ open: [{ ...seen, application_name: "shop", state: "busy" }], refused: [] });
  await client.close();

  await suspended(emulator);
  const coming = visit(uriOf(emulator));
  await until(listed, ({ open }) => open[0]?.state === "waiting");
  await coming;
  const wrong = [
    uriOf(emulator, PRIMARY, { key: "canary-wrong" }),
    uriOf(emulator, "ep-never-was-1"),
    uriOf(emulator, PRIMARY, { database: "nowhere" }),
  ];
  for (const uri of wrong) await visit(uri).catch(() => undefined);
  const [host = "", port] = (emulator.gate ?? "").split(":");
  createConnection(Number(port), host).end("GET / HTTP/1.1\r\n\r\n").resume();
  const { refused } = await until(listed, (now) => now.refused.length === 4);
  expect(refused).toMatchObject([
    { endpoint_id: PRIMARY, role: "svcdb_owner", code: "28P01" },
    { endpoint_id: "ep-never-was-1", code: "08004", message: expect.stringContaining("does not exist") },
    { database: "nowhere", code: "3D000", message: 'database "nowhere" does not exist' },
    { endpoint_id: null, role: null, code: "08P01" },
  ]);
  expect(JSON.stringify([await listed(), lines])).not.toContain("canary");
  const told = `connection to ${PRIMARY} svcdb_owner on svcdb`;
  expect(lines.filter((line) => line.startsWith("connection"))).toEqual([
    ...[`${told} shop -> opened`, `${told} shop -> closed`, `${told} -> opened`],
    `${told} -> refused with 28P01: password authentication failed for user "svcdb_owner"`,
    'connection to ep-never-was-1 svcdb_owner on svcdb -> refused with 08004: the compute "ep-never-was-1" does not exist',
    `connection to ${PRIMARY} svcdb_owner on nowhere -> refused with 3D000: database "nowhere" does not exist`,
    expect.stringMatching(/^connection to no compute -> refused with 08P01: invalid length/),
  ]);
  // The emulator's own words begin as such, those of Postgres don't.
  const words = (uri: string | undefined): Promise<string> => visit(uri ?? "").then(String, String);
  expect(await words(wrong[0])).toMatch(/28P01: password authentication failed/);
  expect(await words(wrong[1])).toMatch(/08004: svc emulator: the compute "ep-never-was-1" does not exist/);
  expect(await words(wrong[2])).toMatch(/3D000: database "nowhere" does not exist/);
  await control(emulator.url, "POST", "/reset");
  expect((await listed()).refused).toEqual([]);
});
