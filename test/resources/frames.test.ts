import { Transport } from "../../src/client/http/transport";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { harness, PROJECT, withIntegration, type Harness } from "../support/harness";
import type { Properties } from "../../src/contract/hiddenKeys";

/**
 * The most of our functions between the lifecycle of a resource and the socket, both ends included: somebody who reads
 * a creation reads these.
 */
const MOST = 10;

afterEach(() => jest.restoreAllMocks());

/** The frames of what creates it, from the request back to the lifecycle. */
async function framesOf(given: Harness, inputs: Properties): Promise<string[]> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  let stack = "";
  // Replaces the method of the class, because a provider makes its own transport.
  const send = Transport.prototype.send;
  jest.spyOn(Transport.prototype, "send").mockImplementation(function (this: Transport, attempt) {
    if (attempt.method === "POST") stack = new Error("here").stack ?? "";
    return send.call(this, attempt);
  });
  try {
    await given.create(inputs);
  } finally {
    Error.stackTraceLimit = limit;
  }
  const ours = stack.split("\n").filter((line) => /\/src\/(client|resources)\//.test(line));
  return ["Transport.send", ...ours];
}

test("a creation goes through few functions between lifecycle and socket", async () => {
  const provider = await harness(oauthProvider);
  await withIntegration(provider);
  const frames = await framesOf(provider, { projectId: PROJECT, providerId: "microsoft" });
  // The lifecycle is the last frame: none is cut off.
  expect(frames.at(-1)).toContain("integrationChild");
  expect(frames.slice(MOST)).toEqual([]);
});

test("so does that of a compute, which waits in a queue", async () => {
  const inputs = { projectId: PROJECT, branchId: "br-dev", type: "read_only" };
  const frames = await framesOf(await harness(computeEndpoint), inputs);
  expect(frames.at(-1)).toMatch(/computeEndpoint\/computeEndpointLifecycle/);
  expect(frames.slice(MOST)).toEqual([]);
});
