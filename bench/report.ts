import { execFileSync } from "node:child_process";
import type { Step } from "./cases";

/** One step of one case: medians. Seconds are over the floor: the same command with nothing declared. */
export interface Row {
  readonly case: string;
  readonly resources: number;
  readonly step: Step;
  /** The command with nothing declared, in seconds. */
  readonly floor: number;
  readonly limit: number;
  readonly seconds: number;
  readonly byHandSeconds: number | undefined;
  /** Whole commands, ours over the hand-written one, pair by pair. */
  readonly ratio: number | undefined;
  readonly requests: number;
  readonly byHandRequests: number | undefined;
  readonly locked: number;
  /** Bytes for each resource, and what of it the engine writes by itself. */
  readonly state: { readonly all: number; readonly engine: number } | undefined;
  readonly goals: { seconds?: number | undefined; requests?: number | undefined; ratio?: number | undefined };
  readonly missed: readonly string[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

const number = (value: number | undefined, digits = 2): string => value?.toFixed(digits) ?? "";

const HEAD = [
  "step",
  "limit, s",
  "ours, s",
  "goal",
  "by hand, s",
  "ours / by hand",
  "goal",
  "requests",
  "goal",
  "by hand",
  "423",
];

/** A Markdown table, so that the command's output can be copied to docs/performance.md. */
export function printTable(title: string, rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.step,
    number(row.limit),
    number(row.seconds) + (row.missed.includes("seconds") ? " MISSED" : ""),
    row.goals.seconds === undefined ? "" : `<= ${row.goals.seconds}`,
    number(row.byHandSeconds),
    number(row.ratio) + (row.missed.includes("ratio") ? " MISSED" : ""),
    row.goals.ratio === undefined ? "" : `<= ${row.goals.ratio}`,
    number(row.requests, 0) + (row.missed.includes("requests") ? " MISSED" : ""),
    row.goals.requests === undefined ? "" : `<= ${row.goals.requests}`,
    number(row.byHandRequests, 0),
    number(row.locked, 0) + (row.missed.includes("423") ? " MISSED" : ""),
  ]);
  const lines = [HEAD, ...cells];
  const widths = HEAD.map((_, column) => Math.max(3, ...lines.map((line) => (line[column] ?? "").length)));
  const show = (line: readonly string[]): string =>
    `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  const floor = rows.map((row) => `${row.step} ${number(row.floor)} s`).join(", ");
  console.log(`\n${title}\n`);
  console.log(
    [show(HEAD), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...cells.map(show)].join("\n"),
  );
  console.log(`\nSeconds are over the floor, the same command with nothing declared: ${floor}.`);
  for (const { state } of rows)
    if (state !== undefined)
      console.log(
        `State: ${number(state.all, 0)} bytes a resource, ${number(state.engine, 0)} of it the engine's own.`,
      );
}

/** One measured number. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly goal: number | undefined;
  readonly missed: readonly string[];
}

/** Figures under a title, each printed when it is there. */
export class Figures {
  readonly all: Figure[] = [];

  constructor(title: string) {
    console.log(`\n${title}\n`);
  }

  add(name: string, value: number, goal?: number, digits = 1): void {
    const isMissed = goal !== undefined && value > goal;
    this.all.push({ name, value, goal, missed: isMissed ? [name] : [] });
    const said = goal === undefined ? "" : `   goal: at most ${goal}${isMissed ? ", MISSED" : ""}`;
    console.log(`${name.padEnd(64)}${value.toFixed(digits).padStart(10)}${said}`);
  }
}

/** The memory of a process. */
export const megabytes = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1_024;
