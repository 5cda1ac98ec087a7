import { RECORDS } from "../../src/client/records";

test("a list of what a resource changes is not cached past its own change", () => {
  // `one` or `response`: there are routes that change an item.
  const changed = Object.entries(RECORDS).filter(([, kind]) => "one" in kind || "response" in kind);
  const cached = changed.filter(([name, { touches }]) => !touches.some((list) => list === name)).map(([name]) => name);
  expect({ "rows of src/client/records.ts that do not touch their own list": cached }).toEqual({
    "rows of src/client/records.ts that do not touch their own list": [],
  });
});
