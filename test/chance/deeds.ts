import { DEMO } from "../kinds/KindCase";
import { records, type Json } from "../support/emulator";
import { AUTH_PROVIDER, type World } from "../support/rules/world";
import { CANARY, type Act } from "./history";

const PATH = `/projects/${DEMO.projectId}`;
const BRANCHES = [DEMO.main, DEMO.free, DEMO.other];
/** A size that no program of ours has. */
const THEIR_CU = 3;
/** A refresh may find it. */
const ROTATED = `${CANARY}rotated`;

/** What somebody else does by the API in the project of our stack. He may be refused. */
export async function act(world: World, deed: Act): Promise<void> {
  const send = (method: string, path: string, body?: Json) => world.ask(method, path, body);
  const limits = (cu: number): Json => ({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu });
  switch (deed.do) {
    case "primary":
    case "replica": {
      const type = deed.do === "primary" ? "read_write" : "read_only";
      const endpoint = { branch_id: BRANCHES[deed.branch % BRANCHES.length], type, ...limits(THEIR_CU) };
      await send("POST", `${PATH}/endpoints`, { endpoint });
      return;
    }
    case "delete compute":
    case "resize compute": {
      const all = await world.computes(DEMO.projectId);
      const id = String(all[deed.which % Math.max(1, all.length)]?.["id"]);
      if (deed.do === "delete compute") await send("DELETE", `${PATH}/endpoints/${id}`);
      else await send("PATCH", `${PATH}/endpoints/${id}`, { endpoint: limits(5) });
      return;
    }
    case "add domain":
      await send("POST", `${PATH}/auth/domains`, { domain: deed.domain, auth_provider: AUTH_PROVIDER });
      return;
    case "remove domain": {
      const domains = [{ domain: deed.domain }];
      await send("DELETE", `${PATH}/auth/domains`, { auth_provider: AUTH_PROVIDER, domains });
      return;
    }
    case "add provider":
      await send("POST", `${PATH}/auth/oauth_providers`, {
        id: "microsoft",
        client_id: "theirs",
        client_secret: "theirs",
      });
      return;
    case "remove provider":
      await send("DELETE", `${PATH}/auth/oauth_providers/microsoft`);
      return;
    case "share provider": {
      // Not his own: a program that declares it absent and adopts it deletes a shared one.
      const all = records(await world.holdings(DEMO.projectId), "oauth_providers");
      const found = all.find(({ id }) => id === "microsoft");
      if (found?.["type"] !== "standard" || found["client_id"] === "theirs") return;
      await send("DELETE", `${PATH}/auth/oauth_providers/microsoft`);
      await send("POST", `${PATH}/auth/oauth_providers`, { id: "microsoft" });
      return;
    }
    case "rotate provider":
      await send("PATCH", `${PATH}/auth/oauth_providers/microsoft`, { client_secret: ROTATED });
      return;
    case "rotate mail": {
      // The emulator's state has this one record.
      const { type, host, port, username, sender_email, sender_name } = (await world.holdings(DEMO.projectId))[
        "email_server"
      ] as Json;
      const smtp = { type, host, port, username, sender_email, sender_name, password: ROTATED };
      if (type === "standard") await send("PATCH", `${PATH}/auth/email_server`, smtp);
      return;
    }
    case "rotate settings":
      for (const { id, settings } of await world.computes(DEMO.projectId)) {
        const { pg_settings: known, ...others } = Object(settings) as Json;
        const rotated = { ...others, pg_settings: { ...Object(known), "app.token": ROTATED } };
        if (known !== undefined)
          await send("PATCH", `${PATH}/endpoints/${String(id)}`, { endpoint: { settings: rotated } });
      }
      return;
    case "add user":
      await send("POST", "/projects/auth/user", {
        project_id: DEMO.projectId,
        auth_provider: AUTH_PROVIDER,
        email: deed.email,
      });
      return;
    case "remove user": {
      const users = records(await world.holdings(DEMO.projectId), "users");
      const id = users.find(({ email }) => email === deed.email)?.["id"];
      if (id !== undefined) await send("DELETE", `${PATH}/auth/users/${String(id)}`);
      return;
    }
    case "integrate":
      await send("POST", "/projects/auth/create", {
        ...{ project_id: DEMO.projectId, auth_provider: AUTH_PROVIDER, branch_id: DEMO.main },
        database_name: "theirs",
      });
      return;
    case "disintegrate":
      await send("DELETE", `${PATH}/auth/integration/${AUTH_PROVIDER}`);
      return;
    case "mail": {
      const smtp = { host: "theirs.example.com", port: 25, username: "t", password: "t", sender_name: "T" };
      await send("PATCH", `${PATH}/auth/email_server`, { type: "standard", ...smtp, sender_email: "t@example.com" });
      return;
    }
  }
}
