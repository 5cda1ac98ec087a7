import { HOUSE } from "../../eslint.config.mjs";
import { table } from "./markdown.mts";

const BEGIN = "<!-- Written by `npm run docs` from eslint.config.mjs. -->";
const END = "<!-- end of the table -->";

/** The text of CONTRIBUTING.md with the table of who may import whom, as the linter holds it. */
export function withHouseTable(text: string): string {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined)
    throw new Error(`CONTRIBUTING.md has no place for the table of imports: ${BEGIN} ... ${END}`);
  const rows = HOUSE.map(({ files, what, imports, types = [], packages = [], except = {} }) => {
    const only = Object.entries(except).map(
      ([file, more]) =>
        `${more.filter((name) => !packages.includes(name)).join(", ")} in ${file.replace(/^src\//, "")} alone`,
    );
    const all = [...imports, ...types.map((name) => `types of ${name}`), ...packages, ...only];
    return { Files: `\`${files}\``, "What it is": what, "May import": all.join(", ") || "nothing of ours" };
  });
  return `${before}${BEGIN}\n\n${table(rows)}\n\n${END}${after}`;
}
