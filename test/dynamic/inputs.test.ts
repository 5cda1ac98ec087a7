import * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../src/dynamic/inputs";

interface Shape {
  id: string;
  on?: boolean;
  mode?: "a" | "b";
  size?: number | { min: number; max: number };
  list?: string[];
  any?: unknown[];
}

/** Compiling is the test (the type check covers this folder): each is an argument as a program may write it. */
const GOOD: Record<string, ArgumentsOf<Shape>> = {
  plain: { id: "x", on: true, mode: "a", size: 1, list: ["x"], any: [1, "x"] },
  "left out": { id: "x", on: undefined },
  "an Output of a boolean": { id: "x", on: pulumi.output(true as boolean) },
  "a promise of one of several texts": { id: "x", mode: Promise.resolve("a" as "a" | "b") },
  "an Output of one of several shapes": { id: "x", size: pulumi.output(1 as number | { min: number; max: number }) },
  "Outputs inside": { id: "x", size: { min: pulumi.output(1), max: 2 }, list: [pulumi.output("x"), "y"] },
  "an Output of a list": { id: pulumi.output("x"), list: pulumi.output(["x"]) },
};

test.each(Object.entries(GOOD))("an argument may be given as %s", (_how, args) => {
  expect(args.id).toBeDefined();
});

test("a value of another type is refused by the compiler", () => {
  // @ts-expect-error: a text is no boolean
  const wrong: ArgumentsOf<Shape> = { id: "x", on: "true" };
  // @ts-expect-error: half of an object
  const half: ArgumentsOf<Shape> = { id: "x", size: { min: 1 } };
  expect([wrong, half]).toHaveLength(2);
});
