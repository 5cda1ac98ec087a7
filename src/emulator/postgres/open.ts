/** The user's Postgres and the gate in front of it, opened and closed together. */
import { bracketed, type AcceptedKey } from "../http/access";
import type { Service } from "../model/service";
import { followModel } from "./followModel";
import { connectionLimit, Gate } from "./gate";
import { PostgresServer } from "./postgresServer";

interface Postgres {
  /** Known once it listens. */
  readonly address: string | undefined;
  listen(): Promise<void>;
  /** Notes for the user at the start. */
  notes(): string[];
  close(): Promise<void>;
}

/**
 * @param mark of the instance: identifies its databases
 * @throws an error that never contains the password of the URL.
 */
export async function openPostgres(url: string, mark: string, service: Service, key: AcceptedKey): Promise<Postgres> {
  const { options, store } = service;
  const server = await PostgresServer.open({ url, remote: options.postgresRemote, mark });
  const following = await followModel(store, server).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  const gate = new Gate(service, server, key);
  const end = async (): Promise<void> => {
    await gate.close();
    await following.stop();
    const hasStarted = address !== undefined;
    // After a failed start: with a data file, the databases of an earlier run stay; otherwise nobody could find them
    // again.
    if (hasStarted ? options.postgresDrop : options.data === undefined) {
      // The rest of the emulator's shutdown does not depend on it.
      await server.remove().catch((error: unknown) => {
        process.emitWarning(
          `databases of the emulator were not dropped: ${error instanceof Error ? error.message : error}`,
        );
      });
    }
    await server.close();
  };
  let ending: Promise<void> | undefined;
  let address: string | undefined;
  return {
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
    notes() {
      const limits = store.projects.flatMap(({ endpoints }) => endpoints).flatMap((one) => connectionLimit(one) ?? []);
      const largest = Math.max(0, ...limits);
      return server.slots >= largest
        ? []
        : [
            `the Postgres accepts ${server.slots} connections, fewer than the ${largest} of the largest compute: ` +
              `that is the limit for all computes together (raise its max_connections)`,
          ];
    },
    // Ends once: a second call gets the same promise.
    close: () => (ending ??= end()),
  };
}

const isInUse = (error: unknown): boolean => Reflect.get(Object(error), "code") === "EADDRINUSE";
