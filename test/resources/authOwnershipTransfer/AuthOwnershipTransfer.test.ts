import { authOwnershipTransfer } from "../../../src/resources/authOwnershipTransfer/authOwnershipTransferLifecycle";
import { expectNoSecrets, harness, PROJECT, PROVIDER, withIntegration } from "../../support/harness";

const INPUTS = { projectId: PROJECT, triggers: ["first"] };
const started = async () => {
  const transfer = await harness(authOwnershipTransfer);
  await withIntegration(transfer);
  return transfer;
};

test("creating it asks for the address once, and says that a person has to confirm, without showing the address", async () => {
  const transfer = await started();
  const { id, outs } = await transfer.create(INPUTS);
  expect(id).toMatch(new RegExp(`^${PROJECT}/${PROVIDER}/[0-9a-f]{12}$`));
  expect(outs).toMatchObject({ ...INPUTS, authProvider: PROVIDER, url: expect.stringMatching(/^http/) });
  expect((await transfer.mutations()).map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /projects/auth/transfer_ownership",
  ]);
  expect(transfer.log.at(-1)?.message).toMatch(/the transfer is not finished.*in a browser and confirm/);
  expectNoSecrets(transfer, [String(outs["url"])]);
});

test("the address leads to the second step, which a refresh survives without asking again", async () => {
  const transfer = await started();
  const state = await transfer.create(INPUTS);
  const answer = await fetch(String(state.outs["url"]));
  expect(answer.status).toBe(200);
  const { data } = await transfer.get(`/projects/${PROJECT}/auth/integrations`);
  expect(data).toMatchObject([{ owned_by: "user" }]);
  await transfer.forgetRequests();
  transfer.restart();
  expect((await transfer.read(state))?.outs).toEqual(state.outs);
  expect(await transfer.mutations()).toEqual([]);
});

test("deleting it sends nothing and says what it does not undo", async () => {
  const transfer = await started();
  const state = await transfer.create(INPUTS);
  await transfer.forgetRequests();
  await transfer.delete(state);
  expect(await transfer.requests()).toEqual([]);
  expect(transfer.log.at(-1)?.message).toMatch(/removed from the stack only: .*stays valid, .*is not undone/);
  expectNoSecrets(transfer, [String(state.outs["url"])]);
});

test("an answer that is lost is asked for again: asking transfers nothing", async () => {
  const transfer = await started();
  await transfer.fault({ method: "POST", path: "/projects/auth/transfer_ownership", drop: "reset", effect: "done" });
  const { outs } = await transfer.create(INPUTS);
  expect(outs["url"]).toMatch(/^http/);
  expect(await transfer.mutations()).toHaveLength(2);
});

test("the plan of a replacement says that another address does not take the first one back", async () => {
  const transfer = await started();
  const state = await transfer.create(INPUTS);
  const news = { ...INPUTS, triggers: ["second"] };
  await transfer.check(news);
  await transfer.diff(state, news);
  expect(transfer.log.at(-1)?.message).toMatch(/: a new URL is requested; an issued URL stays valid/);
});

test("one that is only looked up has no address", async () => {
  const transfer = await started();
  const { id } = await transfer.create(INPUTS);
  transfer.restart();
  expect((await transfer.read({ id, outs: {} }))?.outs).toMatchObject({
    projectId: PROJECT,
    authProvider: PROVIDER,
    url: "",
  });
});
