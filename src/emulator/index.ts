import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "./app";
import { applyEdit, editBody } from "./control/edits";
import { Faults, faultSchemaFor } from "./control/faults";
import { Inbox } from "./control/mail";
import { applySeed, checkedSeed } from "./control/seeding";
import type { EmulatorEdit, EmulatorFault, EmulatorOperation, EmulatorRequest } from "./controlTypes";
import { AcceptedKey, bracketed, isThisMachine, newPageToken, type Site } from "./http/access";
import { checked } from "./http/bodies";
import { RequestLog, withoutSecrets } from "./http/requestLog";
import { API_ROOT } from "./http/route";
import { primaryOf } from "./model/computes";
import { DataFile } from "./model/dataFile";
import { lockDataFile } from "./model/dataFileLock";
import { Service } from "./model/service";
import { DEFAULT_KEY, resolveOptions, type EmulatorOptions, type ResolvedOptions } from "./emulatorOptions";
import { openPostgres } from "./postgres/open";
import { operationView } from "./routes/projectRoutes";
import { connectionLine } from "./trace";

export type { EmulatorEdit, EmulatorFault, EmulatorOperation, EmulatorRequest } from "./controlTypes";
export type { EmulatorOptions, EmulatorSeed, EmulatorVariants } from "./emulatorOptions";

/** A running emulator. */
export interface Emulator {
  /** The versioned API root: the value for `svc:baseUrl`. */
  baseUrl: string;
  /** The server itself, with the control routes below /_emulator. */
  url: string;
  /**
   * The URL of the page that shows the emulator's activity. On a loopback address it contains a token; elsewhere the
   * page asks for the key.
   */
  pageUrl: string;
  /** The currently accepted key: `POST /_emulator/key` rotates it. */
  readonly apiKey: string;
  port: number;
  /** With `postgres`: the address for connections to the computes, such as `127.0.0.1:5433`. */
  readonly gate: string | undefined;
  /** With `postgres`: the file with the certificate of the authority of the gate, for clients that verify it. */
  readonly gateCa: string | undefined;
  /** Closes every connection and timer, and saves the state if it has a file. */
  close(): Promise<void>;
  /** Restores the initial state and key; clears the faults, the request log, the inbox and the refused connections. */
  reset(): void;
  /**
   * The objects that a program can refer to: the projects, their branches, and each branch's primary compute, if any.
   */
  projects(): { id: string; branches: { id: string; default: boolean; primaryId: string | undefined }[] }[];
  /**
   * Changes a record by hand, without the rules of the API. Returns the record, with secrets as `sha256:<hex>`.
   * @throws an Error that explains what is wrong with the edit
   */
  edit(edit: EmulatorEdit): Record<string, unknown>;
  /**
   * The next matching request, operation or start fails, or as many as `times` says (0: all, until they are cleared).
   * @throws an Error that explains what is wrong with the fault
   */
  fault(fault: EmulatorFault): void;
  clearFaults(): void;
  /** The requests since the start or the last reset, oldest first, at most 10,000. `path`: the prefix of their path. */
  requests(filter?: { method?: string; path?: string }): EmulatorRequest[];
  /**
   * The operations of a project, newest first.
   * @throws an Error if the project does not exist
   */
  operations(projectId: string): EmulatorOperation[];
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
  const resolved = resolveOptions(given);
  const data = resolved.data === undefined ? undefined : linkedFile(resolved.data);
  const unlock = data === undefined ? () => undefined : lockDataFile(data);
  try {
    return await startWith({ ...resolved, data }, given, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A link stays one: the file that it leads to is written, if it exists or not. */
function linkedFile(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path;
}

async function startWith(options: ResolvedOptions, given: EmulatorOptions, unlock: () => void): Promise<Emulator> {
  const faults = new Faults();
  const log = new RequestLog();
  const inbox = new Inbox();
  const key = new AcceptedKey(options.apiKey);
  const service = new Service(options, (action) => faults.takeOutcome(action));
  const { store, operations } = service;

  const reset = (): void => {
    operations.stop();
    faults.clear();
    log.clear();
    inbox.clear();
    postgres?.connections.clear();
    key.rotate(options.apiKey);
    applySeed(service, seed);
    operations.resume();
  };
  const seed = checkedSeed(given.seed, given.projects);
  const file = options.data === undefined ? undefined : new DataFile(options.data, () => store.projects);
  const saved = file?.load();
  if (saved === undefined) applySeed(service, seed);
  else store.replaceAll(saved);
  store.onChange(() => file?.saveSoon());
  // Before anything listens, because it may fail.
  const postgres = options.postgres ? openPostgres(service, key) : undefined;

  const { log: show } = options;
  if (show !== undefined) postgres?.connections.onChange((event) => event && show(connectionLine(event)));

  const site: Site = { origin: "", isLocal: false, isEverywhere: false, pageToken: newPageToken() };
  const app = createApp({ service, faults, log, inbox, key, reset, site, gate: postgres });
  // Replacing the global Request and Response would change the emulator's host process.
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const { address, port } = await listen(server, options.port, options.host).catch(async (error: unknown) => {
    await postgres?.close();
    throw error;
  });
  const url = `http://${bracketed(options.host)}:${port}`;
  site.origin = url;
  site.isLocal = isThisMachine(address);
  site.isEverywhere = address === "0.0.0.0" || address === "::";
  operations.resume();

  const disconnect = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await postgres?.close();
    operations.stop();
  };
  const close = async (): Promise<void> => {
    await disconnect();
    file?.close();
    unlock();
  };
  try {
    // Reports a file that cannot be written before any work is lost.
    file?.save();
    if (postgres !== undefined && !site.isLocal && key.current === DEFAULT_KEY) {
      throw new Error(
        `other machines can reach ${options.host}, and everybody knows the default key of the Postgres there: set your ` +
          "own in SVC_EMULATOR_API_KEY",
      );
    }
    await postgres?.listen();
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
  return {
    baseUrl: `${url}${API_ROOT}`,
    url,
    // In the fragment, which a browser does not send.
    pageUrl: site.isLocal ? `${url}/#token=${site.pageToken}` : `${url}/`,
    get apiKey() {
      return key.current;
    },
    port,
    gate: postgres?.address,
    gateCa: postgres?.authority.file,
    close,
    reset,
    projects,
    // An edit changes the fields of a record, so the result is a record.
    edit: (edit) => withoutSecrets(applyEdit(service, checked(editBody, edit))) as Record<string, unknown>,
    fault: (fault) => void faults.add(checked(faultSchemaFor(fault), fault)),
    clearFaults: () => faults.clear(),
    requests: ({ method, path } = {}) => structuredClone(log.list(method, path)),
    operations: (projectId) => structuredClone(store.project(projectId).operations.toReversed().map(operationView)),
  };
}
