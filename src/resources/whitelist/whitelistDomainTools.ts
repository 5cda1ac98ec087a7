import type { WhitelistDomainRecord } from "../../client";
import { isSameName, nameForm } from "../../contract/forms";
import { domainForm } from "../../contract/redirectDomains";
import type { Asked, ProjectObject, Tools } from "../shared/tools";
import { leftoverDomain } from "./leftoverDomain";

export const whitelistDomain: Tools = {
  list: async (asked) => {
    const { client, projectId, authProvider, options } = asked;
    const all = await client.auth.domains(projectId).list(options);
    // The service may list one origin in several spellings and for several auth providers.
    const byOrigin = new Map(
      all.map((one) => [`${nameForm(one.auth_provider ?? authProvider)} ${domainForm(one.domain)}`, one]),
    );
    return [...byOrigin.values()].map((record) => found(record, asked));
  },
};

function found(record: WhitelistDomainRecord, asked: Asked): ProjectObject {
  const origin = domainForm(record.domain);
  const { auth_provider = asked.authProvider } = record;
  const other = isSameName(auth_provider, asked.authProvider) ? undefined : auth_provider;
  return {
    kind: "WhitelistDomain",
    id: `${asked.projectId}/${origin}`,
    describe: `redirect domain ${origin}${other === undefined ? "" : ` of auth provider ${other}`}`,
    adopt: `adopt: true${other === undefined ? "" : `, authProvider: ${JSON.stringify(other)}`}`,
    identity: { domain: origin, authProvider: other },
    names: () => [origin.replace(/^.*:\/\//, "")],
    word: "domain",
    managed: { authProvider: record.auth_provider },
    authProvider: record.auth_provider,
    sharesId: true,
    leftover: leftoverDomain(record, asked),
  };
}
