import type { WhitelistArgs } from "../resources/whitelist/Whitelist";
import type { WhitelistDomainArgs } from "../resources/whitelist/WhitelistDomain";
import { domainForm, domainProblems, redirectDomainIn } from "../contract/redirectDomains";
import { isObject, objectProblems } from "../helpers/given";

interface DomainArguments {
  redirectDomains?: WhitelistArgs["domains"] | undefined;
  exclusiveDomains?: boolean | undefined;
}

interface RedirectDomains {
  /** What becomes one resource each. */
  readonly each: readonly RedirectDomain[];
  /** The whole list, if it is exclusive. */
  readonly all?: WhitelistArgs["domains"];
  readonly problems: readonly string[];
}

interface RedirectDomain {
  readonly domain: string;
  readonly expiresOn?: WhitelistDomainArgs["expiresOn"];
}

/**
 * Each domain has a resource with the origin in its name, so that removing one from the list leaves the others alone.
 * This needs plain, known strings; otherwise the problems say what to do.
 */
export function redirectDomainsOf(args: DomainArguments | undefined | null): RedirectDomains {
  // A program without types may give no arguments at all; that is reported elsewhere.
  const { redirectDomains, exclusiveDomains } = args ?? {};
  if (exclusiveDomains === true) {
    if (redirectDomains !== undefined) return { each: [], all: redirectDomains, problems: [] };
    return refused('exclusiveDomains: needs "redirectDomains", which may be an empty list');
  }
  if (redirectDomains === undefined) return { each: [], problems: [] };
  if (!isPlain(redirectDomains)) {
    return refused(
      'redirectDomains: each domain becomes a resource with the origin in its name, so the list and its origins must be plain strings, not Outputs. Give plain strings, or set "exclusiveDomains: true"',
    );
  }
  const problems = redirectDomains.flatMap((one, index) =>
    typeof one === "string" ? [] : objectProblems(one, `redirectDomains[${index}]`, DATED),
  );
  if (problems.length > 0) return refused(...problems);
  const each = redirectDomains.map((one) =>
    typeof one === "string" ? { domain: named(one) } : { domain: named(one.origin), expiresOn: one.expiresOn },
  );
  const domains = each.map(({ domain }) => domainForm(domain));
  const twice = domains.findIndex((domain, index) => domains.indexOf(domain) !== index);
  if (twice >= 0) {
    const first = domains.indexOf(domains[twice] ?? "");
    return refused(`redirectDomains[${twice}]: is the same origin as redirectDomains[${first}]`);
  }
  return { each, problems: [] };
}

const DATED = { known: ["origin", "expiresOn"], required: ["origin", "expiresOn"] };

const refused = (...problems: string[]): RedirectDomains => ({ each: [], problems });

type Plain = string | { readonly origin: string; readonly expiresOn: NonNullable<RedirectDomain["expiresOn"]> };

/** The resource checks the day, which may be an Output. */
function isPlain(domains: DomainArguments["redirectDomains"]): domains is Plain[] {
  const isText = (one: unknown): boolean => typeof one === "string";
  return Array.isArray(domains) && domains.every((one) => isText(one) || (isObject(one) && isText(one["origin"])));
}

/**
 * As in the name of its resource. The address of an app stays as it is, because names have to stay the same. So does
 * what cannot be declared: the check of the resource reports it.
 */
const named = (text: string): string =>
  domainProblems(text).length === 0 && redirectDomainIn(text)?.isApp === false ? domainForm(text) : text;
