import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/paths.mjs";
import { type Reference, table } from "./reference.mts";

/** The resources and components by page, resources first, for the lists in README.md and docs/concepts.md. */
function pages({ declared, problems }: Reference): { name: string; isComponent: boolean; text: string }[] {
  const names = readdirSync(join(ROOT, "docs", "resources")).map((page) => page.replace(/\.md$/, ""));
  const components = names.filter((name) => existsSync(componentFile(name))).sort();
  const resources = names.filter((name) => declared.has(name)).sort();
  for (const name of names) {
    const isKnown = resources.includes(name) || components.includes(name);
    if (!isKnown) problems.push(`docs/resources/${name}.md: there is no resource or component ${name}`);
  }
  return [...resources, ...components].map((name) => ({
    name,
    isComponent: !declared.has(name),
    text: readFileSync(join(ROOT, "docs", "resources", `${name}.md`), "utf8"),
  }));
}

/** For README.md: each with the first sentence of its page. */
export function whatThereIs(reference: Reference): string {
  return table(
    pages(reference).map(({ name, text }) => {
      const [, sentence = ""] = /^# .*\n+([^]*?)\.\s/.exec(text) ?? [];
      return { Resource: `[\`${name}\`](docs/resources/${name}.md)`, "What it is": sentence };
    }),
  );
}

/** For docs/concepts.md: each with its id and the effects of changes, and how they are connected. */
export function howTheyBehave(reference: Reference): string {
  const all = pages(reference);
  const resources = [...reference.declared].sort(([left], [right]) => (left < right ? -1 : 1));
  const rows = resources.map(([name, declared]) => {
    const args = Object.entries(declared.args);
    const named = (is: (rules: (typeof args)[number][1]) => unknown): string =>
      args
        .filter(([, rules]) => is(rules))
        .map(([argument]) => `\`${argument}\``)
        .join(", ");
    return {
      Resource: `[\`${name}\`](resources/${name}.md)`,
      "Its Pulumi id": reference.idOf(name),
      "Updated in place": named(({ replaces, createOnly }) => !replaces && !createOnly),
      "A change replaces it": named(({ replaces }) => replaces),
    };
  });
  // What `branchId` names: an object of the service, or the resource with that name once it exists.
  const branch = resources.map(([name]) => name).find((name) => name.toLowerCase() === "branch") ?? "branch";
  const arrows = all.flatMap(({ name, isComponent }) => {
    if (isComponent) return madeBy(name).map((made) => `${name} -. makes .-> ${made}`);
    const { projectId, branchId } = reference.declared.get(name)?.args ?? {};
    if (projectId?.container) return [`${name} --> ${projectId.container}`];
    return branchId ? [`${name} --> ${branch}`] : [name];
  });
  return `${table(rows)}

An arrow points from a resource to the object that it belongs to, or that it creates:

\`\`\`mermaid
flowchart BT
  subgraph project
    ${[...new Set([branch, ...arrows])].join("\n    ")}
  end
\`\`\``;
}

const componentFile = (name: string): string => join(ROOT, "src", "components", `${name}.ts`);

/** The resources that a component declares, in its order. */
function madeBy(component: string): string[] {
  const text = readFileSync(componentFile(component), "utf8");
  return [...new Set([...text.matchAll(/\bnew ([A-Z]\w+)\(/g)].map(([, name = ""]) => name))];
}
