import {
  atService,
  computes,
  DEMO_PRIMARY,
  editByHand,
  endpointId,
  ENDPOINTS,
  LEAST,
} from "../../support/computeCases";
import { CANARY, expectNoSecrets, PROJECT, thrownBy, type Harness, type State } from "../../support/harness";

const OLD = `${CANARY}-old-setting`;
const NEW = `${CANARY}-new-setting`;
const START = `${ENDPOINTS}/{endpoint_id}/start`.replace(PROJECT, "{project_id}");
const withSetting = (value: string) => ({ ...LEAST, settings: { pgSettings: { "app.key": value } } });
const told = (value: string) => `invalid value for parameter "app.key": "${value}"`;

/** What the next operation ends with. */
const failing = (compute: Harness, value: string, action?: string) =>
  compute.fault({ operation: { ...(action && { action }), status: "failed", error: told(value) } });

/** Checks a failure that names the operation, and returns the state that it keeps. The setting stays in its place. */
async function withheld(compute: Harness, work: Promise<unknown>): Promise<State> {
  const error = await thrownBy(work);
  expect(error.message).toMatch(/: \[the service's message repeats a secret\]/);
  expectNoSecrets(compute);
  const { settings: _settings, ...outs } = (error["properties"] ?? {}) as State["outs"];
  expect(JSON.stringify([error["reasons"], outs])).not.toContain(CANARY);
  return { id: String(error["id"]), outs: (error["properties"] ?? {}) as State["outs"] };
}

describe("a setting that the service repeats in the error of an operation is reported nowhere", () => {
  test("after a creation, and in the next up, which waits for it and starts it again", async () => {
    const compute = await computes();
    await failing(compute, OLD, "start_compute");
    const kept = await withheld(compute, compute.create(withSetting(OLD)));
    compute.restart();
    await failing(compute, OLD, "start_compute");
    await withheld(compute, compute.update(kept, withSetting(OLD)));
    await compute.fault({ method: "POST", path: START, status: 404 });
    compute.restart();
    await withheld(compute, compute.update(kept, withSetting(OLD)));
    await compute.fault({ method: "POST", path: START, status: 422, body: { code: "", message: told(OLD) } });
    compute.restart();
    await withheld(compute, compute.update(kept, withSetting(OLD)));
  });

  test.each([
    ["the new one", NEW],
    ["the one of before", OLD],
  ])("after an update: %s", async (_which, value) => {
    const compute = await computes();
    const state = await compute.create(withSetting(OLD));
    await failing(compute, value, "apply_config");
    await withheld(compute, compute.update(state, withSetting(NEW)));
  });

  test("after an update of something else, and in a refusal of it", async () => {
    const compute = await computes();
    const state = await compute.create(withSetting(OLD));
    await failing(compute, OLD, "apply_config");
    await withheld(compute, compute.update(state, { ...withSetting(OLD), size: 2 }));
    await compute.fault({ method: "PATCH", status: 422, body: { code: "", message: told(OLD) } });
    await withheld(compute, compute.update(state, { ...withSetting(OLD), size: 4 }));
  });

  test("after a restart", async () => {
    const compute = await computes();
    const state = await compute.create({ ...withSetting(OLD), restartTriggers: [1] });
    await failing(compute, OLD);
    await withheld(compute, compute.update(state, { ...withSetting(OLD), restartTriggers: [2] }));
  });

  test("after an adoption, also of a setting that the program does not name", async () => {
    const compute = await computes();
    await editByHand(compute, DEMO_PRIMARY, { settings: { pg_settings: { "app.key": OLD } } });
    await failing(compute, OLD, "apply_config");
    await withheld(compute, compute.create({ ...LEAST, branchId: "br-main", adopt: true, size: 4 }));
  });

  test("after a deletion", async () => {
    const compute = await computes();
    const state = await compute.create(withSetting(OLD));
    const path = "/projects/{project_id}/endpoints";
    const endpoints = [await atService(compute, endpointId(state))];
    await compute.fault({ method: "GET", path, status: 200, body: { endpoints }, times: 0 });
    await failing(compute, OLD, "suspend_compute");
    await withheld(compute, compute.delete(state));
  });
});
