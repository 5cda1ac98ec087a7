/** What the types demand of whoever destroys something, and what the gate asks. */
import {
  type Client,
  Deadline,
  type Destruction,
  Gone,
  Granted,
  NotKnownError,
  type Permission,
  Refused,
  Unknown,
} from "../../src/client";
import { gatedRequest } from "../../src/client/gate";
import type { Request } from "../../src/client/http/request";
import type { Requests } from "../../src/client/http/requests";
import type { Lifecycle } from "../../src/runtime/lifecycle";
import { skippingClock } from "../support/fakeClock";
import { GONE, PROVEN } from "../support/proven";
import { errorOf, inMemory } from "../support/scriptedServer";
import { toyLifecycle, type ToyArgs, type ToyOutputs } from "../support/toy";

skippingClock();

const ROUTE = { template: "/things/{id}", params: { id: "a" } } as const;
const unknown = (): Unknown =>
  Unknown.because({ question: "whether it is ours", why: "no list came", waysOut: "Run this again" });

describe("nothing goes past the gate", () => {
  // Never called: the type check alone decides.
  const refusedByTypes = (requests: Requests, client: Client, deadline: Deadline): void => {
    const route = { ...ROUTE, deadline };
    // @ts-expect-error -- A request that deletes is made by the gate alone.
    const request: Request = { ...route, method: "DELETE" };
    // @ts-expect-error -- Nor is it sent without it.
    void requests.send({ ...route, method: "DELETE" });
    // @ts-expect-error -- The same as a read.
    void requests.read({ ...route, method: "DELETE" }, undefined);
    const providers = client.auth.oauthProviders("p");
    // @ts-expect-error -- Nothing says that it is the one that is meant.
    void providers.delete({ id: "google" }, { mayGo: PROVEN.mayGo });
    // @ts-expect-error -- Nothing says that it may go.
    void providers.delete({ id: "google" }, { isMeant: PROVEN.isMeant });
    // @ts-expect-error -- A truth value proves nothing.
    void providers.delete({ id: "google" }, { ...PROVEN, mayGo: () => true });
    // @ts-expect-error -- Nor does an object of the same shape.
    void providers.delete({ id: "google" }, { ...PROVEN, mayGo: (): Granted => ({}) });
    // @ts-expect-error -- Nor does a look-up that returns nothing.
    void providers.delete({ id: "google" }, { ...PROVEN, isMeant: async () => undefined });
    // @ts-expect-error -- For a compute, its id says that it is meant, but not that nobody else holds it.
    void client.computes.delete({ projectId: "p", endpointId: "ep-1" }, {});
    void request;
  };

  const lifecycles: Partial<Lifecycle<ToyArgs, ToyOutputs>>[] = [
    { read: async () => GONE, delete: async () => GONE },
    // @ts-expect-error -- "Not seen" is not "gone".
    { read: async () => undefined },
    // @ts-expect-error -- A deletion ends with the proof that the object is gone.
    { delete: async () => undefined },
    // @ts-expect-error -- An object of the same shape is no proof.
    { read: async () => ({ how: "I say so" }) },
    // @ts-expect-error -- What is not known is thrown, in words.
    { read: async () => unknown() },
  ];

  test("in a request or a lifecycle that compiles", () => {
    expect(refusedByTypes).toBeInstanceOf(Function);
    expect(lifecycles.map((changes) => toyLifecycle(changes).kind)).toHaveLength(5);
  });

  test("although a proof has no public constructor", () => {
    // @ts-expect-error -- Look-ups make it, by `proven`.
    expect(new Gone("I say so")).toBeInstanceOf(Gone);
    // @ts-expect-error -- The same.
    expect(new Granted()).toBeInstanceOf(Granted);
  });
});

describe("before each attempt, the gate", () => {
  /** A deletion that is refused with 423 twice. */
  const sending = async (destruction: Partial<Destruction>) => {
    const asked: string[] = [];
    const { server, client } = inMemory((_, nth) => (nth < 3 ? { status: 423 } : { status: 204 }), { baseDelayMs: 1 });
    const asking = (name: string, answer: (nth: number) => Permission) => (): Permission => {
      asked.push(`${name} before ${server.seen.length + 1}`);
      return answer(server.seen.length + 1);
    };
    const all: Destruction = {
      isMeant: asking("isMeant", PROVEN.mayGo),
      mayGo: asking("mayGo", PROVEN.mayGo),
      ...destruction,
    };
    const deletion = { id: "google", matches: () => false, onSend: () => void asked.push("onSend") };
    const outcome = await client.auth
      .oauthProviders("p")
      .delete(deletion, all)
      .catch((error: unknown) => error);
    return { outcome, asked, sent: server.seen.filter(({ method }) => method === "DELETE").length };
  };

  test("asks whether the object is meant, then whether it may go, and says when it is sent", async () => {
    const once = (nth: number): string[] => [`isMeant before ${nth}`, `mayGo before ${nth}`, "onSend"];
    const { asked, sent } = await sending({});
    expect([asked.slice(0, 9), sent]).toEqual([[...once(1), ...once(2), ...once(3)], 3]);
  });

  test.each<[string, Permission, new (...args: never[]) => Error, RegExp]>([
    ["a refusal", Refused.proven(new TypeError("somebody else has it")), TypeError, /^somebody else has it$/],
    [
      "what is not known",
      unknown(),
      NotKnownError,
      /^it is not known whether it is ours: no list came\. Run this again$/,
    ],
  ])("lets nothing through on %s", async (_, permission, kind, words) => {
    for (const name of ["isMeant", "mayGo"] as const) {
      const { outcome, sent } = await sending({ [name]: () => permission });
      expect(outcome).toBeInstanceOf(kind);
      expect((outcome as Error).message).toMatch(words);
      expect(sent).toBe(0);
    }
  });

  test("does not send again what may not go by then", async () => {
    let asked = 0;
    const mayGo = (): Permission => ((asked += 1) < 3 ? PROVEN.mayGo() : unknown());
    expect(await sending({ mayGo })).toMatchObject({ outcome: expect.any(NotKnownError), sent: 2 });
  });

  test("passes the deadline and the progress of the destruction on to who looks", async () => {
    const deadline = new Deadline(1_000);
    const onProgress = jest.fn();
    const isMeant = jest.fn(PROVEN.isMeant);
    const request = gatedRequest({ method: "DELETE", ...ROUTE }, { ...PROVEN, isMeant, deadline, onProgress });
    await request.beforeAttempt?.();
    expect(isMeant.mock.calls).toEqual([[{ deadline, onProgress }]]);
    expect(request).toMatchObject({ method: "DELETE", deadline, onProgress });
  });

  test("fails a deletion whose look-up fails", async () => {
    const down = new Error("down");
    const request = gatedRequest({ method: "DELETE", ...ROUTE }, { ...PROVEN, isMeant: () => Promise.reject(down) });
    expect(await errorOf(Promise.resolve(request.beforeAttempt?.()))).toBe(down);
  });
});
