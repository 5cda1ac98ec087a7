import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dynamicProvider } from "../../src/protocols/dynamic/provider";
import { Session } from "../../src/runtime/session";
import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { start } from "../support/emulator";
import { harness, PROJECT, thrownBy, urnOf } from "../support/harness";
import { KIND_CASES } from "../kinds";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { sceneOf } from "../kinds/started";
import { LEAST } from "../support/computeCases";
import { empty, json } from "../support/rules/hostile";
import { Stack } from "../support/rules/program";
import { EMAIL } from "../support/rules/routes";
import { branch, expectDone, world } from "../support/rules/world";

/** What a message says where the service refuses, or is not there. */

const UNREADABLE_KEY = { status: 401, times: 0 };
const QUICKLY = { readDeadlineMs: 200 };

describe("a refused key", () => {
  test("of a program: to which host it went, and where it comes from", async () => {
    const compute = await harness(computeEndpoint);
    await compute.check(LEAST);
    await compute.fault(UNREADABLE_KEY);
    const { message } = await thrownBy(compute.create(LEAST));
    expect(message).toMatch(
      /the API key is missing or wrong.* -> 401.*\)\. The key was sent to 127\.0\.0\.1:\d+\. It comes from svc:apiKey in the stack's configuration, or from the apiKey of an explicit Provider/,
    );
    expect(message).not.toMatch(/refresh|--run-program/i);
  });

  test.each(["read", "delete"] as const)("of a %s without a program: the stored key, too", async (verb) => {
    const compute = await harness(computeEndpoint);
    const state = await compute.create(LEAST);
    compute.restart();
    await compute.fault(UNREADABLE_KEY);
    const { message } = await thrownBy(compute[verb](state));
    expect(message).toMatch(
      /\. Refresh and destroy do not run the program: they use the key that is stored with the stack\. /,
    );
    // Once: one wrong key fails every call.
    expect((await thrownBy(compute[verb](state))).message).not.toMatch(/The key was sent|Refresh/);
  });

  test("of a look-up: nothing of it is stored", async () => {
    const compute = await harness(computeEndpoint);
    await compute.fault(UNREADABLE_KEY);
    const { message } = await thrownBy(compute.provider.read(`${PROJECT}/ep-demo-main-10000001`, {}));
    expect(message).toContain("The key was sent to");
    expect(message).not.toContain("Refresh");
  });

  /** The message of a refused refresh with these settings and this environment. */
  const refusedRead = async (settings: Record<string, string>, environment: Record<string, string>) => {
    const { baseUrl } = await start();
    const provider = dynamicProvider(computeEndpoint, new Session(() => undefined));
    const get = (name: string) => (name === "svc:baseUrl" ? baseUrl : settings[name]);
    void provider.configure({ config: { get, require: () => "" } });
    const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, environment);
    try {
      const stored = { ...LEAST, __urn: urnOf("ComputeEndpoint"), __version: 1, __args: ["projectId", "branchId"] };
      const { message } = await thrownBy(provider.read(`${PROJECT}/ep-demo-main-10000001`, stored));
      expect(message).not.toContain("canary");
      expect(message).not.toMatch(/run-program|pulumi up/);
      return message;
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  };

  test("of the environment: that one, which no stack stores", async () => {
    expect(await refusedRead({}, { SVC_API_KEY: "canary-wrong-key" })).toMatch(
      / It comes from SVC_API_KEY in the environment\. Set a valid key there$/,
    );
  });

  test("by the name of a variable: that variable, whose name alone the stack stores", async () => {
    expect(await refusedRead({ "svc:apiKeyEnv": "SVC_TEST_KEY" }, { SVC_TEST_KEY: "canary-wrong-key" })).toMatch(
      / It comes from SVC_TEST_KEY, which svc:apiKeyEnv \(or the apiKeyEnv of an explicit svc\.Provider\) names\. Set a valid key in the environment$/,
    );
  });

  test("of two variables: each Provider names its own, once", async () => {
    const { baseUrl } = await start();
    const session = new Session(() => undefined);
    const providerOf = (apiKeyEnv: string) => {
      const provider = dynamicProvider(computeEndpoint, session);
      const settings: Record<string, string> = { "svc:baseUrl": baseUrl, "svc:apiKeyEnv": apiKeyEnv };
      // They are one account, which the first of them begins.
      session.account((name) => settings[`svc:${name}`]);
      void provider.configure({ config: { get: (name: string) => settings[name], require: () => "" } });
      return provider;
    };
    process.env["SVC_TEST_ONE"] = process.env["SVC_TEST_TWO"] = "canary-wrong-key";
    try {
      const [one, two] = [providerOf("SVC_TEST_ONE"), providerOf("SVC_TEST_TWO")];
      const stored = { ...LEAST, __urn: urnOf("ComputeEndpoint"), __version: 1, __args: ["projectId", "branchId"] };
      const id = `${PROJECT}/ep-demo-main-10000001`;
      const told: string[] = [];
      for (const work of [two.read(id, stored), two.delete(id, stored), one.read(id, stored), one.create(LEAST)])
        told.push((await thrownBy(work)).message);
      const named = told.map((message) => /It comes from (\w+)/.exec(message)?.[1]);
      expect(named).toEqual(["SVC_TEST_TWO", undefined, "SVC_TEST_ONE", undefined]);
      expect(told.filter((message) => message.includes("The key was sent to"))).toHaveLength(1);
      // The two share one request.
      const both = [two.read(id, stored), one.read(id, stored)].map(async (work) => (await thrownBy(work)).message);
      expect((await Promise.all(both)).join()).not.toContain("It comes from");
    } finally {
      delete process.env["SVC_TEST_ONE"];
      delete process.env["SVC_TEST_TWO"];
    }
  });

  test("of a file: its path, and that it was read again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-refused-"));
    const path = join(folder, "key");
    writeFileSync(path, "canary-wrong-key\n");
    const words = /names\. The file was read again and holds no other key\. Write a valid key to it$/;
    try {
      const configured = await refusedRead({ "svc:apiKeyFile": path }, { SVC_API_KEY: "canary-key" });
      expect(configured).toMatch(words);
      expect(configured).toContain(` It comes from the file ${path}, which svc:apiKeyFile (or the apiKeyFile of`);
      const ofEnvironment = await refusedRead({}, { SVC_API_KEY: "", SVC_API_KEY_FILE: path });
      expect(ofEnvironment).toMatch(words);
      expect(ofEnvironment).toContain(`the file ${path}, which SVC_API_KEY_FILE names`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a service that is not reached", () => {
  test("since nothing listens there, also once the time is up", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    // A TCP server's address is an object.
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => server.close(done));
    const compute = await harness(computeEndpoint, {}, QUICKLY, () => `http://127.0.0.1:${port}/api/v2`);
    const { message } = await thrownBy(compute.create(LEAST));
    expect(message).toMatch(
      /cannot be reached at 127\.0\.0\.1:\d+: ECONNREFUSED.*\. Nothing listens there: check the port of the base URL, or start the emulator$/,
    );
  });

  test("since https is asked of a port that speaks http", async () => {
    const compute = await harness(computeEndpoint, {}, QUICKLY, ({ baseUrl }) => baseUrl.replace("http:", "https:"));
    const { message } = await thrownBy(compute.create(LEAST));
    expect(message).toMatch(
      /The server does not speak TLS on that port: check whether the base URL begins with http:\/\/ or https:\/\/$/,
    );
  });
});

describe("a branch that the service does not take: the message names those that there are", () => {
  const LISTED = 'br-main ("main", default), br-dev ("dev"), br-test ("test")';
  const MISSING = `project ${PROJECT} has no branch br-none. It has ${LISTED}: "branchId" takes the id, not the name`;

  test("where a compute is created", async () => {
    const compute = await harness(computeEndpoint);
    const { message } = await thrownBy(compute.create({ ...LEAST, branchId: "br-none" }));
    expect(message).toMatch(/branch br-none\): branch not found/);
    expect(message).toContain(`): ${MISSING}`);
    expect(await compute.mutations()).toHaveLength(1);
  });

  test("where a compute is moved", async () => {
    const compute = await harness(computeEndpoint);
    const state = await compute.create(LEAST);
    const { message } = await thrownBy(compute.update(state, { ...LEAST, branchId: "br-none" }));
    expect(message).toContain(`: ${MISSING}`);
  });

  test("where an integration is created, also on a branch that is not the default one", async () => {
    const auth = await harness(authIntegration);
    const none = await thrownBy(auth.create({ projectId: PROJECT, branchId: "br-none" }));
    expect(none.message).toContain(`: ${MISSING}`);
    const other = await thrownBy(auth.create({ projectId: PROJECT, branchId: "br-dev" }));
    expect(other.message).toContain(`. br-dev is not the default branch of the project: it has ${LISTED}`);
  });

  test("not where they cannot be listed, nor of another refusal", async () => {
    const seedOnly = await harness(computeEndpoint, { seedOnly: true });
    const { message } = await thrownBy(seedOnly.create({ ...LEAST, branchId: "br-none" }));
    expect(message).toMatch(/branch not found/);
    expect(message).not.toMatch(/it has/i);
    const compute = await harness(computeEndpoint);
    await compute.forgetRequests();
    await thrownBy(compute.create({ ...LEAST, regionId: "elsewhere" }));
    expect((await compute.requests("GET")).filter(({ path }) => path.endsWith("/branches"))).toEqual([]);
  });

  test("at most 20 of them", async () => {
    const branches = Array.from({ length: 23 }, (_, index) => ({ id: `br-b${index}`, default: index === 0 }));
    const compute = await harness(computeEndpoint, { seed: { projects: [{ id: "prj-many", branches }] } });
    const { message } = await thrownBy(compute.create({ projectId: "prj-many", branchId: "br-none" }));
    expect(message).toMatch(/ br-b0 \((".*?", )?default\), .* and 3 more: "branchId" takes the id, not the name$/);
    expect(message).not.toContain("br-b20");
  });
});

describe("a wrong key fails every resource of a refresh, and what to do about it is reported once", () => {
  const inAuth = { projectId: "prj-key" };
  const domain = { kind: "WhitelistDomain" as const, inputs: { ...inAuth, domain: "https://a.example.com" } };
  const provider = { kind: "OAuthProvider" as const, inputs: { ...inAuth, providerId: "microsoft" } };
  const compute = { kind: "ComputeEndpoint" as const, inputs: { ...inAuth, branchId: branch("prj-key", 1) } };

  test.each([
    ["that share a list", [domain, provider]],
    ["that ask for different lists", [domain, compute]],
  ])("for resources %s", async (_which, resources) => {
    const given = await world();
    await given.project("prj-key", { integration: true });
    const stack = given.stack();
    expectDone(await stack.up(resources.map((one, i) => ({ ...one, name: `r${i}` }))));
    const refused = new Stack({ baseUrl: given.baseUrl, apiKey: "another-key" });
    refused.state = stack.state;
    // At the same time: one that has failed keeps the engine from beginning others.
    const { errors } = await refused.refresh({ seed: 1, parallel: 2, jitterMs: 0 });
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toContain("the API key is missing or wrong");
    expect(errors.filter((error) => error.includes("--run-program"))).toHaveLength(1);
  });
});

test("a key that is refused while the effect of an accepted change is read is explained, too", async () => {
  const { given, network } = await sceneOf(KIND_CASES.EmailServer);
  const refuse = (): void => network.on({ method: "GET", path: EMAIL, answer: json({}, 401) });
  network.on({ method: "PATCH", path: EMAIL, answer: empty(), after: refuse });
  const { message } = await thrownBy(given.create(EMAIL_STANDARD));
  expect(message).toContain("the service accepted the request, but reading the result failed: the API key is missing");
  expect(message).toMatch(
    /The key was sent to 127\.0\.0\.1:\d+\. It comes from svc:apiKey in the stack's configuration/,
  );
});
