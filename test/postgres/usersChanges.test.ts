import type { Emulator } from "../../src/emulator";
import { Cluster } from "../../src/emulator/postgres/cluster";
import type { Query } from "../../src/emulator/postgres/session";
import { integrate, until } from "../support/emulator";
import { startGate, uriOf, useServers } from "../support/gate";
import { VISITORS } from "../support/visitors";

useServers();
afterEach(() => jest.restoreAllMocks());

const project_id = "prj-demo";
const userEdit = (emulator: Emulator, more: object): void =>
  void emulator.edit({ kind: "user", project_id, ...more } as Parameters<Emulator["edit"]>[0]); // of one of its forms

/** Everything that is sent to the database of an integration from now on. */
function recorded(): string[] {
  const sent: string[] = [];
  const { keep } = Cluster.prototype;
  jest.spyOn(Cluster.prototype, "keep").mockImplementation(function (this: Cluster, database, work) {
    const listening = (query: Query) =>
      work((text) => {
        sent.push(text);
        return query(text);
      });
    return keep.call(this, database, listening);
  });
  return sent;
}

async function prepared() {
  const emulator = await startGate();
  await integrate(emulator, { database_name: "svcdb", role_name: "svcdb_owner" });
  for (const name of ["Ada", "Grace", "Joan"])
    userEdit(emulator, { create: { id: name.toLowerCase(), email: `${name}@example.com`, name } });
  const client = await VISITORS.pg(uriOf(emulator));
  const table = () =>
    client.ask("select string_agg(concat_ws(' ', id, email, name), ', ' order by id) from svc_auth.users_sync");
  const shows = (text: string) => until(table, (shown) => shown === text);
  await shows("ada Ada@example.com Ada, grace Grace@example.com Grace, joan Joan@example.com Joan");
  return { emulator, client, shows };
}

test("a change sends the users that have changed, and no others", async () => {
  const { emulator, shows } = await prepared();
  const sent = recorded();
  userEdit(emulator, { id: "grace", set: { name: null } });
  userEdit(emulator, { id: "ada", delete: true });
  userEdit(emulator, { create: { id: "zoë\0", email: "zoe@example.com" } });
  await shows("grace Grace@example.com, joan Joan@example.com Joan, zoë zoe@example.com");
  expect(sent.join()).toContain("grace");
  expect(sent.join()).not.toContain("joan");
  const before = sent.length;
  emulator.edit({ kind: "domain", project_id, create: { domain: "https://app.example.com" } });
  userEdit(emulator, { id: "joan", set: { email: "j@example.com" } });
  await shows("grace Grace@example.com, joan j@example.com Joan, zoë zoe@example.com");
  expect(sent.slice(before).join()).not.toContain("grace");
});

test("a database that a client has dropped, and one that another integration names, get all users", async () => {
  const { emulator, client } = await prepared();
  await client.ask("create database other");
  const visit = await VISITORS.pg(uriOf(emulator, undefined, { database: "other" }));
  await client.close();
  await until(
    () =>
      visit.ask("drop database svcdb with (force)").then(
        () => true,
        () => false,
      ),
    (dropped) => dropped,
  );
  userEdit(emulator, { id: "grace", set: { name: "G" } });
  const users = () =>
    VISITORS.pg(uriOf(emulator))
      .then((again) => again.ask("select string_agg(name, ' ' order by id) from svc_auth.users_sync"))
      .catch(String);
  await until(users, (shown) => shown === "Ada G Joan");
  emulator.edit({ kind: "integration", project_id, set: { db_name: "other" } });
  const there = () => visit.ask("select string_agg(name, ' ' order by id) from svc_auth.users_sync").catch(String);
  await until(there, (shown) => shown === "Ada G Joan");
});
