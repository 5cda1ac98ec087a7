import { labelOf, type NamedVariable } from "./variables";
import { RUNNER_COMMAND } from "../../contract/untrusted";
import { isObeyed, terminalJson } from "../output";

export const FORMATS = ["dotenv", "json", "shell"] as const;
export type Format = (typeof FORMATS)[number];

/** A variable with a value to write. */
export type Written = NamedVariable & { readonly value: string };

/** @throws one error for all values that the format cannot hold. Values are not repeated: they may be secret. */
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
   * Without quotes: only this form is read identically by the package dotenv, Docker's --env-file (which keeps quotes),
   * Compose (which expands variables) and a shell that sources the file. Values that any of them would read differently
   * cannot be written.
   */
  dotenv: {
    canHold: (value) => !/[\s#$'"`\\;&|<>()]/.test(value) && !isObeyed(value),
    words:
      "a blank, a quote, a backslash or one of # $ ; & | < > ( ), which readers of such files interpret differently",
    line: (name, value) => `${name}=${value}`,
  },
  /**
   * Only a quote is special in single quotes. Two adjacent quotes add nothing to the text; they break up commands of a
   * CI runner.
   */
  shell: {
    // A line end is part of the value. Other control characters do not occur in an address or a key.
    canHold: (value) => !value.split("\n").some(isObeyed),
    words: "a control character",
    line: (name, value) => `export ${name}='${value.replaceAll("'", "'\\''")}'`.replace(RUNNER_COMMAND, "$&''"),
  },
};
