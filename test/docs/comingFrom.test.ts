import * as svc from "../../src";
import type { Properties } from "../../src/contract/hiddenKeys";
import { EACH_CASE, KIND_CASES } from "../kinds";
import { DEMO, type AnyLifecycle } from "../kinds/KindCase";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { harness } from "../support/harness";

const PAGE = "docs/coming-from.md";

/** What the tables say to write here: `name: value`, as often as there is code that begins like this. */
const [, ...rows] = textOf(PAGE).split(/^(?=\|)/m);
const fragments = rows
  .map((row) => row.split(/(?<!\\)\|/)[2] ?? "")
  .flatMap((cell) => [...cell.matchAll(/`(\w+: [^`]*)`/g)].map(([, code = ""]) => code));

/** The arguments that it means, where a program has imported the package. */
const valueOf = (fragment: string): Properties =>
  // The page is ours, and its code becomes the arguments of a resource.
  new Function("svc", "auth", `return { ${fragment} };`)(svc, { projectId: "prj-demo" }) as Properties;

const options = ["customTimeouts", "protect", "retainOnDelete"];

/** Of the resource that has all of them as arguments. */
async function problemsWith(fragment: string): Promise<string[]> {
  const given = valueOf(fragment);
  const names = Object.keys(given);
  if (names.every((name) => options.includes(name))) return [];
  const found = EACH_CASE.find(({ lifecycle }) => names.every((name) => Object.hasOwn(lifecycle.args, name)));
  if (found === undefined) return [`no resource has ${names.join(" and ")}`];
  return check(found.lifecycle, { ...found.least(DEMO), ...given });
}

const check = async (lifecycle: AnyLifecycle, inputs: Properties): Promise<string[]> =>
  (await harness(lifecycle)).check(inputs);

test("what the page says to write here is accepted, each as it stands", async () => {
  expect(fragments.length).toBeGreaterThan(20);
  for (const fragment of fragments)
    expect({ fragment, problems: await problemsWith(fragment) }).toEqual({ fragment, problems: [] });
  expect(await problemsWith("suspendTimeoutSeconds: 300")).toEqual(["no resource has suspendTimeoutSeconds"]);
});

test("what other providers take is refused in the words that the page shows", async () => {
  const { lifecycle, least } = KIND_CASES.ComputeEndpoint;
  const [quoted] = codeBlocks(PAGE).filter(({ language }) => language === "text");
  expect(await check(lifecycle, { ...least(DEMO), scaleToZero: -1 })).toEqual([quoted?.text.trim()]);
  for (const domain of ["https://app.example.com/auth/callback", "https://*.example.com/**"])
    expect(await problemsWith(`domain: "${domain}"`)).toEqual([expect.stringContaining("without path")]);
});
