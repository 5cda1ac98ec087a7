import { withIgnoredChanges } from "../../src/contract/ignoredChanges";
import { differing, ownValue, valueAt } from "../../src/contract/propertyPath";

/** Names that every object answers to. A service, a state or a file may hold them as names of their own. */
const INHERITED = ["constructor", "toString", "hasOwnProperty", "__proto__"];

describe.each(INHERITED)("the name %s", (name) => {
  const holding: object = JSON.parse(`{"${name}": "on"}`);

  test("has a value only where it is given", () => {
    expect([ownValue({}, name), ownValue(undefined, name), ownValue(holding, name)]).toEqual([
      undefined,
      undefined,
      "on",
    ]);
    expect(valueAt(`settings.${name}`, { settings: {} })).toBeUndefined();
    expect(valueAt(`settings.${name}`, { settings: holding })).toBe("on");
  });

  test("differs where one of two objects has it", () => {
    expect(differing({ settings: {} }, { settings: holding })).toEqual([`settings.${name}`]);
    expect(differing({ settings: holding }, { settings: holding })).toEqual([]);
  });

  test("in ignoreChanges brings nothing where nobody has given it", () => {
    const result = withIgnoredChanges({ settings: { a: "1" } }, { settings: { a: "2" } }, [`settings.${name}`]);
    expect(Reflect.ownKeys(Object(result["settings"]))).toEqual(["a"]);
    expect(withIgnoredChanges({ a: "1" }, { a: "2" }, [name, `${name}.name`])).toEqual({ a: "1" });
  });
});
