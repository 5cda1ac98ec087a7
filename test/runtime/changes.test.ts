import { hosted, thrownBy, URN } from "../support/toy";
import { GONE } from "../support/proven";
import { FateUnknownError } from "../../src/client";
import { clean } from "../../src/contract/hiddenKeys";

const INPUTS = { home: "a", size: 1, __urn: URN, __provider: "pointer", __timeouts: { create: 5 } };
const OUTS = { ...INPUTS, host: "h", __args: ["home", "size"], __version: 1 };

describe("create", () => {
  test("returns complete outs: arguments, outputs, hidden keys and the names of the managed arguments", async () => {
    expect(await hosted().toy.create({ ...INPUTS })).toEqual({ id: "toy-1", outs: OUTS });
  });

  test("sends nothing when a value that was unknown in check turns out wrong", async () => {
    let called = false;
    const { toy } = hosted({ create: async () => ((called = true), { id: "x", outputs: { host: "h" } }) });
    const error = await thrownBy(toy.create({ ...INPUTS, secret: "short", size: "x" }));
    expect(error.message).toMatch(/^Could not create ComputeEndpoint \("toy"\): size: .*; secret: is too short$/);
    expect(error).not.toHaveProperty("id");
    expect(called).toBe(false);
  });

  test("an object that exists without some of its arguments is kept with what the service shows of them", async () => {
    const { toy } = hosted({
      create: async (call) => {
        call.checkpoint("toy-9", { host: "early" }, { size: 8, label: undefined });
        throw new Error("the service shows another size");
      },
    });
    const error = await thrownBy(toy.create({ ...INPUTS, label: "l" }));
    expect(error["properties"]).toEqual({
      ...OUTS,
      size: 8,
      host: "early",
      __args: ["home", "label", "size"],
      __unfinished: "create",
    });
  });

  test("what hangs the engine never reaches it: undefined, Date, Map and BigInt become JSON", async () => {
    const odd = { host: "h", a: undefined, b: new Date(0), c: new Map(), d: 12n, e: [undefined] };
    const { toy } = hosted({ create: async () => ({ id: "toy-1", outputs: odd }) });
    const { outs } = await toy.create({ ...INPUTS });
    expect(outs).toEqual({ ...OUTS, b: "1970-01-01T00:00:00.000Z", c: {}, d: "12", e: [null] });
    expect(Object.keys(outs ?? {})).not.toContain("a");
  });

  test("an object that was made is in the state before the error leaves, with pointer, outs and the reason", async () => {
    const { toy } = hosted({
      create: async (call) => {
        call.checkpoint("toy-9", { host: "early" });
        throw new Error('it was still "init" after 2 s');
      },
    });
    const error = await thrownBy(toy.create({ ...INPUTS }));
    const reason = `ComputeEndpoint toy-9 exists, but it was still "init" after 2 s. It is kept in the stack: run pulumi up again.`;
    expect(error["id"]).toBe("toy-9");
    expect(error["reasons"]).toEqual([reason]);
    expect(error["properties"]).toEqual({ ...OUTS, host: "early", __unfinished: "create" });
    expect(clean(error["properties"] as object as Record<string, unknown>)).toEqual(error["properties"]);
  });

  test.each([
    ["a string", "sad"],
    ["null", null],
    ["undefined", undefined],
    ["an object with an id", { id: "poison", code: 1 }],
    ["an error with an id", Object.assign(new Error("sad"), { id: "poison", properties: {} })],
  ])("turns %s that is thrown into a plain error without id and stack", async (_what, thrown) => {
    const { toy } = hosted({ create: () => Promise.reject(thrown) });
    const error = await thrownBy(toy.create({ ...INPUTS }));
    expect(error.message).toMatch(/^Could not create ComputeEndpoint \("toy"\): ./);
    expect(error).not.toHaveProperty("id");
    expect(error.stack).toBe("");
  });

  test.each([{}, { "svc:quiet": "true" }])(
    "a note stands on the resource's own line, also with svc:quiet: %j",
    async (settings: Record<string, string>) => {
      const made = { id: "toy-1", outputs: { host: "h" } };
      const { toy, log } = hosted({ create: async ({ note }) => (note("it was found"), made) }, settings);
      await toy.create({ home: "a", __urn: URN });
      expect(log).toEqual([{ severity: "info", message: "it was found", urn: URN, ephemeral: false }]);
    },
  );

  test("a message is cut at 2 kB", async () => {
    const { toy } = hosted({ create: () => Promise.reject(new Error("x".repeat(20_000))) });
    expect((await thrownBy(toy.create({ ...INPUTS }))).message.length).toBeLessThanOrEqual(2_001);
  });

  test("honours customTimeouts and the default of ten minutes", async () => {
    const seen: number[] = [];
    const { toy } = hosted({
      create: async (call) => (seen.push(call.deadline.totalMs), { id: "x", outputs: { host: "h" } }),
    });
    await toy.create({ ...INPUTS });
    await toy.create({ home: "a" });
    expect(seen).toEqual([5_000, 600_000]);
  });

  test.each([
    ["the default of 30 s", {}, 30_000, undefined],
    ["a short time", { read: 2 }, 2_000, undefined],
    ["a long time, of which an attempt may take a third", { create: 5, read: 120 }, 120_000, 40_000],
    ["the default, where the state holds no time", { read: 0 }, 30_000, undefined],
  ])("honours customTimeouts of a read: %s", async (_what, __timeouts, totalMs, attemptMs) => {
    const seen: unknown[] = [];
    const { toy } = hosted({
      read: async ({ deadline }) => {
        seen.push([deadline.totalMs, deadline.attemptMs]);
        return { args: {}, outputs: { host: "h" }, ready: true };
      },
    });
    const found = await toy.read("toy-1", { ...OUTS, __timeouts });
    expect(seen).toEqual([[totalMs, attemptMs]]);
    expect(found.props).toMatchObject({ host: "h" });
  });

  test("works without any hidden key, as for a program in another language", async () => {
    expect(await hosted().toy.create({ home: "a" })).toEqual({
      id: "toy-1",
      outs: { home: "a", host: "h", __args: ["home"], __version: 1 },
    });
  });
});

describe("update", () => {
  test("names what changed and what was taken out, and returns complete outs", async () => {
    const seen: object[] = [];
    const { toy } = hosted({
      update: async (_call, _stored, args, { changed, dropped }) => {
        seen.push({ args, changed: [...changed], dropped: [...dropped] });
        return { host: "h2" };
      },
    });
    const { outs } = await toy.update("toy-1", { ...OUTS }, { ...INPUTS, size: undefined, label: "new" });
    expect(seen).toEqual([{ args: { home: "a", label: "new" }, changed: ["label"], dropped: ["size"] }]);
    expect(outs).toEqual({
      ...INPUTS,
      size: undefined,
      label: "new",
      host: "h2",
      __args: ["home", "label"],
      __version: 1,
    });
  });

  test("an accepted change is in the state before the error leaves, as unfinished", async () => {
    const { toy } = hosted({
      update: async (call) => {
        call.checkpoint("toy-1", { host: "h2" });
        throw new Error("the operation failed");
      },
    });
    const error = await thrownBy(toy.update("toy-1", { ...OUTS }, { ...INPUTS, size: 4 }));
    expect(error["id"]).toBe("toy-1");
    expect(error["properties"]).toMatchObject({
      size: 4,
      host: "h2",
      __provider: "pointer",
      __unfinished: expect.any(String),
    });
  });

  test("an argument that the service shows otherwise is kept as it shows it, so that the next up applies it", async () => {
    const { toy } = hosted({
      update: async (call) => {
        call.checkpoint("toy-1", { host: "h2" }, { label: "old", size: 1 });
        throw new Error("the second request failed");
      },
    });
    const olds = { ...OUTS, label: "old", __args: ["home", "size", "label"] };
    const error = await thrownBy(toy.update("toy-1", olds, { home: "a", region: "r", size: 4, label: "new" }));
    expect(error["properties"]).toMatchObject({
      size: 1,
      label: "old",
      region: "r",
      __args: ["home", "label", "region", "size"],
    });
  });

  test("one that may have taken effect is kept with the program's pointer, which outs of the native plugin lack", async () => {
    const lost = new FateUnknownError("its effect was not found", {});
    const { toy } = hosted({ update: () => Promise.reject(lost) });
    const { __provider: _pointer, ...ofPlugin } = OUTS;
    const error = await thrownBy(toy.update("toy-1", ofPlugin, { ...INPUTS, size: 4 }));
    expect(error["properties"]).toEqual({ ...OUTS, __unfinished: "update" });
  });

  test("an update that was not accepted leaves the state alone", async () => {
    const { toy } = hosted({ update: () => Promise.reject(new Error("refused")) });
    const error = await thrownBy(toy.update("toy-1", { ...OUTS }, { ...INPUTS, size: 4 }));
    expect(error.message).toBe('Could not update ComputeEndpoint toy-1 ("toy"): refused');
    expect(error).not.toHaveProperty("id");
  });
});

describe("read", () => {
  test("a missing object is a blank id", async () => {
    const { toy } = hosted({ read: async () => GONE });
    expect(await toy.read("toy-1", { ...OUTS })).toEqual({ id: "", props: {} });
  });

  test("one that no state has stored yet, and that does not exist, is a failure that names it", async () => {
    const { toy } = hosted({ read: async () => GONE });
    const error = await thrownBy(toy.read("toy-1", { home: "a", __provider: "pointer" }));
    expect(error.message).toBe("Could not read ComputeEndpoint toy-1: it does not exist");
  });

  test("echoes only managed arguments, equal in props and inputs, with the hidden keys", async () => {
    const { toy } = hosted({
      read: async () => ({ args: { home: "a", size: 8, label: "x" }, outputs: { host: "h", label: "x" }, ready: true }),
    });
    const { props, inputs } = await toy.read("toy-1", { ...OUTS });
    expect(props).toEqual({ ...OUTS, size: 8, label: "x" });
    expect(inputs).toEqual({ ...INPUTS, size: 8 });
  });

  test("keeps the stored value of an argument that cannot be read, and drops one that is unset at the service", async () => {
    const olds = { ...OUTS, secret: "longenough", label: "l", __args: ["home", "size", "secret", "label"] };
    const { toy } = hosted({
      read: async () => ({ args: { home: "a", size: 1, label: undefined }, outputs: { host: "h" }, ready: true }),
    });
    const { props, inputs } = await toy.read("toy-1", olds);
    expect(props).toMatchObject({ secret: "longenough", __args: ["home", "size", "secret", "label"] });
    expect(props).not.toHaveProperty("label");
    expect(inputs).toEqual({ ...INPUTS, secret: "longenough" });
    const news = { ...INPUTS, secret: "longenough", label: "l" };
    expect((await toy.diff("toy-1", props ?? {}, news)).changes).toBeUndefined();
  });

  test("keeps the mark of an unfinished object until it is ready", async () => {
    const read = (ready: boolean) =>
      hosted({ read: async () => ({ args: {}, outputs: { host: "h" }, ready }) }).toy.read("toy-1", {
        ...OUTS,
        __unfinished: "why",
      });
    expect((await read(false)).props).toHaveProperty("__unfinished", "why");
    expect((await read(true)).props).not.toHaveProperty("__unfinished");
  });

  test("a failure is an error, never a missing object", async () => {
    const { toy } = hosted({ read: () => Promise.reject(new Error("503")) });
    expect((await thrownBy(toy.read("toy-1", { ...OUTS }))).message).toBe(
      'Could not read ComputeEndpoint toy-1 ("toy"): 503',
    );
  });
});

describe("the moving line", () => {
  test("is cleared when the call ends, and a text is not repeated", async () => {
    const { toy, log } = hosted({
      delete: async (call) => {
        call.onProgress("waiting");
        call.onProgress("waiting");
        call.onProgress("still waiting, but too soon after the first");
        return GONE;
      },
    });
    await toy.delete("toy-1", { ...OUTS });
    expect(log.map(({ message, ephemeral }) => [message, ephemeral])).toEqual([
      ["waiting", true],
      ["", true],
    ]);
  });
});
