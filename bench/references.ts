import { type Figure, Figures, median } from "./report";
import { Stack } from "./stack";

const REFERENCES = 10;
const PREVIEW = ["preview"];

/**
 * The cost of a plan with secrets by reference, compared with the same program with literals. Each reference has
 * another value.
 */
export async function referenceFigures(rounds: number): Promise<readonly Figure[]> {
  const figures = new Figures("references");
  const values = Array.from({ length: REFERENCES }, (_, i) => [`SVC_BENCH_${i}`, `bench-value-${i}`] as const);
  Object.assign(process.env, Object.fromEntries(values));
  const settings = values.map(([name, value], i) => [`app.setting_${i}`, name, value] as const);
  const byReference = settings.map(([path, name]) => `"${path}": svc.fromEnv("${name}")`);
  const literally = settings.map(([path, , value]) => `"${path}": "${value}"`);
  const stacks = await Promise.all([byReference, literally].map(deployed));
  try {
    const seconds: number[][] = [[], []];
    for (let round = 1; round <= rounds; round += 1)
      for (const [i, stack] of stacks.entries()) seconds[i]?.push((await stack.run(PREVIEW)).seconds);
    const [withReferences = [], without = []] = seconds;
    figures.add(`a plan with ${REFERENCES} references, s`, median(withReferences));
    figures.add("the same with literals, s", median(without));
    figures.add("over it, s", median(withReferences.map((one, i) => one - (without[i] ?? 0))), 1.5);
  } finally {
    for (const stack of stacks) await stack.end();
  }
  return figures.all;
}

async function deployed(pgSettings: readonly string[]): Promise<Stack> {
  const stack = await Stack.create({ activationMs: 0 }, 10);
  stack.write(`const svc = require("pulumi-svc");
new svc.ComputeEndpoint("api", {
  projectId: "prj-demo", branchId: "br-dev", size: 1, settings: { pgSettings: { ${pgSettings.join(", ")} } },
});`);
  await stack.run(["up", "--yes", "--skip-preview"]);
  return stack;
}
