import { strayPath } from "../../src/runtime/argumentPaths";
import { lifecycleOf } from "../../src/resources/lifecycles";
import { pathTo } from "../../src/contract/propertyPath";
import type { Kind } from "../../src/contract/pointer";
import { EACH_CASE } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";

const stray = (kind: Kind, path: string): string | undefined => strayPath(lifecycleOf(kind).args, path);

/** Every path of a value, in the engine's notation. */
function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((one, at) => pathsIn(one, `${path}[${at}]`))];
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, pathTo(path, name)))];
}

test.each(EACH_CASE)("every path of a whole $kind leads to something", (kindCase) => {
  const whole = wholeIn(kindCase, DEMO);
  const paths = [...pathsIn(whole, "").slice(1), ...Object.keys(kindCase.arguments)];
  expect(paths.length).toBeGreaterThan(1);
  for (const path of paths) expect([path, stray(kindCase.kind, path)]).toEqual([path, undefined]);
  for (const name of Object.keys(kindCase.arguments)) {
    const cut = name.slice(0, -1);
    expect(stray(kindCase.kind, cut)).toMatch(/^(Did you mean "\w+"\?|Its arguments: )/);
  }
});

test.each<[Kind, string]>([
  ["ComputeEndpoint", "*"],
  ["ComputeEndpoint", "size.min"],
  ["ComputeEndpoint", 'size["max"]'],
  ["ComputeEndpoint", "size.*"],
  ["ComputeEndpoint", "scaleToZero.afterSeconds"],
  ["ComputeEndpoint", "settings.pgSettings"],
  ["ComputeEndpoint", 'settings.pgSettings["app.token"]'],
  ["ComputeEndpoint", 'settings.pgSettings["app.token"].fromEnv'],
  ["ComputeEndpoint", "settings.*.work_mem"],
  ["ComputeEndpoint", "settings.preloadLibraries.enabledLibraries[0]"],
  ["ComputeEndpoint", "restartTriggers[0].date"],
  ["ComputeEndpoint", "__provider"],
  ["EmailServer", "password.fromFile"],
  ["Whitelist", "domains[*].expiresOn"],
  ["Whitelist", "domains[2].origin"],
])("of %s, %s leads to something", (kind, path) => expect(stray(kind, path)).toBeUndefined());

test.each<[Kind, string, string]>([
  ["ComputeEndpoint", "siz", 'Did you mean "size"?'],
  ["ComputeEndpoint", "Size", 'Did you mean "size"?'],
  ["ComputeEndpoint", "size.maximum", 'Did you mean "size.max"?'],
  ["ComputeEndpoint", "size[0]", 'The parts of "size": min, max'],
  ["ComputeEndpoint", "scaleToZero.after", 'Did you mean "scaleToZero.afterSeconds"?'],
  ["ComputeEndpoint", "settings.pgSetings", 'Did you mean "settings.pgSettings"?'],
  [
    "ComputeEndpoint",
    "settings.pgSettings.work_mem.x",
    'The parts of "settings.pgSettings.work_mem": fromEnv, fromFile',
  ],
  [
    "ComputeEndpoint",
    "settings.preloadLibraries.x",
    'The parts of "settings.preloadLibraries": useDefaults, enabledLibraries',
  ],
  ["ComputeEndpoint", "name.first", '"name" has no parts'],
  ["ComputeEndpoint", "host", expect.stringMatching(/^Its arguments: projectId, branchId, /) as string],
  ["Whitelist", "domains.origin", '"domains" has no parts'],
  ["Whitelist", "domains[0].expires", 'Did you mean "domains[0].expiresOn"?'],
  ["EmailServer", "password.fromenv", 'Did you mean "password.fromEnv"?'],
  ["OAuthProvider", "clientid", 'Did you mean "clientId"?'],
])("of %s, %s leads nowhere: %s", (kind, path, advice) => expect(stray(kind, path)).toEqual(advice));
