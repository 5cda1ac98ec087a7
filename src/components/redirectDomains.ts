import type * as pulumi from "@pulumi/pulumi";

interface DomainArguments {
  redirectDomains?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  exclusiveDomains?: boolean | undefined;
}

interface RedirectDomains {
  /** The origins that become a resource each. */
  readonly each: readonly string[];
  /** The whole list, when it is exclusive. */
  readonly all?: pulumi.Input<pulumi.Input<string>[]>;
  readonly problems: readonly string[];
}

/**
 * A domain that is a resource has the origin in its name, so that taking one out of the list leaves the others alone:
 * only texts that the program knows can be told apart like this. The problems say what to do where they are not.
 */
export function redirectDomainsOf(args: DomainArguments | undefined | null): RedirectDomains {
  // A program without types may give no arguments at all, which is said elsewhere.
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

/** What is no plain http(s) origin stays as it is: the check of the resource says what is wrong with it. */
function originOf(text: string): string {
  return /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text).origin : text;
}
