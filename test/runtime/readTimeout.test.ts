/** How long the read of a refresh may take, from the properties that the engine hands over down to the transport. */
import { dynamicProvider } from "../../src/protocols/dynamic/provider";
import { Session } from "../../src/runtime/session";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { skippingClock } from "../support/fakeClock";
import { inMemory, type Script } from "../support/scriptedServer";
import { thrownBy, URN } from "../support/toy";

skippingClock();

const COMPUTE = {
  id: "ep-1",
  host: "ep-1.example.com",
  branch_id: "br-1",
  type: "read_write",
  current_state: "active",
};

/** Read by a new process, while the service takes this long for each response. */
function read(responseSeconds: number, hidden: object): Promise<{ props?: Record<string, unknown> }> {
  const slow: Script = () => ({ json: { endpoints: [COMPUTE] }, delayMs: responseSeconds * 1_000 });
  const { server } = inMemory(slow);
  const provider = dynamicProvider(computeEndpoint, new Session(() => undefined));
  const settings: Record<string, string> = {
    "svc:apiKey": "key",
    "svc:baseUrl": server.baseUrl,
    "svc:allowHttp": "true",
  };
  void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
  return provider.read("prj-demo/ep-1", { __provider: "pointer", __urn: URN, ...hidden });
}

const STORED = {
  projectId: "prj-demo",
  branchId: "br-1",
  host: "ep-1.example.com",
  __args: ["projectId"],
  __version: 1,
};
const stored = (timeouts: object): object => ({ ...STORED, __timeouts: timeouts });

test("it is 30 s unless the state holds another time", async () => {
  for (const hidden of [STORED, stored({}), stored({ create: 600 })]) {
    const began = performance.now();
    const { message } = await thrownBy(read(35, hidden));
    expect(message).toMatch(/^Could not read ComputeEndpoint prj-demo\/ep-1 \("toy"\): .*30 s/);
    expect(performance.now() - began).toBe(30_000);
  }
});

test("it is shorter where customTimeouts say so, and the message says how to change that", async () => {
  const { message } = await thrownBy(read(35, stored({ read: 2 })));
  expect(message).toBe(
    'Could not read ComputeEndpoint prj-demo/ep-1 ("toy"): no response within 2 s (GET /projects/{project_id}/endpoints). ' +
      'To wait longer, raise "customTimeouts.read"; a refresh uses the new value only after the next update of the resource.',
  );
});

test("it is longer where customTimeouts say so", async () => {
  await expect(read(35, stored({ read: 120 }))).resolves.toMatchObject({
    props: { host: "ep-1.example.com", __timeouts: { read: 120 } },
    inputs: { __timeouts: { read: 120 } },
  });
});

test("a time beyond what a timer can hold is a long one, too", async () => {
  await expect(read(35, stored({ read: 1e9 }))).resolves.toMatchObject({ props: { host: "ep-1.example.com" } });
});

test("of a resource that is only looked up, it is that of the program", async () => {
  await expect(read(35, { __timeouts: { read: 120 } })).resolves.toMatchObject({ props: { host: "ep-1.example.com" } });
  const { message } = await thrownBy(read(35, { __timeouts: { read: 2 } }));
  expect(message).toMatch(/no response within 2 s .*\. To wait longer, raise "customTimeouts\.read"\.$/);
});
