/**
 * The one form of all spellings of a value that mean the same. Whatever asks whether two values or two objects are the
 * same compares these: plans, the claims of a program, searches in lists, commands. Where it is not known which
 * differences the service sees, less is told apart: nothing is replaced or deleted because of a difference that may be
 * none (docs/design/decisions.md, Arguments, has the table). Every program loads this file.
 */
import { isIPv6 } from "node:net";
import { domainToASCII } from "node:url";

/** A text for people. How its characters are composed and blanks around it make no difference. */
export const textForm = (text: string): string => text.trim().normalize("NFC");

/** A name or an id at the service. Upper and lower case make no difference either. */
export const nameForm = (name: string): string => textForm(textForm(name).toLowerCase());

export const isSameName = (one: string, other: string): boolean => nameForm(one) === nameForm(other);

/** A Postgres setting, or the path of one in the arguments: Postgres ignores the case of their names. */
export const settingForm = (path: string): string => path.toLowerCase();

/** Anything else would be taken apart as a URL. */
const NAME = /^[^\s/?#:\\@%[\]]+$/;

const withoutDots = (host: string): string => host.replace(/(?<=[^.\s])[.\s]+$/, "");

/**
 * A host, as it is looked up: also without a dot at its end, and in the xn-- form. An IPv6 address has brackets and is
 * as short as possible.
 */
export function hostForm(host: string): string {
  const name = withoutDots(nameForm(host));
  const address = name.replace(/^\[(.*)\]$/, "$1");
  if (isIPv6(address) && URL.canParse(`http://[${address}]`)) return new URL(`http://[${address}]`).hostname;
  // Empty for what is no host name.
  const ascii = withoutDots(NAME.test(name) ? domainToASCII(name) : "");
  return ascii === "" ? name : ascii;
}

/** An e-mail address. Hardly any server tells upper from lower case before the `@`, although it might. */
export function addressForm(address: string): string {
  const at = address.lastIndexOf("@");
  return at < 0 ? nameForm(address) : `${nameForm(address.slice(0, at))}@${hostForm(address.slice(at + 1))}`;
}
