/**
 * Replacements of what lives in auth: what can be created first is, so that a refusal loses nothing; what must be
 * deleted first is, once it is proven that the new one would be accepted (docs/design/rules.md, 9). Looked at from the
 * service.
 */
import type { Run } from "../support/cli";
import { declaredBy, PROTOCOLS } from "../support/protocols";
import { Stack } from "../support/Stack";

const AUTH = "/projects/{project_id}/auth";
const [PROVIDER, PROVIDERS] = [`${AUTH}/oauth_providers/{oauth_provider_id}`, `${AUTH}/oauth_providers`];
const DOMAINS = `${AUTH}/domains`;
const [USER, NEW_USER] = [`${AUTH}/users/{auth_user_id}`, "/projects/auth/user"];
const INTEGRATION = `${AUTH}/integration/{auth_provider}`;
const WAY_OUT = 'set "deleteBeforeReplace: true" in its options for that run';
const SMTP =
  'type: "standard", host: "smtp.example.com", port: 587, username: "u", senderEmail: "a@example.com", senderName: "A"';

function expectRefused({ code, text }: Run, words: string | RegExp): void {
  expect(text).toMatch(words);
  expect(code).not.toBe(0);
}

describe.each(PROTOCOLS)("through the %s protocol", (protocol) => {
  const declared = declaredBy(protocol);
  const auth = (args = "", options?: string): string =>
    `const auth = ${declared("AuthIntegration", "auth", `{ projectId: "prj-demo"${args} }`, options, ["projectId"])};\n`;
  const child = (kind: Parameters<typeof declared>[0], args: string, options?: string, project = "auth.projectId") =>
    `${declared(kind, "child", `{ projectId: ${project}, ${args} }`, options)};\n`;

  let stack: Stack;
  let before: Awaited<ReturnType<Stack["service"]["state"]>>;
  beforeAll(async () => {
    stack = await Stack.create({ program: "", native: protocol === "native", cheapDigests: true });
    await stack.service.addProject({ id: "prj-other", branches: [{ id: "br-main", default: true }] });
    before = await stack.service.state();
  });
  afterAll(async () => {
    stack.program("");
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.finish(before);
  });

  /** What the service holds in the integration of a project. */
  async function held(projectId = "prj-demo") {
    const { projects } = await stack.service.state();
    const project = projects.find(({ id }) => id === projectId) ?? {};
    const of = (list: string, name: string) =>
      (project[list] as Record<string, unknown>[]).map((one) => String(one[name])).toSorted();
    return {
      integrations: of("integrations", "auth_provider_project_id"),
      providers: of("oauth_providers", "id"),
      domains: of("domains", "domain"),
      users: of("users", "id"),
      mail: (project["email_server"] as { host?: string }).host,
    };
  }

  /** Deploys a program, and forgets the requests. */
  async function deployed(
    program: string,
    env: Record<string, string> = {},
  ): Promise<Awaited<ReturnType<typeof held>>> {
    await stack.service.clearFaults();
    Object.assign(stack.env, env);
    // What the test before has left is deleted first.
    stack.program(auth("", '{ ignoreChanges: ["adopt"] }'));
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program(program);
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.service.clearRequests();
    return held();
  }

  const refusing = (method: string, path: string, status = 400): Promise<void> =>
    stack.service.fault({ method, path, status, body: { code: "refused", message: "not this one" }, times: 0 });

  test.each([
    ["OAuthProvider", 'providerId: "apple"', 'providerId: "gitlab"', PROVIDERS, PROVIDER],
    ["WhitelistDomain", 'domain: "https://a.example.com"', 'domain: "https://b.example.com"', DOMAINS, DOMAINS],
    ["AuthUser", 'email: "a@example.com"', 'email: "b@example.com"', NEW_USER, USER],
  ] as const)(
    "another %s that the service refuses: the old one stays; else it is created first",
    async (kind, one, two, list, item) => {
      const old = await deployed(auth() + child(kind, one));
      const { id } = await stack.resource("child");
      await refusing("POST", list);
      stack.program(auth() + child(kind, two));
      expect((await stack.preview()).text).toMatch(
        /is replaced, because .*, and then (this|the old) one is (deleted|removed)/,
      );
      expectRefused(await stack.up(), /Could not create .*not this one/);
      expect(await held()).toEqual(old);
      expect((await stack.resource("child")).id).toBe(id);

      // The same program again, once it is accepted.
      await stack.service.clearFaults();
      await stack.service.clearRequests();
      expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
      expect(await stack.service.mutations()).toEqual([`POST ${list}`, `DELETE ${item}`]);
      expect(await stack.drift()).toMatchObject({ code: 0 });
    },
  );

  test("an address that is taken (409) keeps the old user; another name deletes first", async () => {
    const old = await deployed(auth() + child("AuthUser", 'email: "a@example.com", name: "Ann"'));
    await stack.service.edit({ kind: "user", create: { email: "b@example.com" } });
    stack.program(auth() + child("AuthUser", 'email: "b@example.com", name: "Ann"'));
    expectRefused(await stack.up(), /409.*A user with this "email" exists already/);
    expect((await held()).users).toEqual(expect.arrayContaining(old.users));
    const theirs = (await held()).users.find((id) => !old.users.includes(id));
    await stack.service.edit({ kind: "user", id: theirs, delete: true });
    await stack.service.clearRequests();
    stack.program(auth() + child("AuthUser", 'email: "a@example.com", name: "Other"'));
    expect((await stack.preview()).text).toContain("the user is deleted and created again, with another id");
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([`DELETE ${USER}`, `POST ${NEW_USER}`]);
  });

  test.each([
    ["EmailServer", SMTP + ', password: "p"'],
    ["Whitelist", 'domains: ["https://a.example.com"]'],
    ["WhitelistDomain", 'domain: "https://a.example.com"'],
    ["OAuthProvider", 'providerId: "apple"'],
    ["AuthUser", 'email: "a@example.com"'],
  ] as const)("%s in a project that is not there: nothing of the old one is lost", async (kind, args) => {
    const old = await deployed(auth() + child(kind, args, "{ dependsOn: [auth] }", '"prj-demo"'));
    stack.program(auth() + child(kind, args, "{ dependsOn: [auth] }", '"prj-none"'));
    expect((await stack.preview()).text).toMatch(/project prj-none does not exist, or this key may not see it/);
    expectRefused(await stack.up(), /Could not create .*404/);
    expect(await held()).toEqual(old);
    expect((await stack.resource("child")).id).toMatch(/^prj-demo/);
  });

  test("an integration in a project that is not there: it and what is in it stay", async () => {
    const domain = child("WhitelistDomain", 'domain: "https://a.example.com"');
    const old = await deployed(auth() + domain);
    stack.program(auth().replace("prj-demo", "prj-none") + domain);
    expectRefused(await stack.up(), /Could not create AuthIntegration .*404/);
    expect(await held()).toEqual(old);
  });

  test("an integration that moves to another project is created first, and so is what is in it", async () => {
    const children = child("WhitelistDomain", 'domain: "https://a.example.com"');
    const old = await deployed(auth() + children);
    await refusing("POST", DOMAINS);
    stack.program(auth().replace("prj-demo", "prj-other") + children);
    expectRefused(await stack.up(), /Could not create WhitelistDomain/);
    expect(await held()).toEqual(old);
    await stack.service.clearFaults();
    await stack.service.clearRequests();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([`POST ${DOMAINS}`, `DELETE ${DOMAINS}`, `DELETE ${INTEGRATION}`]);
    expect(await held("prj-other")).toMatchObject({ domains: ["https://a.example.com"] });
    expect((await held()).integrations).toEqual([]);
    expect(await stack.drift()).toMatchObject({ code: 0 });
    stack.program("");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("what stays in a project whose integration leaves is refused, and so loses nothing", async () => {
    const literal = child("WhitelistDomain", 'domain: "https://a.example.com"', "{ dependsOn: [auth] }", '"prj-demo"');
    const old = await deployed(auth() + literal);
    stack.program(auth().replace("prj-demo", "prj-other") + literal);
    const words = /the integration of project prj-demo is replaced in this run.*Pass the "projectId" output/;
    expectRefused(await stack.preview(), words);
    expect(await stack.service.mutations()).toEqual([]);
    expectRefused(await stack.up(), words);
    expect(await held()).toEqual(old);
    // As the message says; the integration of the failed run is there already.
    stack.program(
      auth().replace("prj-demo", "prj-other") + child("WhitelistDomain", 'domain: "https://a.example.com"'),
    );
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await held()).integrations).toEqual([]);
    expect(await held("prj-other")).toMatchObject({ domains: ["https://a.example.com"] });
    stack.program("");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("another branch that is not the default one is refused in the plan, and later before what is in it is deleted", async () => {
    const children =
      child("WhitelistDomain", 'domain: "https://a.example.com"') +
      declared("AuthUser", "user", '{ projectId: auth.projectId, email: "a@example.com" }');
    const old = await deployed(auth(', branchId: "br-main"') + children);
    stack.program(auth(', branchId: "br-dev"') + children);
    const words = /might not come back: br-dev is not flagged as the default branch of the project, which is br-main/;
    expectRefused(await stack.preview(), words);
    expectRefused(await stack.up(), words);
    expect(await stack.service.mutations()).toEqual([]);
    expect(await held()).toEqual(old);
  });

  test("a value that is missing is asked for before anything of the old one is lost", async () => {
    const oauth = (id: string) =>
      child("OAuthProvider", `providerId: "${id}", clientId: "id", clientSecret: { fromEnv: "SECRET_VALUE" }`);
    const old = await deployed(auth() + oauth("apple"), { SECRET_VALUE: "canary-secret-1" });
    delete stack.env["SECRET_VALUE"];
    stack.program(auth() + oauth("gitlab"));
    expectRefused(await stack.up(), /"clientSecret", but SECRET_VALUE is not set/);
    const mail = (project: string) =>
      child("EmailServer", `${SMTP}, password: { fromEnv: "SECRET_VALUE" }`, "{ dependsOn: [auth] }", project);
    expect(await held()).toEqual(old);
    const oldMail = await deployed(auth() + mail('"prj-demo"'), { SECRET_VALUE: "canary-secret-1" });
    delete stack.env["SECRET_VALUE"];
    stack.program(auth() + mail('"prj-other"'));
    expectRefused(await stack.up(), /"password", but SECRET_VALUE is not set/);
    expect(await held()).toEqual(oldMail);
    expect(await stack.leaks(["canary-secret-1"])).toEqual([]);
    stack.env["SECRET_VALUE"] = "canary-secret-1";
  });

  test("a service that refuses all the same: the message says what is lost, and the next up creates it", async () => {
    await deployed(auth() + child("OAuthProvider", 'providerId: "apple", clientId: "id", clientSecret: "secret-1"'));
    stack.program(auth() + child("OAuthProvider", 'providerId: "apple"'));
    await refusing("POST", PROVIDERS);
    expectRefused(
      await stack.up(),
      /error: OAuthProvider prj-demo\/apple \("child"\) was deleted to be replaced, and the new one could not be created: .*not this one.*Mend the cause, or restore the earlier arguments in the program, and run pulumi up again/,
    );
    expect((await held()).providers).not.toContain("apple");
    await stack.service.clearFaults();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await held()).providers).toContain("apple");
    expect(await stack.drift()).toMatchObject({ code: 0 });
  });

  // What creates its object by taking over what is there; what is refused by what is there; what makes another one.
  test.each([
    ["AuthIntegration", auth(), "auth", "refused"],
    ["AuthIntegration with adopt", auth(", adopt: true"), "auth", "itself"],
    ["OAuthProvider", auth() + child("OAuthProvider", 'providerId: "apple"'), "child", "refused"],
    [
      "OAuthProvider with adopt",
      auth() + child("OAuthProvider", 'providerId: "google", adopt: true'),
      "child",
      "itself",
    ],
    ["WhitelistDomain", auth() + child("WhitelistDomain", 'domain: "https://a.example.com"'), "child", "refused"],
    [
      "WhitelistDomain with adopt",
      auth() + child("WhitelistDomain", 'domain: "https://a.example.com", adopt: true'),
      "child",
      "itself",
    ],
    ["Whitelist", auth() + child("Whitelist", 'domains: ["https://a.example.com"]'), "child", "itself"],
    ["EmailServer", auth() + child("EmailServer", SMTP + ', password: "p"'), "child", "itself"],
    ["AuthUser", auth() + child("AuthUser", 'email: "a@example.com"'), "child", "refused"],
  ])("%s with --replace and after a taint, and what its way out does", async (_what, program, name, result) => {
    const old = await deployed(program);
    const { urn, id } = await stack.resource(name);
    for (const how of ["--replace", "state taint"]) {
      stack.program(program);
      if (how === "state taint") expect(await stack.run("state", "taint", urn, "--yes")).toMatchObject({ code: 0 });
      const up = () => stack.up(...(how === "--replace" ? ["--replace", urn] : []));
      const run = await up();
      expect(await held()).toEqual(old);
      expect((await stack.resource(name)).id).toBe(id);
      if (result === "refused") expectRefused(run, WAY_OUT);
      else {
        expect(run).toMatchObject({ code: 0 });
        expect(run.text).toContain(`${id} ("${name}") was not replaced: `);
        expect(run.text).toContain('"deleteBeforeReplace: true"');
        continue;
      }
      // The way out.
      const last = program.trimEnd().lastIndexOf("{}");
      stack.program(`${program.slice(0, last)}{ deleteBeforeReplace: true }${program.slice(last + 2)}`);
      await stack.service.clearRequests();
      expect(await up()).toMatchObject({ code: 0 });
      expect((await stack.service.mutations()).map((one) => one.slice(0, 4))).toEqual(["DELE", "POST"]);
      Object.assign(old, await held());
      if (name === "auth" || _what === "AuthUser") break;
    }
    expect(await stack.drift()).toMatchObject({ code: 0 });
  });

  test.each([
    [
      "EmailServer",
      (more: string) =>
        child(
          "EmailServer",
          `${SMTP.replace('"u"', `"${more}"`)}, password: "p"`,
          '{ replaceOnChanges: ["username"] }',
        ),
    ],
    [
      "Whitelist",
      (more: string) =>
        child("Whitelist", `domains: ["https://${more}.example.com"]`, '{ replaceOnChanges: ["domains"] }'),
    ],
    [
      "OAuthProvider",
      (more: string) =>
        child(
          "OAuthProvider",
          `providerId: "apple", clientId: "${more}", clientSecret: "s"`,
          '{ replaceOnChanges: ["clientId"] }',
        ),
    ],
    [
      "WhitelistDomain",
      (more: string) =>
        child(
          "WhitelistDomain",
          `domain: "https://a.example.com", expiresOn: "29${more}-01-01"`,
          '{ replaceOnChanges: ["expiresOn"] }',
        ),
    ],
  ] as const)(
    "%s that an option replaces by itself is deleted first, as the plan says, and not where it is retained",
    async (kind, program) => {
      const [one, two, three] = ["10", "20", "30"];
      await deployed(auth() + program(one));
      const { id } = await stack.resource("child");
      stack.program(auth() + program(two));
      expect((await stack.preview()).text).toContain(
        `${kind} ${id} ("child") is replaced, because the option "replaceOnChanges" asks for it: `,
      );
      expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
      const kept = await held();
      await stack.service.clearRequests();
      if (protocol === "native") return;
      stack.program(auth() + program(three).replace("{ replaceOnChanges", "{ retainOnDelete: true, replaceOnChanges"));
      const words = /cannot be replaced: the option "retainOnDelete" keeps it at the service/;
      expectRefused(await stack.preview(), words);
      expectRefused(await stack.up(), words);
      expect(await stack.service.mutations()).toEqual([]);
      expect(await held()).toEqual(kept);
      stack.program(auth() + program(two));
      expect(await stack.up()).toMatchObject({ code: 0 });
    },
  );

  test("deleteBeforeReplace does not delete before another object that may be refused", async () => {
    const old = await deployed(auth() + child("OAuthProvider", 'providerId: "apple"', "{ deleteBeforeReplace: true }"));
    stack.program(auth() + child("OAuthProvider", 'providerId: "gitlab"', "{ deleteBeforeReplace: true }"));
    const words = /it is not known whether the service accepts the new one.*Leave the option out/;
    if (protocol === "dynamic") expect((await stack.preview()).text).toMatch(words);
    expectRefused(await stack.up(), words);
    expect(await held()).toEqual(old);
    stack.program(auth() + child("OAuthProvider", 'providerId: "gitlab"'));
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("a list that is declared by index keeps what another resource of it gives up", async () => {
    const listed = (letters: string): string =>
      auth() +
      [...letters]
        .map((letter, i) => {
          const user = declared(
            "AuthUser",
            `user${i}`,
            `{ projectId: auth.projectId, email: "${letter}@example.com" }`,
          );
          const domain = `{ projectId: auth.projectId, domain: "https://${letter}.example.com" }`;
          return `${user};\n${declared("WhitelistDomain", `domain${i}`, domain)};`;
        })
        .join("\n");
    const old = await deployed(listed("ab"));
    stack.program(listed("nab"));
    expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
    const now = await held();
    expect(now.users).toEqual(expect.arrayContaining(old.users));
    expect(now.users).toHaveLength(3);
    expect(now.domains).toEqual(["https://a.example.com", "https://b.example.com", "https://n.example.com"]);
    // A creation may be refused (409) before the one that gives the address up was compared.
    const done = (await stack.service.requests()).filter(({ method, status }) => method !== "GET" && status < 300);
    expect(done.map(({ method, template }) => `${method} ${template}`).toSorted()).toEqual([
      `POST ${NEW_USER}`,
      `POST ${DOMAINS}`,
    ]);
    expect(await stack.drift()).toMatchObject({ code: 0 });
  });

  test("what was declared absent is created first, and stays declared absent where that is refused", async () => {
    await deployed(auth() + child("OAuthProvider", 'providerId: "apple", absent: true'));
    await refusing("POST", PROVIDERS);
    stack.program(auth() + child("OAuthProvider", 'providerId: "apple"'));
    const up = await stack.up();
    expectRefused(up, /Could not create OAuthProvider/);
    expect(up.text).not.toContain("was deleted to be replaced");
    expect((await stack.resource("child")).id).toBe("prj-demo/apple/absent");
    await stack.service.clearFaults();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await stack.resource("child")).id).toBe("prj-demo/apple");
  });
});
