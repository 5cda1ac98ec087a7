/** The clusters of the branches and the gate in front of them, opened and closed together. */
import type { WatchedGate } from "../control/controlRoutes";
import { connectionUri } from "../../helpers/connectionUri";
import { bracketed, type AcceptedKey } from "../http/access";
import type { Service } from "../model/service";
import { Authority } from "./authority";
import { Clusters } from "./clusters";
import { Connections } from "./connections";
import { Gate } from "./gate";
import { DATABASE, ROLE } from "./template";

interface Postgres extends WatchedGate {
  /** Known once it listens. */
  readonly address: string | undefined;
  /** Of the certificates with which the gate speaks TLS. */
  readonly authority: Authority;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export function openPostgres(service: Service, key: AcceptedKey): Postgres {
  const { options, store } = service;
  const clusters = Clusters.open(store, options.data);
  const authority = new Authority(clusters.folder, options.host);
  const connections = new Connections(key);
  const gate = new Gate(service, clusters, authority, key, connections);
  const end = async (): Promise<void> => {
    await gate.close();
    await clusters.close();
  };
  let ending: Promise<void> | undefined;
  let address: string | undefined;
  return {
    authority,
    connections,
    connectionUri: ({ id }) =>
      connectionUri({ host: id, role: ROLE, database: DATABASE, password: key.current, gate: address ?? "" }),
    get address() {
      return address;
    },
    async listen() {
      const port = await gate.listen(options.postgresPort, options.host).catch((error: unknown) => {
        throw isInUse(error)
          ? new Error(`port ${options.postgresPort} for Postgres is in use: choose another with --postgres-port`)
          : error;
      });
      address = `${bracketed(options.host)}:${port}`;
    },
    // Ends once: a second call gets the same promise.
    close: () => (ending ??= end()),
  };
}

const isInUse = (error: unknown): boolean => Reflect.get(Object(error), "code") === "EADDRINUSE";
