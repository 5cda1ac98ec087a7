import type * as pulumi from "@pulumi/pulumi";

interface Declared {
  redirectDomains?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  exclusiveDomains?: boolean | undefined;
}

interface RedirectDomains {
  /** The origins that become a resource each. */
  readonly each: readonly string[];
  /** The whole list, when it is exclusive. */
  readonly all?: pulumi.Input<pulumi.Input<string>[]>;
}

/**
 * A domain that is a resource has the origin in its name, so that taking one out of the list leaves the others alone:
 * only texts that the program knows can be told apart like this.
 * @throws when they are not, with what to do.
 */
export function redirectDomainsOf(owner: string, { redirectDomains, exclusiveDomains }: Declared): RedirectDomains {
  if (exclusiveDomains === true) {
    if (redirectDomains !== undefined) return { each: [], all: redirectDomains };
    throw new Error(`${owner}: exclusiveDomains: needs "redirectDomains", which may be an empty list`);
  }
  if (redirectDomains === undefined) return { each: [] };
  if (!isTexts(redirectDomains)) {
    throw new Error(
      `${owner}: redirectDomains: each becomes a resource that bears the origin in its name, so the list and its elements must be plain strings, not Outputs. Give plain strings, or set "exclusiveDomains: true"`,
    );
  }
  const each = redirectDomains.map(originOf);
  const twice = each.findIndex((domain, index) => each.indexOf(domain) !== index);
  if (twice >= 0) {
    const first = each.indexOf(each[twice] ?? "");
    throw new Error(`${owner}: redirectDomains[${twice}]: is the same origin as redirectDomains[${first}]`);
  }
  return { each };
}

function isTexts(domains: Declared["redirectDomains"]): domains is string[] {
  return Array.isArray(domains) && domains.every((domain) => typeof domain === "string");
}

/** What is no plain http(s) origin stays as it is: the check of the resource says what is wrong with it. */
function originOf(text: string): string {
  return /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text).origin : text;
}
