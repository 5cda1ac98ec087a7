/**
 * The programs that are measured. Each is plain JavaScript, and its settings come by the environment. `byHand`: what a
 * team would write as `pulumi.dynamic.Resource`s, whose serialised code is put into the state: the same calls, no checks,
 * no retries.
 */

/** What a program declares. `changed`: with one field changed on all of them. */
export interface Declared {
  readonly resources: number;
  readonly changed: boolean;
}

export type Program = (declared: Declared) => string;
export type Contender = "ours" | "byHand";
type Programs = Readonly<Record<Contender, Program>>;

const REPEAT = (resources: number): string => `for (let i = 0; i < ${resources}; i++)`;

/** A request as a hand-written provider sends it. It is serialised together with the provider that uses it. */
const CALL = `
const pulumi = require("@pulumi/pulumi");
const call = async (method, path, body) => {
  const response = await fetch(process.env.SVC_BASE_URL + path, {
    method,
    headers: { authorization: "Bearer " + process.env.SVC_API_KEY, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(method + " " + path + " answered " + response.status);
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
};`;

/** Waits by the record of its own compute, twice a second. */
const COMPUTE_BY_HAND = `${CALL}
const ready = async (path) => {
  for (;;) {
    const { endpoint } = await call("GET", path);
    if (endpoint.pending_state === undefined && ["active", "idle"].includes(endpoint.current_state)) return endpoint;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
};
const sent = ({ name, size }) => ({ name, autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size });
const provider = {
  async create({ projectId, branchId, type, name, size }) {
    const endpoints = "/projects/" + projectId + "/endpoints";
    const body = { endpoint: { branch_id: branchId, type, ...sent({ name, size }) } };
    const { endpoint } = await call("POST", endpoints, body);
    const path = endpoints + "/" + endpoint.id;
    const { host } = await ready(path);
    return { id: path, outs: { projectId, branchId, type, name, size, host } };
  },
  async read(id, props) {
    const { endpoint } = await call("GET", id);
    const { name, host, autoscaling_limit_max_cu: size } = endpoint;
    return { id, props: { ...props, name, size, host } };
  },
  async diff(id, olds, news) {
    return { changes: olds.name !== news.name || olds.size !== news.size };
  },
  async update(id, olds, news) {
    await call("PATCH", id, { endpoint: sent(news) });
    const { host } = await ready(id);
    return { outs: { ...news, host } };
  },
  async delete(id) {
    await call("DELETE", id);
  },
};
class Compute extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { host: undefined, ...props });
  }
}`;

const compute = (projectOf: string, { resources, changed }: Declared, Class: string): string => `
${REPEAT(resources)} {
  new ${Class}("replica" + i, {
    projectId: ${projectOf}, branchId: "br-main", type: "read_only", name: "replica-" + i, size: ${changed ? 2 : 1},
  });
}`;

const ours = (body: string): string => `const svc = require("pulumi-svc");${body}`;

/** Read replicas of one project. */
export const computes: Programs = {
  ours: (declared) => ours(compute('"prj-demo"', declared, "svc.ComputeEndpoint")),
  byHand: (declared) => COMPUTE_BY_HAND + compute('"prj-demo"', declared, "Compute"),
};

/** The same in ten projects, \`prj-0\` to \`prj-9\`. */
export const tenProjects: Programs = {
  ours: (declared) => ours(compute('"prj-" + (i % 10)', declared, "svc.ComputeEndpoint")),
  byHand: (declared) => COMPUTE_BY_HAND + compute('"prj-" + (i % 10)', declared, "Compute"),
};

const AUTH_BY_HAND = `${CALL}
const auth_provider = "supported_provider";
const provider = {
  async create({ method, path, body }) {
    await call(method, path, body);
    return { id: path, outs: { method, path, body } };
  },
  async read(id, props) {
    await call("GET", props.path.replace("/projects/auth/create", "/projects/prj-demo/auth/integrations"));
    return { id, props };
  },
  async diff(id, olds, news) {
    return { changes: JSON.stringify(olds.body) !== JSON.stringify(news.body), replaces: ["body"] };
  },
  async delete(id, { path, body }) {
    if (path.endsWith("/domains")) await call("DELETE", path, { auth_provider, domains: [{ domain: body.domain }] });
    if (path.endsWith("/oauth_providers")) await call("DELETE", path + "/" + body.id);
    if (path.endsWith("/create")) await call("DELETE", "/projects/prj-demo/auth/integration/" + auth_provider);
  },
};
class Part extends pulumi.dynamic.Resource {
  constructor(name, path, body, dependsOn, method = "POST") {
    super(provider, name, { method, path, body }, { dependsOn });
  }
}`;

/** An integration with two OAuth providers, an e-mail server, and redirect domains for the rest. */
export const authStack: Programs = {
  ours: ({ resources, changed }) =>
    resources === 0
      ? ours("")
      : ours(`
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "svcdb", roleName: "svcdb_owner" });
const projectId = auth.projectId;
for (const providerId of ["microsoft", "gitlab"]) new svc.OAuthProvider(providerId, { projectId, providerId });
new svc.EmailServer("email", { projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: "bench-password", senderEmail: "app@example.com", senderName: "App" });
${REPEAT(resources - 4)} {
  new svc.WhitelistDomain("domain" + i, { projectId, domain: "https://app" + i + ".${changed ? "test" : "example.com"}" });
}`),
  byHand: ({ resources, changed }) =>
    resources === 0
      ? CALL
      : `${AUTH_BY_HAND}
const auth = new Part("auth", "/projects/auth/create",
  { auth_provider, project_id: "prj-demo", branch_id: "br-main", database_name: "svcdb", role_name: "svcdb_owner" });
const root = "/projects/prj-demo/auth";
for (const id of ["microsoft", "gitlab"]) new Part(id, root + "/oauth_providers", { id }, [auth]);
new Part("email", root + "/email_server", { type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: "bench-password", sender_email: "app@example.com", sender_name: "App" }, [auth], "PATCH");
${REPEAT(resources - 4)} {
  new Part("domain" + i, root + "/domains", { domain: "https://app" + i + ".${changed ? "test" : "example.com"}", auth_provider }, [auth]);
}`,
};

/** Redirect domains alone. */
export const domains: Programs = {
  ours: ({ resources }) =>
    ours(`
${REPEAT(resources)} {
  new svc.WhitelistDomain("domain" + i, { projectId: "prj-demo", domain: "https://app" + i + ".example.com" });
}`),
  byHand: ({ resources }) => `${AUTH_BY_HAND}
${REPEAT(resources)} {
  new Part("domain" + i, "/projects/prj-demo/auth/domains", { domain: "https://app" + i + ".example.com", auth_provider });
}`,
};
