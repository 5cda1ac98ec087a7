import { Hono } from "hono";
import type { Env, Service } from "../service";

export function controlRoutes(service: Service): Hono<Env> {
  const control = new Hono<Env>();
  control.get("/health", () => Response.json({ status: "ok" }));
  control.post("/reset", () => {
    service.reset();
    return new Response(null, { status: 204 });
  });
  return control;
}
