/**
 * The single address for all computes: it authenticates a client, determines its compute, and connects it to a separate
 * session on the server, as long as the compute's record allows it.
 */
import { randomInt } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
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
import type { Authority } from "./authority";
import type { Clusters } from "./clusters";
import type { Connection, Connections } from "./connections";
import { dismiss, ClientSession } from "./clientSession";
import { Pool, trackedSettings } from "./pool";
import { PooledSession } from "./pooledSession";
import { authenticatePlainly } from "./plainPassword";
import { Gone, Input, readFirstMessage } from "./startup";
import type { ServerSession } from "./session";
import { computeNamed, computeOfHost, findCompute, targetOf, type Compute, type GateTarget } from "./target";

/** Postgres waits for a minute, but here nobody types a password. */
const AUTHENTICATION_MS = 10_000;
/** The time for the server's errors to arrive after its sessions were ended. */
const LAST_WORDS_MS = 1_000;
/** The time limit for the server. A hanging server must not delay the shutdown. */
const PATIENCE_MS = 5_000;

const ADMIN_SHUTDOWN = "57P01";
/** Of a session, for requests that cancel its query. */
const newKey = (): number => randomInt(2 ** 31);
const wasEnded = (): SessionError =>
  new SessionError(ADMIN_SHUTDOWN, "terminating connection due to administrator command");

/** docs/design/api.md, Compute sizes. */
const MAX_POOLED_CLIENTS = 10_000;
/** Of the compute's connections, for each role and database. The rest is for those who connect to the compute itself. */
const POOL_SHARE = 0.9;

/** What belongs to one start of a compute. */
interface OfStart {
  readonly endpointId: string;
  /** The initial settings of the compute, which only a restart or a move can change. */
  readonly configuration: string;
  /** The compute may have been started again. */
  isEnding: boolean;
}

/** A connection to a compute, from before its server session opens until after it closes. */
interface Seat extends OfStart {
  readonly isPooled: boolean;
  session?: ClientSession | PooledSession;
}

/** Of a role and a database. */
interface ComputePool extends OfStart {
  readonly user: string;
  readonly database: string;
  readonly pool: Pool;
}

/** A change of these ends the open sessions (docs/design/api.md, Compute states). */
const configurationOf = (endpoint: StoredEndpoint): string =>
  JSON.stringify([endpoint.branch_id, endpoint.autoscaling_limit_min_cu, endpoint.autoscaling_limit_max_cu]);

/** Undefined: the service gives no limit for that size. */
function connectionLimit({ autoscaling_limit_max_cu: cu }: StoredEndpoint): number | undefined {
  // An edit by hand may have set any number.
  return isComputeSize(cu) ? maxConnections(cu) : undefined;
}

export class Gate {
  // A client may end its side and still wait for the answer to its query.
  readonly #listener = createServer({ allowHalfOpen: true }, (client) => {
    const served = this.#serve(client).finally(() => this.#opening.delete(served));
    this.#opening.add(served);
  });
  /** Connections that are neither joined nor refused yet. */
  readonly #opening = new Set<Promise<void>>();
  /** Aborts serving a client that has no session yet. */
  readonly #clients = new Map<Socket, AbortController>();
  readonly #seats = new Set<Seat>();
  #pools: ComputePool[] = [];
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #scram: Scram;
  readonly #idleness: Idleness;
  #isClosed = false;

  constructor(
    private readonly service: Service,
    private readonly clusters: Clusters,
    private readonly authority: Authority,
    private readonly key: AcceptedKey,
    private readonly connections: Connections,
  ) {
    this.#scram = new Scram(key);
    this.#idleness = new Idleness(service, (id) => this.#seatsOf(id).some(({ session }) => session?.isBusy ?? true));
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
    for (const { pool } of this.#pools) pool.close();
    await this.#end([...this.#seats]);
    await Promise.race([Promise.all(this.#opening), delay(PATIENCE_MS, undefined, { ref: false })]);
    for (const client of this.#clients.keys()) client.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    const stop = new AbortController();
    const connection = this.connections.arrived();
    this.#clients.set(client, stop);
    client.on("error", () => undefined); // The socket closes then.
    // Before it has a session; afterwards this has no effect.
    client.once("end", () => stop.abort(new Gone()));
    client.once("close", () => {
      this.#clients.delete(client);
      stop.abort(new Gone());
      connection.closed();
    });
    const input = new Input(client.setNoDelay(true), stop.signal);
    try {
      await this.#open(input, stop, connection);
    } catch (error) {
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
      if (reason instanceof Gone) {
        client.destroy();
        return;
      }
      const refusal = asSessionError(reason);
      connection.refused(refusal);
      dismiss(input.socket, refusal);
    }
  }

  async #open(input: Input, stop: AbortController, connection: Connection): Promise<void> {
    const tooLate = new SessionError("08P01", `no authentication within ${AUTHENTICATION_MS / 1000} s`);
    const timer = setTimeout(() => stop.abort(tooLate), AUTHENTICATION_MS).unref();
    stop.signal.addEventListener("abort", () => clearTimeout(timer));
    const isOurs = (name: string): boolean => computeOfHost(this.service.store, name) !== undefined;
    const first = await readFirstMessage(input, (socket) => this.authority.encrypt(socket, isOurs));
    const client = input.socket;
    if (first.kind === "cancel") {
      this.#cancel(first);
      client.end();
      return;
    }
    const { parameters, unknownOptions } = first.startup;
    if (unknownOptions !== undefined) client.write(negotiateVersion(unknownOptions));
    connection.claims({
      role: parameters.get("user") ?? "",
      database: parameters.get("database") ?? "",
      application_name: parameters.get("application_name") ?? "",
    });
    const host = client instanceof TLSSocket && client.servername;
    const byHost = host ? computeOfHost(this.service.store, host) : undefined;
    const target = targetOf(parameters, byHost);
    connection.claims({ database: target.database, ...(target.name !== undefined && { endpoint_id: target.name }) });
    if (target.name !== undefined) await this.#scram.authenticate(input, target.user);
    const { endpointId, isPooled } = computeNamed(
      target.name ?? (await authenticatePlainly(input, target.user, this.key)),
    );
    connection.claims({ endpoint_id: endpointId });
    clearTimeout(timer);
    connection.waits();

    const compute = await activeCompute(this.service, endpointId, (signal) => this.#change(signal), stop);
    const seat = this.#take(compute, isPooled);
    try {
      const session = isPooled
        ? await this.#joinPool(client, compute, target, seat, stop.signal)
        : await this.#joinCompute(client, compute, target, seat);
      seat.session = session;
      connection.opened(() => session.isBusy);
      void session.released.then(() => this.#seats.delete(seat));
      this.#idleness.used(endpointId);
      input.release();
      session.join();
    } finally {
      if (seat.session === undefined) this.#seats.delete(seat);
    }
  }

  async #joinCompute(client: Socket, compute: Compute, target: GateTarget, seat: Seat): Promise<ClientSession> {
    const { user, database, startup } = target;
    const server = await this.#openSession(compute, seat, { ...startup, user, database });
    return new ClientSession(client, server, newKey(), {
      use: () => this.#idleness.used(seat.endpointId),
      abandoned: () => void this.#end([seat]),
    });
  }

  async #joinPool(
    client: Socket,
    compute: Compute,
    { user, database, startup }: GateTarget,
    seat: Seat,
    stop: AbortSignal,
  ): Promise<PooledSession> {
    const settings = trackedSettings(startup);
    const pool = this.#poolOf(compute, seat, { user, database });
    const welcome = await pool.welcome(stop);
    await this.clusters.usersShown(compute);
    if (seat.isEnding) throw wasEnded();
    const use = (): void => this.#idleness.used(seat.endpointId);
    return new PooledSession(client, pool, newKey(), newKey(), welcome, settings, use);
  }

  #poolOf(compute: Compute, { endpointId, configuration }: OfStart, login: { user: string; database: string }): Pool {
    const isSame = (one: ComputePool): boolean =>
      one.endpointId === endpointId && one.user === login.user && one.database === login.database;
    const found = this.#pools.find(isSame);
    if (found !== undefined) return found.pool;
    const limit = Math.floor((connectionLimit(compute.endpoint) ?? Infinity) * POOL_SHARE);
    const pool: Pool = new Pool(limit, async () => {
      this.#requireFree(compute);
      return this.#openSession(compute, made, login);
    });
    const made: ComputePool = { endpointId, configuration, isEnding: false, ...login, pool };
    this.#pools.push(made);
    return pool;
  }

  /** @throws SessionError */
  async #openSession(
    compute: Compute,
    start: OfStart,
    startup: Readonly<Record<string, string>>,
  ): Promise<ServerSession> {
    const isOver = (): boolean => start.isEnding || this.#isOver(start);
    const session = await this.clusters.session(compute, startup).catch((error: unknown) => {
      throw isOver() ? wasEnded() : error;
    });
    // The compute may have been restarted, moved or deleted meanwhile: then the connection serves no query.
    if (!isOver()) return session;
    session.socket.destroy();
    throw wasEnded();
  }

  /** @throws SessionError */
  #take(compute: Compute, isPooled: boolean): Seat {
    if (this.#isClosed) throw wasEnded();
    const { endpoint } = compute;
    if (!isPooled) this.#requireFree(compute);
    else if (this.#seatsOf(endpoint.id).filter((seat) => seat.isPooled).length >= MAX_POOLED_CLIENTS) {
      throw new SessionError("08P01", "no more connections allowed (max_client_conn)");
    }
    const configuration = configurationOf(endpoint);
    const seat: Seat = { endpointId: endpoint.id, configuration, isPooled, isEnding: false };
    this.#seats.add(seat);
    return seat;
  }

  /**
   * A session of a pool that no client has makes room.
   * @throws SessionError if the compute has as many sessions as its size allows
   */
  #requireFree({ endpoint }: Compute): void {
    const limit = connectionLimit(endpoint);
    if (limit === undefined) return;
    const direct = this.#seatsOf(endpoint.id).filter(({ isPooled }) => !isPooled);
    const pools = this.#pools.filter(({ endpointId }) => endpointId === endpoint.id);
    if (pools.reduce((sum, { pool }) => sum + pool.size, direct.length) < limit) return;
    if (pools.some(({ pool }) => pool.shrink())) return;
    const size = `${endpoint.autoscaling_limit_max_cu} CU`;
    throw new SessionError("53300", `too many clients already: ${endpoint.id} of ${size} accepts ${limit} connections`);
  }

  #seatsOf(endpointId: string): Seat[] {
    return [...this.#seats].filter((seat) => seat.endpointId === endpointId);
  }

  #cancel(asked: { processId: number; secretKey: number }): void {
    const sessions = [...this.#seats].flatMap(({ session }) => session ?? []);
    sessions
      .find(({ processId, secretKey }) => processId === asked.processId && secretKey === asked.secretKey)
      ?.cancel();
  }

  /** The next change of the service's state. */
  #change(signal: AbortSignal): Promise<unknown> {
    return once(this.#changes, "change", { signal });
  }

  #follow(): void {
    if (this.#isClosed) return;
    void this.#end([...this.#seats].filter((seat) => !seat.isEnding && this.#isOver(seat)));
    const over = this.#pools.filter((pool) => this.#isOver(pool));
    this.#pools = this.#pools.filter((pool) => !over.includes(pool));
    for (const ended of over) {
      ended.isEnding = true;
      ended.pool.close();
    }
    this.#idleness.follow();
    this.#changes.emit("change");
  }

  /** Whether the record implies that earlier sessions have ended. */
  #isOver({ endpointId, configuration }: OfStart): boolean {
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
    const gone = Promise.all(sessions.map(({ closed }) => closed));
    for (const session of sessions) session.terminate(wasEnded());
    const released = Promise.all(sessions.map((session) => session.released));
    await Promise.race([released, delay(PATIENCE_MS, undefined, { ref: false })]);
    await Promise.race([gone, delay(LAST_WORDS_MS, undefined, { ref: false })]);
    for (const session of sessions) session.end();
  }
}

/** The error of the server, or of the failed connection to it. */
function asSessionError(error: unknown): SessionError {
  if (error instanceof SessionError) return error;
  return new SessionError("XX000", error instanceof Error ? error.message : String(error));
}
