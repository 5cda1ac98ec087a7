/**
 * What is asked before an object is deleted to be replaced (docs/design/rules.md, 9): by the plan, and again by the
 * deletion. Each test looks at the service afterwards.
 */
import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { computes, endpointId, LEAST } from "../support/computeCases";
import { harness, PROJECT, PROVIDER, thrownBy, type Harness, type State } from "../support/harness";

/** A replacement as the engine carries it out, up to the deletion. Its error; undefined: it is deleted. */
async function deletion(given: Harness, state: State, olds: object, news: object): Promise<string | undefined> {
  given.restart();
  await given.check({ ...news }, { ...olds });
  await given.diff(state, { ...news });
  // Before the deletion, the engine checks what it will create.
  await given.check({ ...news });
  await given.forgetRequests();
  const error = await given.delete(state).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  );
  if (error !== undefined) expect(await given.mutations()).toEqual([]);
  return error;
}

/** What its plan says, in the form of failures and warnings. */
async function planned(given: Harness, state: State, olds: object, news: object) {
  given.restart();
  await given.plan({ ...news }, { ...olds });
  await given.diff(state, { ...news });
  return given.plan({ ...news });
}

describe("a primary", () => {
  const REGION = { ...LEAST, regionId: "aws-us-east-1" };
  const created = async (options?: object): Promise<{ given: Harness; state: State }> => {
    const given = await computes(options);
    return { given, state: await given.create(LEAST) };
  };

  test("by itself is deleted", async () => {
    const { given, state } = await created();
    expect(await deletion(given, state, LEAST, REGION)).toBeUndefined();
  });

  test("in another region than its project is not", async () => {
    const { given, state } = await created();
    const news = { ...LEAST, regionId: "aws-eu-central-9" };
    const words = /"regionId" must be the region of the project, which is aws-us-east-1/;
    expect((await planned(given, state, LEAST, news)).failures.join()).toMatch(words);
    expect(await deletion(given, state, LEAST, news)).toMatch(words);
  });

  test("of a service that does not show the project counts with the region of the compute", async () => {
    const { given, state } = await created({ seedOnly: true });
    expect(await deletion(given, state, LEAST, { ...LEAST, regionId: "aws-eu-central-9" })).toMatch(/aws-us-east-1/);
    expect(await deletion(given, state, LEAST, REGION)).toBeUndefined();
  });

  test("whose branch is gone is not", async () => {
    const { given, state } = await created();
    const gone = { ...LEAST, branchId: "br-gone" };
    const outs = { ...state.outs, branchId: "br-gone" };
    expect(await deletion(given, { ...state, outs }, gone, { ...gone, regionId: "aws-eu-west-1" })).toMatch(
      /project prj-demo has no branch br-gone/,
    );
  });

  test("that somebody has moved, while the branch may be gone, is not", async () => {
    const { given, state } = await created({ seedOnly: true });
    await given.edit({ kind: "endpoint", id: endpointId(state), set: { branch_id: "br-test" } });
    expect(await deletion(given, state, LEAST, REGION)).toMatch(
      /it is not known whether project prj-demo has the branch br-dev: the service does not list branches/,
    );
  });

  test("that somebody has moved is not where another one is by now", async () => {
    const { given, state } = await created();
    await given.edit({ kind: "endpoint", id: endpointId(state), set: { branch_id: "br-test" } });
    await given.edit({ kind: "endpoint", create: { branch_id: "br-dev", type: "read_write" } });
    expect(await deletion(given, state, LEAST, REGION)).toMatch(/br-dev already has a primary compute/);
  });

  test("that is gone needs no proof", async () => {
    const { given, state } = await created();
    await given.edit({ kind: "endpoint", id: endpointId(state), delete: true });
    expect(await deletion(given, state, LEAST, { ...LEAST, regionId: "aws-eu-central-9" })).toBeUndefined();
  });

  test("is not deleted while a list cannot be read", async () => {
    const { given, state } = await created();
    given.restart();
    await given.check(REGION, LEAST);
    await given.diff(state, REGION);
    await given.check(REGION);
    await given.fault({ method: "GET", path: "/projects/{project_id}/endpoints", status: 403, times: 0 });
    expect((await thrownBy(given.delete(state))).message).toMatch(/403/);
    expect(await given.requests("DELETE")).toEqual([]);
  });
});

describe("an integration of a service that does not list branches", () => {
  const ON_MAIN = { projectId: PROJECT, branchId: "br-main", authProvider: PROVIDER };
  const created = async (): Promise<{ given: Harness; state: State }> => {
    const given = await harness(authIntegration, { seedOnly: true });
    return { given, state: await given.create(ON_MAIN) };
  };
  const ELSEWHERE = { ...ON_MAIN, branchId: "br-dev" };
  const words = /it is not known whether the service accepts an auth integration on br-dev: it does not list branches/;

  test("moves to no other branch: the plan warns, a strict one fails, and the deletion is refused", async () => {
    const { given, state } = await created();
    const { failures, warnings } = await planned(given, state, ON_MAIN, ELSEWHERE);
    expect(failures).toEqual([]);
    expect(warnings.join("\n")).toMatch(words);
    process.env["SVC_STRICT_PLAN"] = "1";
    try {
      expect((await planned(given, state, ON_MAIN, ELSEWHERE)).failures.join("\n")).toMatch(words);
    } finally {
      delete process.env["SVC_STRICT_PLAN"];
    }
    expect(await deletion(given, state, ON_MAIN, ELSEWHERE)).toMatch(words);
  });

  test("is replaced on the branch where it is", async () => {
    const { given, state } = await created();
    expect(await deletion(given, state, ON_MAIN, { ...ON_MAIN, databaseName: "other" })).toBeUndefined();
  });
});
