/**
 * The single address for all computes: it authenticates a client, determines its compute, and connects it to a separate
 * session on the server, as long as the compute's record allows it.
 */
import { randomInt } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { maxConnections } from "../../helpers/maxConnections";
import type { AcceptedKey } from "../http/access";
import { isComputeSize } from "../model/computes";
import type { StoredEndpoint } from "../model/records";
import type { Service } from "../model/service";
import { Idleness } from "./idleness";
import { negotiateVersion, SessionError } from "./protocol";
import { activeCompute } from "./readiness";
import { Scram } from "./scram";
import type { PostgresServer } from "./postgresServer";
import { dismiss, ClientSession } from "./clientSession";
import { Gone, Input, readFirstMessage } from "./startup";
import { findCompute, requireCompute, requireRole, targetOf, type Compute } from "./target";
import { PostgresError } from "./upstream";

/** Postgres waits for a minute, but here nobody types a password. */
const AUTHENTICATION_MS = 10_000;
/** The time for the server's errors to arrive after its sessions were ended. */
const LAST_WORDS_MS = 1_000;
/** The time limit for the server. A hanging server must not delay the shutdown. */
const PATIENCE_MS = 5_000;

const ADMIN_SHUTDOWN = "57P01";
const wasEnded = (): SessionError =>
  new SessionError(ADMIN_SHUTDOWN, "terminating connection due to administrator command");

/** A connection to a compute, from before its server session opens until after it closes. */
interface Seat {
  readonly endpointId: string;
  /** The initial settings of the compute, which only a restart or a move can change. */
  readonly configuration: string;
  session?: ClientSession;
  isEnding: boolean;
}

/** A change of these ends the open sessions (docs/design/api.md, Compute states). */
const configurationOf = (endpoint: StoredEndpoint): string =>
  JSON.stringify([endpoint.branch_id, endpoint.autoscaling_limit_min_cu, endpoint.autoscaling_limit_max_cu]);

/** Undefined: the service gives no limit for that size. */
export function connectionLimit({ autoscaling_limit_max_cu: cu }: StoredEndpoint): number | undefined {
  // An edit by hand may have set any number.
  return isComputeSize(cu) ? maxConnections(cu) : undefined;
}

export class Gate {
  readonly #listener = createServer((client) => {
    const served = this.#serve(client).finally(() => this.#opening.delete(served));
    this.#opening.add(served);
  });
  /** Connections that are neither joined nor refused yet. */
  readonly #opening = new Set<Promise<void>>();
  /** Aborts serving a client that has no session yet. */
  readonly #clients = new Map<Socket, AbortController>();
  readonly #seats = new Set<Seat>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #scram: Scram;
  readonly #idleness: Idleness;
  #isClosed = false;

  constructor(
    private readonly service: Service,
    private readonly server: PostgresServer,
    key: AcceptedKey,
  ) {
    this.#scram = new Scram(key);
    this.#idleness = new Idleness(service, (id) => this.#seatsOf(id).some(({ session }) => session?.isBusy === true));
    service.store.onChange(() => this.#follow());
  }

  /** Resolves to the port. */
  async listen(port: number, host: string): Promise<number> {
    this.#listener.listen(port, host);
    await once(this.#listener, "listening");
    this.#follow();
    return (this.#listener.address() as AddressInfo).port; // A TCP server has no other kind of address.
  }

  /** Ends all sessions, here and on the server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener.close();
    this.#idleness.stop();
    for (const stop of this.#clients.values()) stop.abort(wasEnded());
    await this.#end([...this.#seats]);
    await Promise.race([Promise.all(this.#opening), delay(PATIENCE_MS, undefined, { ref: false })]);
    for (const client of this.#clients.keys()) client.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    const stop = new AbortController();
    this.#clients.set(client, stop);
    client.on("error", () => undefined); // The socket closes then.
    client.once("close", () => {
      this.#clients.delete(client);
      stop.abort(new Gone());
    });
    try {
      await this.#open(client.setNoDelay(true), stop);
    } catch (error) {
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
      if (reason instanceof Gone) client.destroy();
      else dismiss(client, asSessionError(reason));
    }
  }

  async #open(client: Socket, stop: AbortController): Promise<void> {
    const tooLate = new SessionError("08P01", `no authentication within ${AUTHENTICATION_MS / 1000} s`);
    const timer = setTimeout(() => stop.abort(tooLate), AUTHENTICATION_MS).unref();
    client.once("close", () => clearTimeout(timer));
    const input = new Input(client, stop.signal);
    const first = await readFirstMessage(input);
    if (first.kind === "cancel") {
      await this.#cancel(first);
      client.end();
      return;
    }
    const { parameters, unknownOptions } = first.startup;
    if (unknownOptions !== undefined) client.write(negotiateVersion(unknownOptions));
    const { endpointId, user, database, startup } = targetOf(parameters);
    await this.#scram.authenticate(input, user);
    clearTimeout(timer);

    // A connection without a role does not start a compute. The compute may have moved by the time it is active.
    requireRole(requireCompute(this.service.store, endpointId), user);
    const compute = await activeCompute(this.service, endpointId, (signal) => this.#change(signal), stop);
    requireRole(compute, user);
    const seat = this.#take(compute);
    try {
      const { project, endpoint } = compute;
      const place = { projectId: project.id, branchId: endpoint.branch_id, database };
      const readOnly = endpoint.type === "read_only";
      const name = await this.server.databases.get(place);
      const onServer = await this.server.connect(name, { readOnly, startup });
      // The compute may have been restarted, moved or deleted meanwhile: then the connection serves no query.
      if (seat.isEnding || this.#isOver(seat)) {
        onServer.socket.destroy();
        throw wasEnded();
      }
      const use = (): void => this.#idleness.used(endpointId);
      const session = new ClientSession(client, onServer, randomInt(2 ** 31), {
        use,
        abandoned: () => void this.#end([seat]),
      });
      seat.session = session;
      void session.released.then(() => this.#seats.delete(seat));
      use();
      input.release();
      session.join();
    } finally {
      if (seat.session === undefined) this.#seats.delete(seat);
    }
  }

  /** @throws SessionError */
  #take({ endpoint }: Compute): Seat {
    if (this.#isClosed) throw wasEnded();
    const limit = connectionLimit(endpoint);
    if (limit !== undefined && this.#seatsOf(endpoint.id).length >= limit) {
      const size = `${endpoint.autoscaling_limit_max_cu} CU`;
      throw new SessionError(
        "53300",
        `too many clients already: ${endpoint.id} of ${size} accepts ${limit} connections`,
      );
    }
    if (this.#seats.size >= this.server.slots) {
      throw new SessionError(
        "53300",
        `too many clients already: the Postgres behind the emulator accepts ${this.server.slots} connections`,
        "Raise its max_connections.",
      );
    }
    const seat: Seat = { endpointId: endpoint.id, configuration: configurationOf(endpoint), isEnding: false };
    this.#seats.add(seat);
    return seat;
  }

  #seatsOf(endpointId: string): Seat[] {
    return [...this.#seats].filter((seat) => seat.endpointId === endpointId);
  }

  async #cancel(asked: { processId: number; secretKey: number }): Promise<void> {
    const sessions = [...this.#seats].flatMap(({ session }) => session ?? []);
    const session = sessions.find(
      ({ server, secretKey }) => server.processId === asked.processId && secretKey === asked.secretKey,
    );
    if (session !== undefined) await this.server.cancel(session.server);
  }

  /** The next change of the service's state. */
  #change(signal: AbortSignal): Promise<unknown> {
    return once(this.#changes, "change", { signal });
  }

  #follow(): void {
    if (this.#isClosed) return;
    void this.#end([...this.#seats].filter((seat) => !seat.isEnding && this.#isOver(seat)));
    this.#idleness.follow();
    this.#changes.emit("change");
  }

  /** Whether the record implies that earlier sessions have ended. */
  #isOver({ endpointId, configuration }: Seat): boolean {
    const endpoint = findCompute(this.service.store, endpointId)?.endpoint;
    if (endpoint === undefined || endpoint.current_state !== "active") return true;
    // A running operation takes effect when it ends.
    if (endpoint.pending_state !== undefined) return false;
    return endpoint.disabled || configurationOf(endpoint) !== configuration;
  }

  /** Ends sessions on the server, whose errors reach the client. */
  async #end(seats: readonly Seat[]): Promise<void> {
    for (const seat of seats) seat.isEnding = true;
    const sessions = seats.flatMap(({ session }) => session ?? []);
    if (sessions.length === 0) return;
    for (const session of sessions) session.willEnd(wasEnded());
    const gone = Promise.all(sessions.map(({ closed }) => closed));
    // An unreachable server has no sessions.
    const ended = this.server.terminate(sessions.map(({ server }) => server.processId)).catch(() => undefined);
    await Promise.race([ended, delay(PATIENCE_MS, undefined, { ref: false })]);
    await Promise.race([gone, delay(LAST_WORDS_MS, undefined, { ref: false })]);
    for (const session of sessions) session.end();
  }
}

/** The error of the server, or of the failed connection to it. */
function asSessionError(error: unknown): SessionError {
  if (error instanceof SessionError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new SessionError(error instanceof PostgresError ? error.code : "XX000", words);
}
