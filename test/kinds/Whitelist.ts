import fc from "fast-check";
import { whitelistDeclaration, type WhitelistShape } from "../../src/resources/whitelist/whitelistDeclaration";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { PROJECT, PROVIDER, UNKNOWN, type Json } from "../support/harness";
import { DOMAINS, holdsOne, inProject, INTEGRATIONS, isEmpty, recordsOf } from "../support/rules/routes";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { days, notDay, notList, notOrigin, notText, numbers, origins, segment } from "./rules";
import { SITE } from "./WhitelistDomain";

export const WHITELIST_ARGS = { projectId: PROJECT, ...PATIENCE, domains: [SITE] };

const THEIR_SITE = "https://theirs.example.com";
const [A, B] = ["https://a.example.com", "https://b.example.com"];

const dated = <Origin, Day>(origin: fc.Arbitrary<Origin>, expiresOn: fc.Arbitrary<Day>) =>
  fc.record({ origin, expiresOn });
const notElement = fc.oneof(
  notOrigin,
  notText,
  dated(notOrigin, days),
  dated(origins, fc.oneof(notDay, numbers)),
  fc.record({ origin: origins }),
  fc.record({ origin: origins, expiresOn: days, until: days }),
);

export const kindCase: KindCase<WhitelistShape> = {
  kind: "Whitelist",
  declaration: whitelistDeclaration,
  lifecycle: anyLifecycle(whitelist),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    domains: {
      value: [SITE, "https://a.example.com"],
      other: ["https://b.example.com"],
      change: "updates",
      rule: {
        good: fc.uniqueArray(fc.oneof(origins, dated(origins, days)), {
          selector: (one) => new URL(typeof one === "string" ? one : one.origin).origin,
          maxLength: 5,
        }),
        bad: fc.oneof(notList, fc.array(notElement, { minLength: 1, maxLength: 3 })),
      },
    },
    authProvider: { value: PROVIDER, other: "another", change: "excludes", rule: segment },
  },
  least: ({ projectId }) => ({ projectId, domains: [SITE] }),
  unknowns: { domains: [A, UNKNOWN] },
  // It always declares the whole list, whatever exists.
  adopts: {},
  coexists: false,

  secretArguments: {},
  byReference: [],
  secretOutputs: [],
  idIn: (projectId) => projectId,
  sendsNothing: [],

  list: DOMAINS,
  planLists: [INTEGRATIONS, DOMAINS],
  deletion: { method: "DELETE", path: DOMAINS, readsFirst: true },
  standing: ({ domains }, { outs }) =>
    // The emulator's state and the states of this kind have this list.
    (domains as Json[])
      .map(({ domain }) => String(domain))
      .filter((one) => (outs["domains"] as string[]).includes(one)),
  vanish: async (given) => {
    for (const { domain } of await recordsOf(given, "domains"))
      await given.edit({ kind: "domain", id: domain, delete: true });
  },
  plant: async (call, { projectId }) => {
    for (const domain of [SITE, THEIR_SITE])
      await call("POST", inProject(DOMAINS, projectId), { domain, auth_provider: PROVIDER });
  },
  // The emulator's state has this list.
  look: ({ domains }) => (domains as Json[]).map(({ domain }) => domain),

  mutations: [
    {
      title: "adding to a whitelist",
      method: "POST",
      path: DOMAINS,
      to: WHITELIST_ARGS,
      happened: holdsOne("domains"),
      configures: true,
      bodiless: true,
    },
    {
      title: "taking from a whitelist",
      method: "DELETE",
      path: DOMAINS,
      from: WHITELIST_ARGS,
      to: { ...WHITELIST_ARGS, domains: [] },
      happened: isEmpty("domains"),
      bodiless: true,
      argument: /domains|app\.example\.com/,
    },
  ],
  updates: [
    {
      // Their whitelist has what it declares now, and what our state lists.
      title: "a whitelist",
      args: { ...WHITELIST_ARGS, domains: [THEIR_SITE] },
      method: "DELETE",
      path: DOMAINS,
    },
    {
      title: "a whitelist that gets longer",
      args: { ...WHITELIST_ARGS, domains: [SITE, "https://new.example.com"] },
      method: "POST",
      path: DOMAINS,
    },
  ],
  lost: undefined,
  takeovers: [],
  creations: [],
  twins: [
    {
      title: "a whitelist",
      one: ({ projectId }) => ({ projectId, domains: [A] }),
      two: ({ projectId }) => ({ projectId, domains: [B] }),
    },
    {
      title: "a redirect domain beside the whitelist that holds it",
      one: ({ projectId }) => ({ projectId, domains: [A] }),
      two: ({ projectId }) => ({ projectId, domain: A }),
      twoKind: "WhitelistDomain",
    },
    {
      title: "a redirect domain beside the whitelist that holds it with another day",
      one: ({ projectId }) => ({ projectId, domains: [{ origin: A, expiresOn: "2999-01-31" }] }),
      two: ({ projectId }) => ({ projectId, domain: A, expiresOn: "2999-02-28" }),
      twoKind: "WhitelistDomain",
    },
    {
      title: "a redirect domain beside a whitelist without it",
      one: ({ projectId }) => ({ projectId, domains: [A] }),
      two: ({ projectId }) => ({ projectId, domain: B }),
      twoKind: "WhitelistDomain",
    },
  ],
  distinct: (place, elsewhere) => [place, elsewhere].map(({ projectId }) => ({ projectId, domains: [A] })),
  heldTwice: [
    { title: "a whitelist", inputs: ({ projectId }) => ({ projectId, domains: [A, B] }) },
    {
      title: "a whitelist with a day",
      inputs: ({ projectId }) => ({ projectId, domains: [A, { origin: B, expiresOn: "2999-01-31" }] }),
    },
  ],
  several: undefined,

  campaign: {
    lists: ["domains"],
    program: ({ round }) =>
      `new svc.Whitelist("list", { projectId: auth.projectId, domains: ["https://list${round}.example.com"] });`,
    declared: ({ round }) => [`https://list${round}.example.com`],
    // WhitelistDomain shows the list of all domains.
    shown: () => [],
  },
};
