import { z } from "zod";
import { hosted, toyLifecycle, URN } from "../support/toy";

// Leaving out "label" or "region" says that it is not set.
const args = {
  ...toyLifecycle().args,
  label: { schema: z.string(), unset: "update" as const },
  region: { schema: z.string(), unset: "replace" as const },
};
const OUTS = { home: "a", host: "h", __args: ["home"], __version: 1, __provider: "p" };

const diff = (news: object, outs: object) => hosted({ args }).toy.diff("toy-1", { ...OUTS, ...outs }, { ...news });

describe("an argument that is declared unset by leaving it out", () => {
  test("is no difference while it is not set", async () => {
    expect((await diff({ home: "a" }, {})).changes).toBe(false);
  });

  test("is taken away by an update where one can do that", async () => {
    const outs = { label: "l", __args: ["home", "label"] };
    expect(await diff({ home: "a" }, outs)).toEqual({ replaces: [], deleteBeforeReplace: false });
  });

  test("replaces where only a new object can be without it", async () => {
    const outs = { region: "r", __args: ["home", "region"] };
    expect((await diff({ home: "a" }, outs)).replaces).toEqual(["region"]);
  });

  test("a change of its value, or giving it, replaces nothing", async () => {
    expect((await diff({ home: "a", region: "s" }, { region: "r", __args: ["home", "region"] })).replaces).toEqual([]);
    expect((await diff({ home: "a", region: "s" }, {})).replaces).toEqual([]);
  });

  test("is said to replace, and never to be no longer managed", async () => {
    const { toy, log } = hosted({ args });
    await toy.check({ home: "a", region: "r" }, { home: "a", __urn: URN });
    await toy.diff("toy-1", { ...OUTS, region: "r", __args: ["home", "region"] }, { home: "a", __urn: URN });
    expect(log.map(({ message }) => message)).toEqual([
      'ComputeEndpoint toy-1 ("toy") is replaced, because "region" changes: it is made anew',
    ]);
  });

  test("reaches the update as a change", async () => {
    const seen: string[] = [];
    const { toy } = hosted({
      args,
      update: async (_call, _stored, _args, { changed, dropped }) => {
        seen.push(...changed, "|", ...dropped);
        return { host: "h" };
      },
    });
    await toy.update("toy-1", { ...OUTS, label: "l", __args: ["home", "label"] }, { home: "a" });
    expect(seen).toEqual(["label", "|"]);
  });

  test("is drift when a read finds it set, in props and inputs, and the program stays without it", async () => {
    const { toy } = hosted({
      args,
      read: async () => ({ args: { home: "a", region: "found", size: 3 }, outputs: { host: "h" }, ready: true }),
    });
    const { props = {}, inputs } = await toy.read("toy-1", { ...OUTS });
    expect(props).toMatchObject({ region: "found", __args: ["home"] });
    expect(props).not.toHaveProperty("size");
    expect(inputs).toEqual({ home: "a", region: "found", __provider: "p" });
    const plan = await toy.diff("toy-1", props, { home: "a" });
    expect(plan).toEqual({ replaces: ["region"], deleteBeforeReplace: false });
  });

  test("stops being drift when a read finds it unset again", async () => {
    const { toy } = hosted({
      args,
      read: async () => ({ args: { home: "a", region: undefined }, outputs: { host: "h" }, ready: true }),
    });
    const { props, inputs } = await toy.read("toy-1", { ...OUTS, region: "found" });
    expect(props).not.toHaveProperty("region");
    expect(inputs).not.toHaveProperty("region");
  });
});
