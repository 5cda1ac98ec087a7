import { projectOf, SEGMENT } from "../../src/contract/identifiers";

it.each(["prj-demo", "supported_provider", "a", "A.b~c", "0".repeat(128)])("%s may be a segment of a route", (text) => {
  expect(text).toMatch(SEGMENT);
});

it.each(["", "-a", "a/b", "a b", "..", "é", "a\n", "0".repeat(129)])("%j may not", (text) => {
  expect(text).not.toMatch(SEGMENT);
});

it.each([
  ["prj-demo", "prj-demo"],
  ["prj-demo/ep-1", "prj-demo"],
  ["prj-demo/https://app.example.com", "prj-demo"],
])("the id %s is of a resource of project %s", (id, project) => {
  expect(projectOf(id)).toBe(project);
});
