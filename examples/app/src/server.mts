import { serve } from "@hono/node-server";
import { Pool } from "pg";
import { createApp } from "./app.mts";

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: it is an output of the Pulumi program`);
  return value;
};

const pool = new Pool({ connectionString: setting("DATABASE_URL") });
// A compute that restarts, is resized or suspended ends its sessions (57P01). The pool drops an idle one and opens
// another with the next query; without a listener, the event of the idle one would end this process.
pool.on("error", (error) => console.error(`a connection was closed: ${error.message}`));

const app = createApp({ pool, jwksUrl: setting("JWKS_URL"), audience: setting("AUDIENCE") });
const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`listening on http://127.0.0.1:${port}`),
);

process.once("SIGTERM", () => server.close(() => void pool.end()));
