import { withSetting } from "../../../src/cli/stack/configFile";

const FILE = `encryptionsalt: v1:abc=
config:
  proj:sec:
    secure: v1:def=
  # The size, says Ann.
  proj:count:   2   # trailing

  proj:quoted: 'it''s'
  proj:dq: "a # b"
  proj:url: https://example.com/#a
  proj:flow: { min: 0.5, max: 2 }   # flow
  proj:json: {"min":0.5,"max":2}
  proj:block:
      # inside
      min: 0.5
      max: 2

  "proj:key": yes please
  proj:deep:
    size:
      max: 2
  proj:text: |
    proj:count: 7
    two
  svc:baseUrl: https://svc.example.com
  # the end
other: 1
`;

/** One line of the file changes. */
test.each([
  ["a plain value", "count", [], 4, "  proj:count:   4   # trailing"],
  ["a quoted one", "quoted", [], "it's two", "  proj:quoted: 'it''s two'"],
  ["one in double quotes", "dq", [], 'c "d"', '  proj:dq: "c \\"d\\""'],
  ["one with # in it", "url", [], "theirs", "  proj:url: theirs"],
  ["a text that YAML takes for something else", "url", [], "no", '  proj:url: "no"'],
  ["a number as a text", "url", [], "12", '  proj:url: "12"'],
  ["a part of a flow", "flow", ["max"], 4, "  proj:flow: { min: 0.5, max: 4 }   # flow"],
  ["a part of JSON", "json", ["min"], 1, '  proj:json: {"min":1,"max":2}'],
  ["a flow as a whole", "flow", [], { min: 1, max: 1 }, '  proj:flow: {"min":1,"max":1}   # flow'],
  ["a part of a block", "block", ["max"], 4, "      max: 4"],
  ["a part of a part", "deep", ["size", "max"], 4, "      max: 4"],
  ["a key in quotes", "key", [], false, '  "proj:key": false'],
])("%s is edited, and all else stays", (_what, key, path, value, line) => {
  const after = withSetting(FILE, [`proj:${key}`, key], { path, value, whole: value }) ?? "";
  const [before, lines] = [FILE, after].map((text) => text.split("\n"));
  expect(lines).toHaveLength(before?.length ?? 0);
  const changed = (lines ?? []).filter((text, index) => text !== before?.[index]);
  expect(changed).toEqual([line]);
});

test.each([
  ["a secret", "sec", []],
  ["a block as a whole", "block", []],
  ["a text of several lines", "text", []],
  ["a part of what is no object", "count", ["max"]],
  ["an element of a list", "flow", [0]],
])("%s is not edited", (_what, key, path) => {
  expect(withSetting(FILE, [`proj:${key}`], { path, value: 4, whole: 4 })).toBeUndefined();
});

test("a key that the file lacks comes last, with the value as a whole", () => {
  const edit = { path: ["max"], value: 4, whole: { min: 1, max: 4 } };
  expect(withSetting(FILE, ["proj:new"], edit)).toBe(
    FILE.replace("  # the end", '  proj:new: {"min":1,"max":4}\n  # the end'),
  );
  const more = { path: [], value: 4, whole: 4 };
  expect(withSetting("", ["proj:new"], more)).toBe("config:\n  proj:new: 4\n");
  expect(withSetting("config:\n", ["proj:new"], more)).toBe("config:\n  proj:new: 4\n");
  expect(withSetting("encryptionsalt: a", ["proj:new"], more)).toBe("encryptionsalt: a\nconfig:\n  proj:new: 4\n");
  expect(withSetting("config:\r\n    a:b: 1\r\n", ["proj:new"], more)).toBe(
    "config:\r\n    a:b: 1\r\n    proj:new: 4\r\n",
  );
  expect(withSetting("config:\n  a:b:\n    c: 1\nother: 1\n", ["a:b"], { ...edit, path: ["d"] })).toBe(
    "config:\n  a:b:\n    c: 1\n    d: 4\nother: 1\n",
  );
});

test.each([
  ["config: {}\n"],
  ["config: { proj:new: 1 }\n"],
  ["config:\n\tproj:new: 1\n"],
  ["config:\n  proj:new: 1\n---\nconfig:\n"],
  ["config:\n  proj:new: 1\n  proj:new: 2\n"],
  ["config:\n  proj:new: &a 1\n"],
  ["config:\n  proj:new: one\n    two\n"],
  ["config:\n  proj:new: >-\n    two\n"],
])("another form is not edited: %j", (text) => {
  expect(withSetting(text, ["proj:new"], { path: [], value: 4, whole: 4 })).toBeUndefined();
});
