import { nameInUrn } from "../../contract/identifiers";

interface Named {
  readonly urn: string;
}

/**
 * Selects resources by name or URN; without any, all of them.
 * @throws one error for all names that match no resource, or several (with their URNs).
 */
export function selected<Resource extends Named>(all: readonly Resource[], wanted: readonly string[]): Resource[] {
  if (wanted.length === 0) return [...all];
  const urns = new Set<string>();
  const problems: string[] = [];
  for (const name of new Set(wanted)) {
    const matching = new Set(all.map(({ urn }) => urn).filter((urn) => urn === name || nameInUrn(urn) === name));
    const [urn, ...others] = matching;
    if (urn === undefined) {
      problems.push(`the stack holds no resource of pulumi-svc with the name or URN "${name}"`);
    } else if (others.length > 0) {
      problems.push(`"${name}" is the name of several resources. Give the URN of one: ${[...matching].join(", ")}`);
    } else {
      urns.add(urn);
    }
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return all.filter(({ urn }) => urns.has(urn));
}
