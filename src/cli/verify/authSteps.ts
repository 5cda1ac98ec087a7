import { randomBytes } from "node:crypto";
import { domainForm } from "../../contract/redirectDomains";
import { KNOWN_OAUTH_PROVIDERS } from "../../resources/oauthProvider/oauthProviderDeclaration";
import {
  CREATE_INTEGRATION,
  DOMAINS,
  EMAIL,
  fieldOf,
  isGood,
  LISTS,
  NEW_USER,
  PROVIDERS,
  recordsIn,
} from "./exchanges";
import { probe, probeCreation, textIn, watching } from "./probe";
import type { Run, Step } from "./run";

const INTEGRATION = "integration";
const USER = "user";
const PROVIDER = "provider";
const DOMAIN = "domain";
const MAIL = "mail";

/** A secret of this run: nobody else knows it, so wherever it appears it was repeated. */
const canary = (): string => `canary-${randomBytes(12).toString("hex")}`;

/** `.example.com` is reserved: no mail arrives there, and no page is there. */
const originOf = ({ token }: Run, name: string): string => `https://${token}-${name}.example.com`;
const appAddress = ({ token }: Run): string => `${token}://callback`;
const emailOf = ({ token }: Run): string => `${token}@example.com`;

/** For requests without a lifecycle that change something in the integration of this run. */
const proof = ({ objects }: Run): { prove: () => Promise<void> } => ({ prove: () => objects.proveIntegration() });

const inBody = ({ projectId, authProvider }: Run) => ({ project_id: projectId, auth_provider: authProvider });

/** The branch that another one than `branchId` was given for. */
const createIntegration = (run: Run, branchId: string) =>
  watching(
    run,
    {
      change: ["POST", CREATE_INTEGRATION],
      list: LISTS.integrations[0],
      shows: (list, accepted) => {
        const id = fieldOf(accepted, "auth_provider_project_id");
        return recordsIn(list, "data").some((one) => one["auth_provider_project_id"] === id);
      },
    },
    () => run.objects.create("AuthIntegration", INTEGRATION, { projectId: run.projectId, branchId }),
  );

const created = ({ objects }: Run): boolean => objects.left.some(({ name }) => name === INTEGRATION);

/** Right after its creation: what it has by then, it has by itself. */
async function noteOwnProviders(run: Run): Promise<void> {
  const { json } = await probe(run, "GET", PROVIDERS);
  for (const { id } of recordsIn(json, "providers")) if (typeof id === "string") run.objects.ownProviders.add(id);
}

/** The known ids that the integration does not have by itself, those of the description first. */
function freeProviders({ objects }: Run): readonly [described: string, other: string] {
  const free = KNOWN_OAUTH_PROVIDERS.filter((id) => !objects.ownProviders.has(id));
  const described = free.find((id) => ["google", "github", "microsoft"].includes(id)) ?? free[0];
  const other = free.findLast((id) => id !== described);
  if (described === undefined || other === undefined) throw new Error("every known OAuth provider exists already");
  return [described, other];
}

export const authSteps: readonly Step[] = [
  {
    name: "integration-elsewhere",
    part: "auth",
    does: "create an auth integration on the branch of --branch, which a service may refuse if it is not the default one",
    mayBeRefused: true,
    leftOut: ({ authBranchId }) => (authBranchId === undefined ? "--auth-branch names no other branch" : undefined),
    run: (run) => createIntegration(run, run.branchId),
  },
  {
    name: "integration-create",
    part: "auth",
    does: "create an auth integration, and read its lists",
    run: async (run) => {
      if (!created(run)) await createIntegration(run, run.authBranchId ?? run.branchId);
      await noteOwnProviders(run);
      await probe(run, "GET", DOMAINS);
      await probe(run, "GET", EMAIL);
      if ((await run.objects.read(run.objects.named(INTEGRATION))) === undefined)
        throw new Error("a refresh does not find it");
    },
  },
  {
    name: "whitelist",
    part: "auth",
    does: "set its list of redirect domains to one domain, read it, and empty it",
    needs: ["integration-create"],
    run: async (run) => {
      const { json } = await probe(run, "GET", DOMAINS);
      // A Whitelist removes what it does not declare.
      if (recordsIn(json, "domains").length > 0) throw new Error("the new integration has redirect domains already");
      const args = { projectId: run.projectId, domains: [originOf(run, "list")] };
      const made = await run.objects.create("Whitelist", "whitelist", args);
      await run.objects.read(made);
      await run.objects.remove(made);
    },
  },
  {
    name: "second-integration",
    part: "auth",
    does: "ask for a second integration, which the service should refuse",
    needs: ["integration-create"],
    run: async (run) => {
      const branch_id = textIn(run.objects.named(INTEGRATION).outs, "branchId");
      const body = { ...inBody(run), branch_id };
      const { status } = await probeCreation(run, "AuthIntegration", CREATE_INTEGRATION, { body, ...proof(run) });
      if (!isGood(status)) return;
      await run.objects.take("AuthIntegration", "second integration", `${run.projectId}/${run.authProvider}`);
    },
  },
  {
    name: "keys",
    part: "auth",
    does: "create another key set",
    needs: ["integration-create"],
    run: async ({ objects, projectId }) => {
      const made = await objects.create("AuthKeys", "keys", { projectId });
      await objects.read(made);
      await objects.remove(made);
    },
  },
  {
    name: "user",
    part: "auth",
    does: "create a user, ask for another with the same address, and delete it",
    needs: ["integration-create"],
    run: async (run) => {
      const { objects, projectId } = run;
      const made = await objects.create("AuthUser", USER, { projectId, email: emailOf(run), name: run.token });
      run.exchanges.step = "second-user";
      const body = { ...inBody(run), email: emailOf(run), name: run.token };
      const { status, json } = await probe(run, "POST", NEW_USER, { body, ...proof(run) });
      const id = fieldOf(json, "id");
      if (isGood(status) && typeof id === "string" && `${projectId}/${id}` !== made.id) {
        const outs = { ...made.outs, userId: id };
        objects.adopt({ kind: "AuthUser", name: "second user", id: `${projectId}/${id}`, outs, args: made.args });
      }
      run.exchanges.step = "user-delete";
      await objects.remove(made);
    },
  },
  {
    name: "provider",
    part: "auth",
    does: "create an OAuth provider with credentials, read it, change its secret",
    needs: ["integration-create"],
    run: async (run) => {
      const [providerId] = freeProviders(run);
      const args = { projectId: run.projectId, providerId, clientId: `${run.token}-id`, clientSecret: canary() };
      const watch = {
        change: ["POST", PROVIDERS],
        list: PROVIDERS,
        shows: (list: unknown) => recordsIn(list, "providers").some(({ id }) => id === providerId),
      } as const;
      const made = await watching(run, watch, () => run.objects.create("OAuthProvider", PROVIDER, args));
      await run.objects.read(made);
      await run.objects.update(PROVIDER, { clientSecret: canary() });
    },
  },
  {
    name: "second-provider",
    part: "auth",
    does: "ask for the same OAuth provider again, which the service should refuse, and delete it",
    needs: ["provider"],
    run: async (run) => {
      const { objects } = run;
      const made = objects.named(PROVIDER);
      const body = { id: made.args["providerId"] };
      await probe(run, "POST", PROVIDERS, { body, ...proof(run) });
      run.exchanges.step = "provider-delete";
      await objects.remove(made);
    },
  },
  {
    name: "other-provider",
    part: "auth",
    does: "create an OAuth provider that the API description does not name",
    needs: ["integration-create"],
    mayBeRefused: true,
    run: (run) => tryProvider(run, freeProviders(run)[1]),
  },
  {
    name: "unknown-provider",
    part: "auth",
    does: "create an OAuth provider with an id that nobody has",
    needs: ["integration-create"],
    mayBeRefused: true,
    run: (run) => tryProvider(run, "pulumi-svc-verify"),
  },
  {
    name: "domain",
    part: "auth",
    does: "add a redirect domain, and read it",
    needs: ["integration-create"],
    run: async (run) => {
      const domain = originOf(run, "app");
      const watch = {
        change: ["POST", DOMAINS],
        list: DOMAINS,
        shows: (list: unknown) => recordsIn(list, "domains").some((one) => isOrigin(one["domain"], domain)),
      } as const;
      const args = { projectId: run.projectId, domain };
      const made = await watching(run, watch, () => run.objects.create("WhitelistDomain", DOMAIN, args));
      await run.objects.read(made);
    },
  },
  {
    name: "domain-spelling",
    part: "auth",
    does: "add a redirect domain in capitals with its default port",
    needs: ["integration-create"],
    mayBeRefused: true,
    run: async (run) => {
      const origin = originOf(run, "spelling");
      const domain = `https://${new URL(origin).host.toUpperCase()}:443`;
      // Before it is sent: its response says nothing, so it counts as made from here on.
      const id = `${run.projectId}/${origin}`;
      const args = { projectId: run.projectId, domain: origin };
      const outs = { ...args, authProvider: run.authProvider, ...integrationOf(run) };
      const made = { kind: "WhitelistDomain", name: "spelling", id, args, outs } as const;
      run.objects.adopt(made);
      await probe(run, "POST", DOMAINS, { body: { domain, auth_provider: run.authProvider }, ...proof(run) });
      await probe(run, "GET", DOMAINS);
      run.exchanges.step = "domain-spelling-delete";
      await run.objects.remove(made);
    },
  },
  {
    name: "app-domain",
    part: "auth",
    does: "add the address of an app as a redirect domain",
    needs: ["integration-create"],
    mayBeRefused: true,
    run: async (run) => {
      const args = { projectId: run.projectId, domain: appAddress(run) };
      await run.objects.remove(await run.objects.create("WhitelistDomain", "app", args));
    },
  },
  {
    name: "domain-delete",
    part: "auth",
    does: "delete the redirect domain, and one that was never added",
    needs: ["domain"],
    run: async (run) => {
      await run.objects.remove(run.objects.named(DOMAIN));
      run.exchanges.step = "unlisted-domain";
      const domains = [{ domain: originOf(run, "none") }];
      await probe(run, "DELETE", DOMAINS, { body: { auth_provider: run.authProvider, domains }, ...proof(run) });
    },
  },
  {
    name: "mail",
    part: "auth",
    does: "set an e-mail server that does not exist, read it, change its sender, and reset it",
    needs: ["integration-create"],
    mayBeRefused: true,
    run: async (run) => {
      const { objects, projectId, token } = run;
      const made = await objects.create("EmailServer", MAIL, {
        projectId,
        type: "standard",
        host: `${token}.example.com`,
        port: 587,
        username: token,
        password: canary(),
        senderEmail: emailOf(run),
        senderName: "pulumi-svc verify",
      });
      await objects.read(made);
      await objects.update(MAIL, { senderName: "pulumi-svc verify 2" });
      await objects.remove(made);
    },
  },
  {
    name: "transfer",
    part: "auth",
    does: "ask twice for the URL of an ownership transfer, which nobody opens",
    needs: ["integration-create"],
    run: async (run) => {
      const { objects, projectId } = run;
      const args = { projectId };
      await objects.remove(await objects.create("AuthOwnershipTransfer", "transfer", args));
      await objects.remove(await objects.create("AuthOwnershipTransfer", "transfer", { ...args, triggers: [2] }));
      await probe(run, "GET", LISTS.integrations[0]);
    },
  },
  {
    name: "integration-delete",
    part: "auth",
    does: "delete the integration with everything in it",
    needs: ["integration-create"],
    run: async (run) => {
      const { objects } = run;
      for (const made of objects.left.filter(({ kind }) => kind !== "ComputeEndpoint")) await objects.remove(made);
      run.exchanges.step = "integration-gone";
      await probe(run, "GET", LISTS.integrations[0]);
    },
  },
  {
    name: "integration-again",
    part: "auth",
    does: "create an integration again in the same place, and delete it",
    needs: ["integration-delete"],
    mayBeRefused: true,
    run: async (run) => {
      await createIntegration(run, run.authBranchId ?? run.branchId);
      await noteOwnProviders(run);
      run.exchanges.step = "integration-again-delete";
      await run.objects.remove(run.objects.named(INTEGRATION));
    },
  },
];

async function tryProvider({ objects, projectId, token }: Run, providerId: string): Promise<void> {
  const args = { projectId, providerId, clientId: `${token}-id`, clientSecret: canary() };
  await objects.remove(await objects.create("OAuthProvider", `provider ${providerId}`, args));
}

const integrationOf = ({ objects }: Run) => ({
  authProviderProjectId: objects.named(INTEGRATION).outs["authProviderProjectId"],
});

const isOrigin = (listed: unknown, origin: string): boolean =>
  typeof listed === "string" && domainForm(listed) === origin;
