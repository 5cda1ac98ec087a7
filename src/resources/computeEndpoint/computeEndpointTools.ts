import { connectionUri, pooledHost } from "../../helpers/connectionUri";
import { type Login, PLACEHOLDERS, type Tools } from "../shared/tools";

export const computeEndpoint: Tools = {
  envSources: [
    { output: "host" },
    { output: "pooledHost", from: "host", by: pooledHost },
    { output: "connectionUri", from: "host", by: (host, login) => uri(host, login, false), isUri: true },
    { output: "pooledConnectionUri", from: "host", by: (host, login) => uri(host, login, true), isUri: true },
  ],
};

function uri(host: string, login: Login, pooled: boolean): string {
  const { role = PLACEHOLDERS.role, database = PLACEHOLDERS.database, password = PLACEHOLDERS.password } = login;
  const complete = connectionUri({ host, role, database, password, pooled });
  // The parameter of a gate (SVC_POSTGRES_GATE). A dotenv line cannot hold "&", and the gate is reached without it, too.
  return complete.replace("?sslmode=disable&", "?");
}
