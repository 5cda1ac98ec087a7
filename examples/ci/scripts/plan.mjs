#!/usr/bin/env node
// The output of `pulumi preview` as Markdown: plan.mjs <stack> <exit code>, from standard input to standard output.
// The first line marks the comment of this stack, so that the next plan takes its place.
import { text } from "node:stream/consumers";

// GitHub takes 65,536 characters. The end of a plan counts the changes.
const LONGEST = 60_000;
const END = 4_000;
// With --expect-no-changes, changes end with 7.
const PLANNED = ["0", "7"];

const [stack = "", code = ""] = process.argv.slice(2);
if (!/^[\w./-]+$/.test(stack)) {
  console.error("usage: scripts/plan.mjs <stack> <exit code>");
  process.exit(2);
}

// A program may print what it was given. The log of a job masks that, a comment does not.
const secrets = ["SVC_API_KEY", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"]
  .map((name) => process.env[name]?.trim() ?? "")
  .filter((secret) => secret !== "");
const masked = secrets.reduce((plan, secret) => plan.replaceAll(secret, "[secret]"), await text(process.stdin));

// Nothing that a page or a terminal obeys.
const visible = masked.replace(
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
  (char) => `\\u{${char.codePointAt(0).toString(16)}}`,
);
const short =
  visible.length <= LONGEST
    ? visible
    : `${visible.slice(0, LONGEST - END)}\n… the whole plan is in the log of the job …\n${visible.slice(-END)}`.toWellFormed();

// What a reviewer looks for first: the CLI's counts, the worst ones first, and what the warnings of pulumi-svc say of connections.
const count = (word) => Number(visible.match(new RegExp(`^ +(?:\\+-|[-+~]) ?(\\d+) to ${word}$`, "m"))?.[1] ?? 0);
const counted = ["delete", "replace", "update", "create"].flatMap((word) =>
  count(word) === 0 ? [] : [`${count(word)} to ${word}`],
);
const warnings = [...new Set(visible.match(/^ *warning: .*$/gm))];
const said = (words, one, several) => {
  const found = warnings.filter((warning) => words.test(warning)).length;
  return found === 0 ? [] : [`${found} ${found === 1 ? one : several}`];
};
const effects = [
  ...said(/\brestarts?\b/, "restart", "restarts"),
  ...said(/\banother host\b/, "new host", "new hosts"),
  ...said(/\bmoves? from\b/, "move to another branch", "moves to another branch"),
];
// The CLI does not count outputs. It lists them only if one changes.
const nothing = /^Outputs:\n/m.test(visible) ? "Only outputs change" : "No changes";
const headline = [...counted, ...effects].join(", ") || nothing;

// Longer than any in the plan, which therefore ends nowhere but at its end: no value in it becomes markup, a link or a mention.
const longestRun = Math.max(2, ...(short.match(/`+/g) ?? []).map((run) => run.length));
const fence = "`".repeat(longestRun + 1);

const title = PLANNED.includes(code)
  ? `Plan for stack \`${stack}\`\n\n**${headline}**`
  : `The preview of stack \`${stack}\` failed`;
console.log(`<!-- pulumi-svc plan: ${stack} -->\n## ${title}\n\n${fence}text\n${short.trimEnd()}\n${fence}`);
