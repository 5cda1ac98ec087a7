import {
  whitelistDomainDeclaration,
  type WhitelistDomainShape,
} from "../../src/resources/whitelist/whitelistDeclaration";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import { PROJECT, PROVIDER, UNKNOWN, type Harness, type Json } from "../support/harness";
import {
  DOMAINS,
  holdsOne,
  inProject,
  INTEGRATIONS,
  isEmpty,
  listedById,
  recordsOf,
  removedById,
} from "../support/rules/routes";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { days, flag, notDay, notOrigin, origins, segment, text } from "./rules";

export const SITE = "https://app.example.com";
export const DOMAIN_ARGS = { projectId: PROJECT, ...PATIENCE, domain: SITE };

const siteOf = (letter: string): string => `https://${letter.toLowerCase()}.example.com`;
const byColleague = (domain: string) => (given: Harness) =>
  given.post(inProject(DOMAINS, PROJECT), { domain, auth_provider: PROVIDER });
// The emulator's state has this list.
const domainsIn = ({ domains }: Json): string[] => (domains as Json[]).map(({ domain }) => String(domain)).sort();

export const kindCase: KindCase<WhitelistDomainShape> = {
  kind: "WhitelistDomain",
  declaration: whitelistDomainDeclaration,
  lifecycle: anyLifecycle(whitelistDomain),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    domain: { value: SITE, other: "https://other.example.com", change: "replaces", rule: text(origins, notOrigin) },
    authProvider: { value: PROVIDER, other: "another", change: "excludes", rule: segment },
    expiresOn: { value: "2999-01-31", other: "2999-02-01", change: "stored", rule: text(days, notDay) },
    adopt: { value: undefined, other: true, change: "nothing", rule: flag },
  },
  least: ({ projectId }) => ({ projectId, domain: SITE }),
  unknowns: { domain: UNKNOWN },
  adopts: { adopt: true },
  coexists: false,

  secretArguments: {},
  byReference: [],
  secretOutputs: [],
  idIn: (projectId) => `${projectId}/${SITE}`,
  sendsNothing: ["update"],

  list: DOMAINS,
  planLists: [INTEGRATIONS, DOMAINS],
  deletion: { method: "DELETE", path: DOMAINS, readsFirst: true },
  standing: listedById("domains", "domain"),
  vanish: removedById("domain"),
  plant: (call, { projectId }) =>
    call("POST", inProject(DOMAINS, projectId), { domain: SITE, auth_provider: PROVIDER }),
  look: domainsIn,

  mutations: [
    {
      title: "adding a domain",
      method: "POST",
      path: DOMAINS,
      to: DOMAIN_ARGS,
      happened: holdsOne("domains"),
      bodiless: true,
    },
    {
      title: "deleting a domain",
      method: "DELETE",
      path: DOMAINS,
      from: DOMAIN_ARGS,
      to: undefined,
      happened: isEmpty("domains"),
      bodiless: true,
    },
  ],
  updates: [],
  lost: undefined,
  takeovers: [
    {
      title: "a redirect domain",
      from: ({ projectId }) => ({ projectId, domain: siteOf("a"), adopt: true }),
      to: ({ projectId }) => ({ projectId, domain: siteOf("b"), adopt: true }),
    },
  ],
  creations: [
    {
      title: "a domain",
      path: DOMAINS,
      args: DOMAIN_ARGS,
      list: (given) => recordsOf(given, "domains"),
      nameOf: ({ domain }) => String(domain),
      isFound: "bodiless",
      lookalikes: [{ title: "another domain", make: byColleague("https://theirs.example.com"), isNamed: false }],
      conflicts: [{ title: "domain", make: byColleague(SITE), isNamed: true }],
    },
  ],
  twins: [
    {
      title: "a redirect domain",
      one: ({ projectId }) => ({ projectId, domain: siteOf("a") }),
      two: ({ projectId }) => ({ projectId, domain: siteOf("a"), adopt: true }),
    },
    {
      title: "a redirect domain in two spellings",
      one: ({ projectId }) => ({ projectId, domain: siteOf("a") }),
      two: ({ projectId }) => ({ projectId, domain: "https://A.example.com:443/" }),
    },
    {
      title: "a redirect domain whose auth provider one of them spells out",
      one: ({ projectId }) => ({ projectId, domain: siteOf("a") }),
      two: ({ projectId }) => ({ projectId, domain: siteOf("a"), authProvider: PROVIDER }),
    },
    {
      title: "a redirect domain with two days",
      one: ({ projectId }) => ({ projectId, domain: siteOf("a"), expiresOn: "2999-01-31" }),
      two: ({ projectId }) => ({ projectId, domain: siteOf("a"), expiresOn: "2999-02-28" }),
    },
    {
      title: "a whitelist beside a redirect domain",
      one: ({ projectId }) => ({ projectId, domain: siteOf("b") }),
      two: ({ projectId }) => ({ projectId, domains: [siteOf("a")] }),
      twoKind: "Whitelist",
    },
  ],
  distinct: ({ projectId }, elsewhere) => [
    { projectId, domain: siteOf("a") },
    { projectId, domain: "http://a.example.com" },
    { projectId, domain: "https://a.example.com:8443" },
    { projectId: elsewhere.projectId, domain: siteOf("a") },
  ],
  heldTwice: [{ title: "a redirect domain", inputs: ({ projectId }) => ({ projectId, domain: siteOf("a") }) }],
  several: {
    inputs: ({ projectId }, letter) => ({ projectId, domain: siteOf(letter) }),
    letters: (holdings) =>
      domainsIn(holdings).map((domain) => domain.slice("https://".length, -".example.com".length).toUpperCase()),
  },

  campaign: {
    lists: ["domains"],
    program: ({ round, project }) =>
      `new svc.WhitelistDomain("domain", { projectId: "${project}", domain: "https://app${round}.example.com", adopt: adopt.domain });`,
    declared: ({ round }) => [`https://app${round}.example.com`],
    shown: ({ own }) => own("domains").map(({ domain }) => ({ text: String(domain) })),
  },
};
