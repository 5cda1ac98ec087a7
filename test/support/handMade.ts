import { api, createCompute, DEMO, integrate, settled, STANDARD_EMAIL, type Target } from "./emulator";

export const REPORTS = {
  branch_id: "br-main",
  type: "read_only",
  name: "Reports",
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 1,
  suspend_timeout_seconds: -1,
  pooler_enabled: true,
};
export const DISABLED = {
  branch_id: "br-dev",
  type: "read_write",
  disabled: true,
  suspend_timeout_seconds: 600,
  settings: { pg_settings: { max_parallel_workers: "4", "auto_explain.log_min_duration": "1s" } },
};

/** Every kind of object in the demo project, created by hand, as before an import. */
export async function handMadeProject(
  emulator: Target,
  { clientSecret, password }: { clientSecret: string; password: string },
): Promise<void> {
  const computes = [
    REPORTS,
    DISABLED,
    { branch_id: "br-test", type: "read_write", autoscaling_limit_min_cu: 20, autoscaling_limit_max_cu: 20 },
  ];
  for (const attributes of computes) {
    const { id, current_state } = await createCompute(emulator, attributes);
    await settled(emulator, String(id), current_state === "idle" ? "idle" : "active");
  }
  await handMadeAuth(emulator, { clientSecret, password });
}

/** Only the integration and its objects. */
export async function handMadeAuth(
  emulator: Target,
  { clientSecret, password }: { clientSecret: string; password: string },
): Promise<void> {
  await integrate(emulator);
  const own = { client_id: "own-id", client_secret: clientSecret };
  await api(emulator, "PATCH", `${DEMO}/auth/oauth_providers/github`, own);
  for (const domain of ["https://app.example.com", "http://localhost:3000"])
    await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: "supported_provider" });
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, { ...STANDARD_EMAIL, password });
}
