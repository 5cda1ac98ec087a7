import * as fc from "fast-check";
import type { CommandReport, Page } from "../../../src/cli/report/commandReport";
import { FORMATS, render } from "../../../src/cli/report/render";
import { lineOf } from "../../../src/cli/report/terminal";
import { columns, counted, joined, message, type Text, text, toned, word } from "../../../src/cli/report/text";
import { anyCharacter } from "../../support/characters";
import { RUNNER_PARTS, runnerCommandsIn } from "../../support/runners";

const report = (page: Partial<Page>): CommandReport => ({
  json: {},
  title: text`A title`,
  headline: text`A headline`,
  sections: [],
  exitCode: 0,
  ...page,
});

const PROPERTIES = columns`resource, property, found`;

/** Every part of a page, with this value wherever one may stand. */
const everywhere = (value: string): CommandReport => {
  const row = [text`${value}`, text`${value}${value}`];
  const item = {
    subject: toned("red", text`Thing ${value}`),
    id: text`${value}`,
    state: text`changed`,
    rows: [row],
    notes: [text`reason: ${message(value)}`],
    repair: { line: text`update ${value}`, details: [message(value)] },
  };
  return report({
    title: text`Of ${value}`,
    headline: toned("bold", text`Stack ${value}: ${counted(2, "finding")}`),
    sections: [
      { head: PROPERTIES, items: [item, { ...item, remark: text`unfinished: ${value}` }] },
      { lines: [text`${value} says ${value}`] },
      { title: text`Apart ${value}`, head: PROPERTIES, items: [item] },
      { title: text`Objects`, head: columns`object, what it is`, rows: [row] },
      { title: text`Next`, lines: [text`${value}`, message(value)] },
    ],
    parts: [report({ title: text`${value}, since ${value}`, headline: text`${value}` })],
    footer: [text`${2} requests to ${value}`],
    fingerprint: value,
  });
};

test("text: items with their rows, tables, sentences, whole pages, the end", () => {
  expect(render(everywhere("a|b"), "text")).toBe(`Stack a|b: 2 findings

Thing a|b (a|b) changed
  property  found
  a|b       a|ba|b
  reason: a|b
  repair: update a|b
    a|b

Thing a|b (a|b) changed
  unfinished: a|b
  property  found
  a|b       a|ba|b
  reason: a|b
  repair: update a|b
    a|b

a|b says a|b

Apart a|b
  Thing a|b (a|b) changed
    property  found
    a|b       a|ba|b
    reason: a|b
    repair: update a|b
      a|b

Objects
  object  what it is
  a|b     a|ba|b

Next
  a|b
  a|b

a|b, since a|b
a|b

2 requests to a|b
fingerprint a|b
`);
});

test("Markdown: the same, with each value as code", () => {
  expect(render(everywhere("a"), "markdown")).toBe(`## Of \`a\`

Stack \`a\`: 2 findings

| Resource | Property | Found |
| --- | --- | --- |
| Thing \`a\` | \`a\` | \`a\`\`a\` |
| Thing \`a\` | unfinished: \`a\` |  |
| Thing \`a\` | \`a\` | \`a\`\`a\` |

- Thing \`a\` (\`a\`): update \`a\`
  - reason: \`a\`
  - \`a\`
- Thing \`a\` (\`a\`): update \`a\`
  - reason: \`a\`
  - \`a\`

\`a\` says \`a\`

### Apart \`a\`

| Resource | Property | Found |
| --- | --- | --- |
| Thing \`a\` | \`a\` | \`a\`\`a\` |

- Thing \`a\` (\`a\`): update \`a\`
  - reason: \`a\`
  - \`a\`

### Objects

| Object | What it is |
| --- | --- |
| \`a\` | \`a\`\`a\` |

### Next

- \`a\`
- \`a\`

## \`a\`, since \`a\`

\`a\`

2 requests to \`a\`

Fingerprint \`a\`
`);
});

test("a resource of which nothing differs has its state in the row, and an empty section is left out", () => {
  const item = { subject: text`Thing`, state: text`deleted`, rows: [] };
  const page = report({
    sections: [
      { head: PROPERTIES, items: [item] },
      { title: text`Nothing`, head: PROPERTIES, rows: [], lines: [], items: [] },
    ],
  });
  expect(render(page, "text")).toBe("A headline\n\nThing deleted\n");
  expect(render(page, "markdown")).toMatch(/\n\| Thing \| deleted \| {2}\|\n$/);
});

test("JSON is what the command knows, and nothing of the page", () => {
  expect(render({ ...everywhere("a"), json: { of: "a" } }, "json")).toBe('{\n  "of": "a"\n}\n');
});

const hostile = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({
    unit: fc.constantFrom(
      "`",
      "|",
      "\\",
      "\n",
      "\r",
      "<b>",
      "&",
      "\u001b[31m",
      "\u202e",
      "@a",
      "]",
      "(",
      "*",
      "_",
      " ",
      ...RUNNER_PARTS,
    ),
  }),
);

test("wherever a value stands, it adds no line, moves no cursor and commands no runner", () => {
  fc.assert(
    fc.property(hostile, (value) => {
      for (const format of FORMATS) {
        const [bad, harmless] = [everywhere(value), everywhere("a")].map((one) => render(one, format));
        expect(bad?.split("\n").length).toBe(harmless?.split("\n").length);
        expect(bad?.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(runnerCommandsIn(bad ?? "")).toEqual([]);
      }
    }),
  );
});

test("in Markdown a value is only in a code span or written as numbers", () => {
  const VALUE = /`[^`|\\\n]+`|<code>(?:[A-Za-z0-9 ]|&#\d+;)*<\/code>/g;
  const ours = render(everywhere("a"), "markdown").replace(VALUE, "");
  fc.assert(
    fc.property(hostile, (value) => {
      expect(render(everywhere(value), "markdown").replace(VALUE, "")).toBe(ours);
    }),
  );
});

test("harmless values that are a command together are none on a terminal", () => {
  const together = (...values: string[]): string =>
    lineOf(
      joined(
        values.map((one) => text`${one}`),
        text``,
      ),
    );
  expect(together("#", "#[error]")).toBe("\\u{23}#[error]");
  expect(together(" ", ":", ":add-mask::")).toBe(" \\u{3a}:add-mask::");
  expect(render(report({ headline: text`${"#"}${"#[a]"}` }), "text")).toBe("\\u{23}#[a]\n");
});

test("colours change no character", () => {
  const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), (value) => {
      const coloured = render(everywhere(value), "text", true);
      expect(coloured).toMatch(escapes);
      expect(coloured.replace(escapes, "")).toBe(render(everywhere(value), "text"));
    }),
  );
});

test("a name is cut at 160 characters, a sentence at 2,000", () => {
  const long = "x".repeat(5_000);
  const lengths = [text`${long}`, message(long)].map((one: Text) => lineOf(one).length);
  expect(lengths).toEqual([160, 2_000]);
});

test("only what its type lists is a word of ours", () => {
  const kind = "Whitelist" as "Whitelist" | "EmailServer";
  expect(lineOf(word(kind))).toBe("Whitelist");
  expect(columns`what it is, reason`.map(lineOf)).toEqual(["what it is", "reason"]);
  const name: string = "`a`";
  // @ts-expect-error -- any text is a value
  word(name);
  // @ts-expect-error -- only this module makes a text
  expect(((one: Text) => one)({ pieces: [{ words: name }] })).toBeDefined();
  // @ts-expect-error -- the words of a text are literals
  expect(() => text(name)).toThrow();
});
