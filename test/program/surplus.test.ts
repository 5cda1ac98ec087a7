import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { hosted, URN } from "../support/toy";

const CANARY = "canary-surplus";
const registered: { name: string; inputs: Record<string, unknown> }[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs }) => {
        registered.push({ name, inputs });
        return { id: `${name}-id`, state: inputs };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
    true,
  ),
);

/** A class as a program without types sees it. */
type Untyped = new (name: unknown, args?: unknown, opts?: unknown) => pulumi.CustomResource;
/** A kind that src/index.ts does not export is one error here. */
const CLASSES: Readonly<Record<Kind, unknown>> = svc;
// Whatever a constructor takes, JavaScript may give it anything.
const untyped = (kind: Kind): Untyped => CLASSES[kind] as Untyped;

/** The names that the engine receives and that the resource does not have. */
async function surplusOf(kind: Kind, args: unknown): Promise<unknown> {
  registered.splice(0);
  const resource = new (untyped(kind))("thing", args);
  await new Promise((resolve) => void resource.urn.apply(resolve));
  return registered.at(-1)?.inputs["__surplus"];
}

test.each(KINDS)("%s reports the names that it does not have, without their values", async (kind) => {
  expect(await surplusOf(kind, { projectId: "p", projetId: CANARY, tags: [CANARY], none: undefined })).toEqual([
    "projetId",
    "tags",
  ]);
  expect(JSON.stringify(registered)).not.toContain(CANARY);
});

test.each(KINDS)("%s has every argument that its provider has", async (kind) => {
  expect(
    await surplusOf(kind, Object.fromEntries(Object.keys(KIND_CASES[kind].lifecycle.args).map((name) => [name, "x"]))),
  ).toBeUndefined();
});

test("the names are told of arguments that come as one Output, in a preview that does not know every value too", async () => {
  expect(await surplusOf("ComputeEndpoint", pulumi.output({ projectId: "p", sise: CANARY }))).toEqual(["sise"]);
  const secret = pulumi.output({ projectId: pulumi.secret("p"), sise: CANARY });
  expect(JSON.stringify(await surplusOf("ComputeEndpoint", secret))).toContain("sise");
  const partly = pulumi.output({ projectId: pulumi.output(pulumi.unknown), sise: 1 });
  expect(await surplusOf("ComputeEndpoint", partly)).toEqual(["sise"]);
  expect(await surplusOf("ComputeEndpoint", pulumi.output({ projectId: "p" }))).toBeUndefined();
  expect(await surplusOf("ComputeEndpoint", pulumi.output(pulumi.unknown))).toBeUndefined();
});

test("check refuses the names with everything else that is wrong, and passes them on to nothing", async () => {
  const { toy } = hosted();
  const { inputs, failures } = await toy.check(
    {},
    { label: "x", secret: "short", __urn: URN, __surplus: ["lable", 7] },
  );
  expect(failures?.map(({ reason }) => reason)).toEqual([
    'lable: unknown property. Did you mean "label"?',
    "secret: is too short",
    "home: is required",
  ]);
  expect(inputs).not.toHaveProperty("__surplus");
});

describe("what JavaScript may give in place of the arguments is refused with a message", () => {
  test.each(KINDS)("%s", (kind) => {
    for (const args of [undefined, null, 7, CANARY, true, [CANARY], Promise.resolve({}), () => undefined]) {
      const words = /^\w+ "thing": the arguments (are missing|must be an object, not (a |null))/;
      expect(() => new (untyped(kind))("thing", args)).toThrow(words);
    }
    for (const opts of [null, 7, CANARY, []]) {
      expect(() => new (untyped(kind))("thing", {}, opts)).toThrow(/^\w+ "thing": the options must be an object, not/);
    }
    for (const id of [undefined, null, 7, ""]) {
      // Whatever a look-up takes, JavaScript may give it anything.
      const { get } = CLASSES[kind] as { get(name: string, id: unknown): unknown };
      expect(() => get.call(CLASSES[kind], "thing", id)).toThrow(/^\w+ "thing": the id to look up must be a string/);
    }
  });

  test.each([
    [null, "the arguments must be an object, not null"],
    ["x", "the arguments must be an object, not a string"],
    [{ apikey: "x" }, 'apikey: unknown property. Did you mean "apiKey"?'],
    [
      { maxRequestsPerMinute: "120" },
      'maxRequestsPerMinute: must be a number or an Output of one, not the string "120". The configuration holds strings',
    ],
    [{ maxSizeCu: "2" }, 'maxSizeCu: must be a number or an Output of one, not the string "2".'],
    [{ apiKey: 7, baseUrl: null }, "apiKey: must be a string or an Output of one, not a number."],
  ])("Provider: %j", (args, words) => {
    const Untyped = svc.Provider as unknown as Untyped; // as above
    expect(() => new Untyped("p", args)).toThrow(`Provider "p": ${words}`);
  });
});
