/** `svc:quiet` hides what moves. What has happened is a fact, and stays (docs/settings.md). */
import { notes, PROJECT, type Harness } from "../support/harness";
import { KIND_CASES } from "../kinds";
import { started } from "../kinds/started";
import { THEIRS } from "../support/emailServers";
import { computeScene } from "../support/rules/scenes";
import { lost } from "../support/rules/hostile";
import { ENDPOINTS } from "../support/rules/routes";

beforeEach(() => (process.env["SVC_QUIET"] = "true"));
afterEach(() => delete process.env["SVC_QUIET"]);

const OWN = { id: "microsoft", client_id: "theirs", client_secret: "theirs" };
const providers = `/projects/${PROJECT}/auth/oauth_providers`;

const FACTS: readonly (readonly [string, RegExp, (given: Harness) => Promise<unknown>, keyof typeof KIND_CASES])[] = [
  [
    "domains that were removed",
    /removed domains that the program does not list: https:\/\/theirs\.example\.com/,
    async (given) => {
      await given.edit({ kind: "domain", create: { domain: "https://theirs.example.com" } });
      await given.create({ projectId: PROJECT, domains: ["https://ours.example.com"] });
    },
    "Whitelist",
  ],
  [
    "an OAuth provider that was deleted",
    /OAuth provider github .* was deleted/,
    (given) => given.create({ projectId: PROJECT, providerId: "github", absent: true, adopt: true }),
    "OAuthProvider",
  ],
  [
    "credentials that were replaced",
    /had credentials of its own; those of the program replaced them/,
    async (given) => {
      await given.post(providers, OWN);
      const ours = { clientId: "ours", clientSecret: "ours", adopt: true };
      await given.create({ projectId: PROJECT, providerId: "microsoft", ...ours });
    },
    "OAuthProvider",
  ],
  [
    "users who are deleted with their integration",
    /It also deletes all of its users/,
    async (given) => given.delete(await given.create({ projectId: PROJECT })),
    "AuthIntegration",
  ],
  [
    "a mail server that was overwritten",
    /another server was configured there.*it was overwritten/,
    async (given) => {
      await given.edit({ kind: "email_server", set: THEIRS });
      await given.create({ projectId: PROJECT, type: "shared" });
    },
    "EmailServer",
  ],
  [
    "keys that stay valid",
    /was removed from the stack only/,
    async (given) => given.delete(await given.create({ projectId: PROJECT })),
    "AuthKeys",
  ],
];

test.each(FACTS)("reports %s to who wants quiet, and no progress", async (_what, words, work, kind) => {
  const given = await started(KIND_CASES[kind]);
  await work(given);
  expect(notes(given)).toContainEqual(expect.stringMatching(words));
  expect(given.log.filter(({ ephemeral }) => ephemeral)).toEqual([]);
});

test("reports a compute that was found after a lost response to who wants quiet", async () => {
  const { given, network } = await computeScene();
  network.on({ method: "POST", path: ENDPOINTS, nth: 1, answer: lost });
  await given.create({ projectId: PROJECT, branchId: "br-dev" });
  expect(notes(given)).toContainEqual(expect.stringMatching(/was found after the response to its creation was lost/));
  expect(given.log.filter(({ ephemeral }) => ephemeral)).toEqual([]);
});
