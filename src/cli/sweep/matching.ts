/** What `--match`, `--keep` and `--older-than` mean. */
import { nameForm } from "../../contract/forms";
import { hostAndPort } from "../../contract/hostAndPort";
import { globSource } from "../glob";

/** The whole text; `*` stands for any text. */
export function matchesGlob(pattern: string, text: string): boolean {
  return new RegExp(`^${globSource(pattern, ".*")}$`, "s").test(text);
}

/** As hosting services write branches into hosts: words in lower case, joined by dashes. */
const words = (text: string): string =>
  nameForm(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join("-");

/** Whether a name, an id or an origin contains all words of a branch, one after the other. */
export const isNamedAfter = (text: string, branch: string): boolean =>
  words(branch) !== "" && `-${words(text)}-`.includes(`-${words(branch)}-`);

/** Whether the text contains anything to recognise an object by. */
export const hasWords = (text: string): boolean => words(text) !== "";

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds; undefined: it is no duration. 0 needs no unit. */
export function durationMs(text: string): number | undefined {
  if (text === "0") return 0;
  const [, digits = "", unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return digits === "" ? undefined : Number(digits) * (UNITS_MS[unit] ?? 0);
}

/** Whether a service has this host, with or without a port, or this address. */
export function isService(address: string, given: string): boolean {
  const { host, hostname, origin } = new URL(address);
  const wanted = given.trim().toLowerCase().replace(/\/+$/, "");
  return [host, hostname, hostAndPort(address), origin, address.replace(/\/+$/, "")].includes(wanted);
}
