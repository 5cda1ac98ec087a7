import type { EmailServerRecord } from "../../client";
import type { ProjectObject, Tools } from "../shared/tools";

export const emailServer: Tools = {
  list: async ({ client, projectId, options }) => {
    const server = await client.auth.emailServer(projectId, options);
    // Every integration starts with the service's shared email server.
    return server.type === "shared" ? [] : [found(server, projectId)];
  },
  configurationKey: "smtpPassword",
  form: "type",
};

function found(record: EmailServerRecord, projectId: string): ProjectObject {
  const host = record.host === undefined ? "" : ` ${record.host}`;
  return {
    kind: "EmailServer",
    id: projectId,
    describe: `e-mail server${host}`,
    adopt: "declaring it takes it over",
    identity: {},
    names: () => [],
    word: "mail",
    hidden: new Map([["password", true]]),
  };
}
