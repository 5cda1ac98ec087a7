export interface Contender {
  readonly name: string;
  /** The program, given how many redirect domains to declare. The settings come by the environment. */
  readonly program: (resources: number) => string;
}

export const pointerResource: Contender = {
  name: "pulumi-svc",
  program: (resources) => `
const svc = require("pulumi-svc");
for (let i = 0; i < ${resources}; i++) {
  new svc.WhitelistDomain("domain" + i, { projectId: "prj-demo", domain: "https://app" + i + ".example.com" });
}`,
};

/** What a team would write by hand: one request for each call, no retry, no checks. */
export const dynamicResource: Contender = {
  name: "pulumi.dynamic.Resource",
  program: (resources) => `
const pulumi = require("@pulumi/pulumi");
const call = async (method, body) => {
  const response = await fetch(process.env.SVC_BASE_URL + "/projects/prj-demo/auth/domains", {
    method,
    headers: { authorization: "Bearer " + process.env.SVC_API_KEY, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(method + " answered " + response.status);
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
};
const auth_provider = "supported_provider";
const provider = {
  async create({ domain }) {
    await call("POST", { domain, auth_provider });
    return { id: domain, outs: { domain } };
  },
  async read(id) {
    const { domains } = await call("GET");
    return domains.some(({ domain }) => domain === id) ? { id, props: { domain: id } } : { id: "", props: {} };
  },
  async diff(id, olds, news) {
    return { changes: olds.domain !== news.domain, replaces: ["domain"] };
  },
  async delete(id) {
    await call("DELETE", { auth_provider, domains: [{ domain: id }] });
  },
};
class Domain extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, props);
  }
}
for (let i = 0; i < ${resources}; i++) new Domain("domain" + i, { domain: "https://app" + i + ".example.com" });`,
};
