import { PostgresServer } from "../../src/emulator/postgres/postgresServer";

/** The mark of the emulator whose servers these are. */
export const MARK = "0a1b2c3d";
export const MAIN = { projectId: "prj-demo", branchId: "br-main", database: "svcdb" };
export const DEV = { ...MAIN, branchId: "br-dev" };

export type OpenOptions = Partial<Parameters<typeof PostgresServer.open>[0]>;

/** Opens servers at this address for a test. Removes what they made and closes them when the test ends. */
export function openedServers(url: () => string) {
  const opened: PostgresServer[] = [];
  afterEach(async () => {
    for (const server of opened.splice(0)) {
      await server.remove();
      await server.close();
    }
  });
  const open = async (options: OpenOptions = {}): Promise<PostgresServer> => {
    const server = await PostgresServer.open({ url: url(), remote: false, mark: MARK, ...options });
    opened.push(server);
    return server;
  };
  return { opened, open };
}
