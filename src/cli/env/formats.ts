import { labelOf, type NamedVariable } from "./variables";
import { RUNNER_COMMAND } from "../../contract/untrusted";
import { isObeyed, terminalJson } from "../output";

export const FORMATS = ["dotenv", "json", "shell"] as const;
export type Format = (typeof FORMATS)[number];

/** A variable with the value that is written. */
export type Written = NamedVariable & { readonly value: string };

/** @throws for all values at once that the format cannot hold. None is repeated: it may be a secret. */
export function render(variables: readonly Written[], format: Format): string {
  if (format === "json") {
    return `${terminalJson(Object.fromEntries(variables.map(({ name, value }) => [name, value])))}\n`;
  }
  const { canHold, words, line } = LINES[format];
  const wrong = variables.filter(({ value }) => !canHold(value));
  if (wrong.length > 0) {
    throw new Error(
      wrong
        .map((one) => `${labelOf(one)} cannot be written as ${format}: it contains ${words}. Use --format json`)
        .join("\n"),
    );
  }
  return variables.map(({ name, value }) => `${line(name, value)}\n`).join("");
}

interface LineFormat {
  readonly canHold: (value: string) => boolean;
  readonly words: string;
  readonly line: (name: string, value: string) => string;
}

const LINES: Record<Exclude<Format, "json">, LineFormat> = {
  /**
   * Without quotes, which is the one form that all readers take the same way: the package dotenv, Docker's --env-file (which
   * would keep quotes), Compose (which puts variables in) and a shell that sources it. It leaves no room for what any of them
   * reads as something else.
   */
  dotenv: {
    canHold: (value) => !/[\s#$'"`\\;&|<>()]/.test(value) && !isObeyed(value),
    words:
      "a blank, a quote, a backslash or one of # $ ; & | < > ( ), which readers of such files take in different ways",
    line: (name, value) => `${name}=${value}`,
  },
  /** In single quotes, nothing has a meaning but the quote itself. Two of them in a text add nothing to it: a CI runner then sees no command. */
  shell: {
    // A line end is part of the value, and whatever else a terminal obeys is none of an address or a key.
    canHold: (value) => !value.split("\n").some(isObeyed),
    words: "a control character",
    line: (name, value) => `export ${name}='${value.replaceAll("'", "'\\''")}'`.replace(RUNNER_COMMAND, "$&''"),
  },
};
