import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { Pool } from "pg";

export interface Settings {
  readonly pool: Pool;
  /** The outputs of the program (index.ts). */
  readonly jwksUrl: string;
  readonly audience: string;
}

interface Env {
  Variables: { userId: string };
}

/** Notes of users. Each user sees only their own. */
export function createApp({ pool, jwksUrl, audience }: Settings): Hono<Env> {
  // The keys are fetched with the first token, and again when a token names another one.
  const keys = createRemoteJWKSet(new URL(jwksUrl));

  const signedIn = createMiddleware<Env>(async (context, next) => {
    const [, token] = /^Bearer (.+)$/.exec(context.req.header("authorization") ?? "") ?? [];
    if (token === undefined) return context.json({ error: "sign in first" }, 401);
    try {
      const { payload } = await jwtVerify(token, keys, { audience, requiredClaims: ["sub", "exp"] });
      context.set("userId", payload.sub ?? "");
    } catch {
      return context.json({ error: "the token is not valid" }, 401);
    }
    return next();
  });

  const app = new Hono<Env>();
  app.use("/notes", signedIn);
  app.get("/notes", async (context) => {
    const { rows } = await pool.query("select id, text from notes where user_id = $1 order by id", [
      context.get("userId"),
    ]);
    return context.json({ notes: rows });
  });
  app.post("/notes", async (context) => {
    const { text } = await context.req.json<{ text: string }>();
    const { rows } = await pool.query("insert into notes (user_id, text) values ($1, $2) returning id, text", [
      context.get("userId"),
      text,
    ]);
    return context.json(rows[0], 201);
  });
  app.onError((error, context) => {
    console.error(error.message);
    // A query under way when the compute restarts fails. Its caller can repeat it.
    return context.json({ error: "try again" }, 503, { "retry-after": "1" });
  });
  return app;
}
