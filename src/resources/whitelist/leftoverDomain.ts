/** A redirect domain that a preview may have left behind. */
import { domainToUnicode } from "node:url";
import { Gone, Granted, Refused, Unknown, type WhitelistDomainRecord } from "../../client";
import { isSameName } from "../../contract/forms";
import { domainForm } from "../../contract/redirectDomains";
import { type Asked, GoneError, type Leftover, type Surroundings } from "../shared/tools";

export const leftoverDomain =
  (record: WhitelistDomainRecord, { client, projectId, authProvider: configured }: Asked) =>
  ({ objects }: Surroundings): Leftover => {
    const origin = domainForm(record.domain);
    const { auth_provider: authProvider = configured } = record;
    const integration = objects.find(
      (one) => one.kind === "AuthIntegration" && isSameName(one.authProvider ?? "", authProvider),
    );
    const hosts = hostsOf(origin);
    return {
      names: [origin],
      stays: integration === undefined ? "its auth integration is not listed" : undefined,
      usedAs: hosts.map((text) => ({ text })),
      branchTexts: [origin, ...hosts],
      facts: integration?.ownId,
      /** A list shows nothing else of a domain, so its integration has to be the same. */
      async isSame(reading) {
        const isNamed = (one: { auth_provider: string }): boolean => isSameName(one.auth_provider, authProvider);
        const own = client.auth.ownIntegration(projectId, isNamed, integration?.ownId);
        const ofIntegration = await own.isMeant(reading);
        if (!(ofIntegration instanceof Granted)) return ofIntegration;
        const isIt = (one: WhitelistDomainRecord): boolean =>
          one.domain === record.domain && one.auth_provider === record.auth_provider;
        const now = await client.auth.domains(projectId).find(isIt, reading);
        if (now instanceof Unknown) return now;
        return now instanceof Gone ? Refused.proven(new GoneError()) : Granted.proven();
      },
      async delete({ isMeant, ...waiting }) {
        const granted = new Map([[origin, Granted.proven()]]);
        await client.auth.deleteDomains({ projectId, authProvider, origins: () => granted }, isMeant, waiting);
      },
    };
  };

/** What a state may call it: the scheme, a default port and the letters of the host may be spelled differently. */
function hostsOf(origin: string): string[] {
  const [, host, port = ""] = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*?)(:\d+|:\*)?(?:[/?#]|$)/.exec(origin) ?? [];
  if (host === undefined || host === "") return [origin];
  return [host, domainToUnicode(host) || host].map((one) => (port === ":*" ? one : one + port));
}
