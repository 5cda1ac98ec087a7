import { Client } from "pg";

/** Each runs once, in this order. */
const MIGRATIONS = ["create table notes (id serial primary key, user_id text not null, text text not null)"];

const client = new Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
try {
  await client.query("begin");
  await client.query("create table if not exists migrations (id int primary key)");
  // Two deployments at once: the second one waits.
  await client.query("lock table migrations");
  const { rows } = await client.query<{ done: number }>("select count(*)::int as done from migrations");
  const done = rows[0]?.done ?? 0;
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < done) continue;
    await client.query(sql);
    await client.query("insert into migrations values ($1)", [index]);
  }
  await client.query("commit");
  console.log(`${MIGRATIONS.length - done} migrations were run`);
} finally {
  await client.end();
}
