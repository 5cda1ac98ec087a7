import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { bracketed, isThisMachine } from "./http/access";
import { createApp } from "./app";
import { applySeed, checkedSeed } from "./control/seeding";
import { DataFile } from "./model/dataFile";
import { Faults } from "./control/faults";
import { Lifecycle } from "./model/operations";
import { resolveOptions, type EmulatorOptions } from "./options";
import { RequestLog } from "./http/requestLog";
import type { Service } from "./model/service";
import { primaryOf, Store } from "./model/store";
import { API_ROOT } from "./http/route";

export type { EmulatorOptions, EmulatorSeed } from "./options";

/** A running emulator. */
export interface Emulator {
  /** What `svc:baseUrl` is set to: the versioned API root. */
  baseUrl: string;
  /** The server itself, where /_emulator lives. */
  url: string;
  apiKey: string;
  port: number;
  /** Ends every connection and timer; state that has a file is saved first. */
  close(): Promise<void>;
  /** Back to the projects of the start; faults and the request log are cleared. */
  reset(): void;
  /** What a program may name: the projects, their branches, and the primary compute of a branch that has one. */
  projects(): { id: string; branches: { id: string; default: boolean; primaryId: string | undefined }[] }[];
}

const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo); // a TCP server has no other kind of address
    });
  });

export async function startEmulator(given: EmulatorOptions = {}): Promise<Emulator> {
  const options = resolveOptions(given);
  const store = new Store();
  const faults = new Faults();
  const log = new RequestLog();
  const lifecycle = new Lifecycle(options, store, faults);
  let url = "";
  let isLocal = false;

  const reset = (): void => {
    lifecycle.stop();
    faults.clear();
    log.clear();
    applySeed(service, seed);
    lifecycle.resume();
  };
  const service: Service = { options, store, lifecycle, faults, log, origin: () => url, isLocal: () => isLocal, reset };
  const seed = checkedSeed(given.seed, given.projects);
  const file = options.data === undefined ? undefined : new DataFile(options.data, () => store.projects);
  const saved = file?.load();
  if (saved === undefined) applySeed(service, seed);
  else store.replaceAll(saved);
  store.onChange(() => file?.saveSoon());

  const app = createApp(service);
  // Replacing the global Request and Response would reach into the process that the emulator is a guest of.
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const { address, port } = await listen(server, options.port, options.host);
  url = `http://${bracketed(options.host)}:${port}`;
  isLocal = isThisMachine(address);
  lifecycle.resume();

  const disconnect = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    lifecycle.stop();
  };
  const close = async (): Promise<void> => {
    await disconnect();
    file?.close();
  };
  try {
    // A place that cannot be written to is better known before any work is done.
    file?.save();
  } catch (error) {
    await disconnect();
    throw error;
  }
  const projects = (): ReturnType<Emulator["projects"]> =>
    store.projects.map((project) => ({
      id: project.id,
      branches: project.branches.map((branch) => ({
        id: branch.id,
        default: branch.default,
        primaryId: primaryOf(project, branch.id)?.id,
      })),
    }));
  return { baseUrl: `${url}${API_ROOT}`, url, apiKey: options.apiKey, port, close, reset, projects };
}
