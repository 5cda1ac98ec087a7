import type * as pulumi from "@pulumi/pulumi";

interface DomainArguments {
  redirectDomains?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  exclusiveDomains?: boolean | undefined;
}

interface RedirectDomains {
  /** The origins that become one resource each. */
  readonly each: readonly string[];
  /** The whole list, if it is exclusive. */
  readonly all?: pulumi.Input<pulumi.Input<string>[]>;
  readonly problems: readonly string[];
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
  if (!isTexts(redirectDomains)) {
    return refused(
      'redirectDomains: each domain becomes a resource with the origin in its name, so the list and its elements must be plain strings, not Outputs. Give plain strings, or set "exclusiveDomains: true"',
    );
  }
  const each = redirectDomains.map(originOf);
  const twice = each.findIndex((domain, index) => each.indexOf(domain) !== index);
  if (twice >= 0) {
    const first = each.indexOf(each[twice] ?? "");
    return refused(`redirectDomains[${twice}]: is the same origin as redirectDomains[${first}]`);
  }
  return { each, problems: [] };
}

const refused = (problem: string): RedirectDomains => ({ each: [], problems: [problem] });

function isTexts(domains: DomainArguments["redirectDomains"]): domains is string[] {
  return Array.isArray(domains) && domains.every((domain) => typeof domain === "string");
}

/** Anything but a plain http(s) origin stays as it is: the check of the resource reports the problem. */
function originOf(text: string): string {
  return /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text).origin : text;
}
