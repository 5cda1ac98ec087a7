import { besideIn, placeOf, type SourcePlace } from "../../../../src/cli/drift/accept/places";
import { StackState } from "../../../../src/cli/stack/state";

const PROJECT = "/srv/app";
/** What the CLI and the SDK add below the program. */
const RUNNER = [
  "",
  "project:///node_modules/@pulumi/cmd/run/run.ts#541,33",
  "project:///node_modules/@pulumi/resource.ts#1598,22",
];
const OWN = "project:///node_modules/pulumi-svc/src";
const CLASS = `${OWN}/resources/whitelist/WhitelistDomain.ts#25,1`;

interface Declared {
  readonly name?: string;
  readonly type?: string;
  readonly delete?: true;
  /** Without the frames of the runner; "" is a call at a place that is not known. */
  readonly trace?: readonly string[];
}

const urnOf = ({ name = "app", type = "pulumi-nodejs:dynamic/svc:WhitelistDomain" }: Declared): string =>
  `urn:pulumi:dev::proj::${type}::${name}`;

function placesOf(...declared: readonly Declared[]): { of: (urn: string) => SourcePlace | undefined } {
  const resources = declared.map((one) => ({
    urn: urnOf(one),
    type: one.type ?? "pulumi-nodejs:dynamic/svc:WhitelistDomain",
    ...(one.delete === true && { delete: true }),
    ...(one.trace !== undefined && {
      stackTrace: [...one.trace, ...RUNNER].map((position) => (position === "" ? {} : { sourcePosition: position })),
    }),
  }));
  const state = new StackState(JSON.stringify({ deployment: { resources } }));
  return { of: (urn) => placeOf(state, urn, PROJECT) };
}

test("an object left over from a replacement has the earlier place", () => {
  const [old, now] = ["project:///index.ts#7,3", "project:///index.ts#8,3"];
  const places = placesOf({ delete: true, trace: [CLASS, old] }, { trace: [CLASS, now] });
  expect(places.of(urnOf({}))).toMatchObject({ line: 8 });
});

const place = (...trace: string[]) => placesOf({ trace }).of(urnOf({}));

test.each([
  ["the top of a CommonJS program", [CLASS, "project:///index.js#3,14"], "index.js", 3, 14],
  ["a function", [CLASS, "project:///src/make.ts#4,10", "project:///index.ts#14,5"], "src/make.ts", 4, 10],
  [
    "a class of the user that extends ours",
    [CLASS, "project:///index.js#3,69", "project:///index.js#4,1"],
    "index.js",
    3,
    69,
  ],
  [
    "a named function of an ES module",
    [CLASS, "project:///file:/srv/app/src/with%2520space.js#2,40"],
    "src/with space.js",
    2,
    40,
  ],
  ["a folder with a blank", [CLASS, "project:///my%20src/index.ts#1,1"], "my src/index.ts", 1, 1],
  [
    "a component of ours",
    [CLASS, `${OWN}/components/ProjectAuth.ts#123,24`, "project:///index.js#2,11"],
    "index.js",
    2,
    11,
  ],
  [
    "a component of ours, which calls it in a function without a name",
    [CLASS, "", "", "", `${OWN}/components/ProjectAuth.ts#159,35`, "project:///index.js#2,11"],
    "index.js",
    2,
    11,
  ],
  [
    "a component of another package",
    [CLASS, "project:///node_modules/wrapper/index.js#9,9", "project:///index.ts#5,1"],
    "index.ts",
    5,
    1,
  ],
  [
    "this package as a link to another folder",
    [
      "project:///../svc/src/resources/whitelist/WhitelistDomain.ts#25,1",
      "project:///../svc/src/components/ProjectAuth.ts#1,1",
      "project:///index.ts#6,3",
    ],
    "index.ts",
    6,
    3,
  ],
  ["a file beside the project", [CLASS, "project:///../shared/one.js#2,41"], "../shared/one.js", 2, 41],
])("the place of a declaration in %s is the user's call", (_where, trace, file, line, column) => {
  expect(place(...trace)).toEqual({
    file: new URL(file, `file://${PROJECT}/`).pathname.replaceAll("%20", " "),
    line,
    column,
  });
});

test.each([
  ["the top of an ES module", [CLASS, "", "", ""]],
  ["a function without a name, whose caller has a place", [CLASS, "", "", "project:///index.ts#8,5"]],
  [
    "a function without a name that another package calls",
    [CLASS, "", "project:///node_modules/lodash/each.js#1,1", "project:///index.ts#8,5"],
  ],
  ["apply", [CLASS, "", "project:///node_modules/@pulumi/output.ts#519,31", ""]],
  ["a position of another form", [CLASS, "https://example.com/index.ts#1,1"]],
  ["an encoding that is none", [CLASS, "project:///%zz.ts#1,1"]],
])("nothing shows the place of a declaration in %s", (_where, trace) => {
  expect(place(...trace)).toBeUndefined();
});

test("a state without stack traces shows no place", () => {
  expect(placesOf({}).of(urnOf({}))).toBeUndefined();
  expect(placesOf({ name: "other", trace: [CLASS, "project:///index.ts#1,1"] }).of(urnOf({}))).toBeUndefined();
});

test("the resources of one place are beside each other, without those of another type, and those to be deleted", () => {
  const here = [CLASS, "project:///index.ts#7,3"];
  const declared: readonly Declared[] = [
    { name: "app" },
    { name: "other" },
    { name: "old", delete: true },
    { name: "parent", type: "demo:index:Stage" },
    { name: "there", trace: [CLASS, "project:///index.ts#7,4"] },
  ];
  const resources = declared.map(({ trace = here, type = "pulumi-nodejs:dynamic/svc:WhitelistDomain", ...one }) => ({
    ...{ ...one, type, urn: urnOf({ ...one, type }) },
    stackTrace: trace.map((sourcePosition) => ({ sourcePosition })),
  }));
  const state = new StackState(JSON.stringify({ deployment: { resources } }));
  expect(besideIn(state, urnOf({ name: "app" }), PROJECT)).toEqual([urnOf({ name: "other" })]);
  expect(besideIn(state, urnOf({ name: "nobody" }), PROJECT)).toEqual([]);
});
