import { z } from "zod";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { ArgumentSpecs } from "../../src/runtime/arguments";
import { echoOf } from "../../src/runtime/echo";
import { settingsForm } from "./settingsLike";

interface Args {
  size: number;
  label: string;
  mode: string;
  host: string;
  secret: string;
  settings: Record<string, string>;
}

const specs: ArgumentSpecs<Args> = {
  size: { schema: z.number(), form: Math.floor },
  label: { schema: z.string() },
  mode: { schema: z.string(), assumed: "plain" },
  host: { schema: z.string(), unset: "update" },
  secret: { schema: z.string(), unreadable: true },
  settings: { schema: z.record(z.string(), z.string()), form: settingsForm },
};

describe("what a read returns", () => {
  test.each<[string, string[] | undefined, Properties, Properties, Properties]>([
    ["what is managed, as it is found", ["label"], { label: "x", size: 1 }, { label: "y", size: 2 }, { label: "y" }],
    ["the program's spelling of the same", ["size"], { size: 2 }, { size: 2.5 }, { size: 2 }],
    ["what is stored of what cannot be read", ["secret"], { secret: "s" }, {}, { secret: "s" }],
    ["what is not set any more", ["label"], { label: "x" }, { label: undefined }, { label: undefined }],
    [
      "what is set though the program declares it unset",
      ["label"],
      { label: "x" },
      { label: "x", host: "h" },
      { label: "x", host: "h" },
    ],
    [
      "nothing of what is not managed and not set",
      ["label"],
      { label: "x" },
      { label: "x", host: undefined },
      { label: "x" },
    ],
    [
      "all that is found, where nobody declares anything",
      undefined,
      {},
      { label: "x", mode: undefined },
      { label: "x" },
    ],
    ["a value of which nothing was stored", ["mode"], {}, { mode: "plain" }, { mode: "plain" }],
    [
      "the program's spelling of the parts that mean the same, beside those that differ",
      ["settings"],
      { settings: { a: "ONE", b: "TWO", gone: "x" } },
      { settings: { a: "one", b: "other", more: "y" } },
      { settings: { a: "ONE", b: "other", more: "y" } },
    ],
    [
      "the program's spelling of names, beside a value that differs",
      ["settings"],
      { settings: { A: "one", b: "two" } },
      { settings: { a: "one", B: "other", c: "z" } },
      { settings: { A: "one", b: "other", c: "z" } },
    ],
    ["what it does not know, as it is found", ["odd"], { odd: 1 }, { odd: 2 }, { odd: 2 }],
  ])("%s", (_what, managed, stored, observed, expected) => {
    expect(echoOf(specs, { managed, stored, observed })).toStrictEqual(expected);
  });
});
