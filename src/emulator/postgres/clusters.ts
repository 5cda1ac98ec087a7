import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StoredBranch, StoredEndpoint, StoredProject } from "../model/records";
import type { Store } from "../model/store";
import { Cluster, copyFiles, makeFolder, type ClusterOptions } from "./cluster";
import { clear, clearLeft, startGuard } from "./guard";
import { findPrograms, requireAccess } from "./programs";
import { SessionError } from "./protocol";
import type { ServerSession } from "./session";
import type { Compute } from "./target";
import { template } from "./template";
import { newTemporaryFolder } from "./temporaryFolders";
import { UsersSync } from "./usersSync";

/** A table that cannot be written keeps neither clients nor answers waiting for longer. */
const LONGEST_WAIT_MS = 5_000;
const REPLICA = ".replica";
/** Of a file: the branch is to have the data of another one. */
const COPYING = ".copying";
/** Of a branch, of its replica, or of what was being made or deleted. */
const CLUSTER_FOLDER = /^[\da-f]{16}(\.|$)/;
/** The path of a socket has at most 103 bytes, and stands in settings of Postgres. */
const FIT_FOR_SOCKETS = /^[\w/.+-]{1,54}$/;

interface BranchClusters {
  readonly project: StoredProject;
  readonly record: StoredBranch;
  readonly primary: Cluster;
  /** Serves all read replicas of the branch. */
  replica?: Cluster | undefined;
  readonly users: UsersSync;
  /** New branches that copy its data at the moment. */
  copies: number;
}

/** The clusters of all branches, which begin with the first connection to them and follow the model. */
export class Clusters {
  /** By record: a branch that exists again after a reset has the same id, but is another branch. */
  readonly #branches = new Map<StoredBranch, BranchClusters>();
  #isClosed = false;

  private constructor(
    private readonly store: Store,
    private readonly options: ClusterOptions,
    readonly folder: string,
  ) {
    this.follow();
    const branches = [...this.#branches.values()];
    const known = new Set(branches.map(({ project, record }) => nameOf(project, record)));
    for (const name of readdirSync(folder)) {
      if (CLUSTER_FOLDER.test(name) && !known.has(name.replace(COPYING, "")))
        rmSync(join(folder, name), { recursive: true });
    }
    for (const { primary } of branches) primary.requireVersion();
    // So that the first connection need not wait for it. If it fails, that connection says why.
    if (!branches.some(({ primary }) => primary.exists)) template(options.programs).catch(() => undefined);
    store.onChange(() => this.follow());
    store.onAnswer(async () => {
      await Promise.all([...this.#branches.values()].map(usersShown));
    });
  }

  /**
   * @param data the emulator's data file, beside which the clusters are kept; without one they end with the emulator
   * @throws an Error if there is no Postgres, or none that fits the data
   */
  static open(store: Store, data: string | undefined): Clusters {
    const programs = findPrograms();
    const short = FIT_FOR_SOCKETS.test(tmpdir()) ? tmpdir() : "/tmp";
    const sockets = newTemporaryFolder("sockets", short);
    const isKept = data !== undefined;
    const folder = isKept ? `${resolve(data)}.postgres` : newTemporaryFolder("postgres");
    const guard = startGuard(folder, isKept ? [sockets] : [sockets, folder]);
    try {
      makeFolder(sockets, programs);
      makeFolder(folder, programs);
      requireAccess(folder, programs);
      // Of an emulator that was killed together with its guard.
      if (isKept) void clear(folder, []);
      clearLeft([short, tmpdir()]).catch(() => undefined);
      return new Clusters(store, { programs, sockets, isKept, guard }, folder);
    } catch (error) {
      void guard.end();
      throw error;
    }
  }

  /** A session on a compute, with the client's startup parameters. */
  async session(compute: Compute, startup: Readonly<Record<string, string>>): Promise<ServerSession> {
    const branch = this.#branchOf(compute);
    const { primary, record } = branch;
    const { project, endpoint } = compute;
    await primary.start();
    if (!isReplica(endpoint)) {
      await usersShown(branch);
      return primary.session(startup);
    }
    // Meanwhile it may have lost its last replica.
    if (this.#isClosed || !neededComputes(branch).some(isReplica))
      throw new SessionError("57P01", `the compute ${endpoint.id} has ended`);
    const replica = (branch.replica ??= primary.standby(this.#path(project, record) + REPLICA));
    await replica.start();
    await usersShown(branch);
    return replica.session(startup);
  }

  /** For a client of a session that was there before. */
  usersShown(compute: Compute): Promise<void> {
    return usersShown(this.#branchOf(compute));
  }

  /** Call after each change of the model. */
  follow(): void {
    if (this.#isClosed) return;
    const now = new Map(
      this.store.projects.flatMap((project) => project.branches.map((record) => [record, project] as const)),
    );
    const known = new Set([...this.#branches.values()].map(({ project }) => project));
    for (const [record, { project, primary, replica }] of this.#branches) {
      if (now.has(record)) continue;
      this.#branches.delete(record);
      rmSync(this.#path(project, record) + COPYING, { force: true });
      removeAll(primary, replica);
    }
    for (const [record, project] of now) {
      if (!this.#branches.has(record)) this.#add(project, record, known.has(project));
    }
    for (const branch of this.#branches.values()) this.#settle(branch);
  }

  /** Ends all servers. What is not kept is deleted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const signal = this.options.isKept ? "SIGINT" : "SIGQUIT";
    const branches = [...this.#branches.values()];
    await Promise.all(branches.flatMap(({ primary, replica }) => [primary.close(signal), replica?.close("SIGQUIT")]));
    await this.options.guard.end();
  }

  /** @throws SessionError */
  #branchOf({ project, endpoint }: Compute): BranchClusters {
    const record = project.branches.find(({ id }) => id === endpoint.branch_id);
    const branch = record && this.#branches.get(record);
    if (branch !== undefined && !this.#isClosed) return branch;
    throw new SessionError("08004", `the branch ${endpoint.branch_id} does not exist`);
  }

  #path(project: StoredProject, record: StoredBranch): string {
    return join(this.folder, nameOf(project, record));
  }

  /** A branch begins with the data of the default branch, as at the service. */
  #add(project: StoredProject, record: StoredBranch, isLater: boolean): void {
    const path = this.#path(project, record);
    const mark = path + COPYING;
    const parent = project.branches.find((other) => other.default && other !== record);
    const isCopy = parent !== undefined && (existsSync(mark) || (isLater && existsSync(this.#path(project, parent))));
    const fill = async (folder: string): Promise<void> => {
      // Unless it was deleted meanwhile.
      const copied = isCopy ? this.#branches.get(parent) : undefined;
      if (copied !== undefined) return this.#copyRunning(copied, folder);
      const { programs } = this.options;
      return copyFiles(await template(programs), folder, programs);
    };
    const primary = new Cluster(this.options, path, fill);
    const users = new UsersSync(project, record, primary);
    this.#branches.set(record, { project, record, primary, users, copies: 0 });
    if (!isCopy) return;
    // Until it is copied, so that a start after a kill goes on.
    writeFileSync(mark, "");
    primary
      .make()
      .then(() => rmSync(mark, { force: true }))
      .catch((error: Error) => {
        if (this.#isClosed || !this.#branches.has(record)) return;
        process.emitWarning(`the data of ${record.id} is not copied yet: ${error.message}`);
      });
  }

  async #copyRunning(branch: BranchClusters, folder: string): Promise<void> {
    branch.copies += 1;
    try {
      await branch.primary.copyTo(folder);
    } finally {
      branch.copies -= 1;
      this.#settle(branch);
    }
  }

  /** Stops what no compute needs, and lets the table of users follow. */
  #settle(branch: BranchClusters): void {
    const { primary, replica, users, copies } = branch;
    const needed = neededComputes(branch);
    if (!needed.some(isReplica)) {
      branch.replica = undefined;
      removeAll(replica);
    }
    if (needed.length === 0 && copies === 0) void primary.stop();
    else if (primary.isRunning) users.follow();
  }
}

const neededComputes = ({ project, record }: BranchClusters): StoredEndpoint[] =>
  project.endpoints.filter(
    ({ branch_id, current_state, pending_state }) =>
      branch_id === record.id && (current_state === "active" || pending_state !== undefined),
  );
const isReplica = ({ type }: StoredEndpoint): boolean => type === "read_only";

/** Resolves when the clients of the branch find the users of the model, also on its replica. Never fails. */
async function usersShown({ users, replica }: BranchClusters): Promise<void> {
  // A server may end meanwhile.
  const done = users.upToDate(replica).catch(() => undefined);
  await Promise.race([done, delay(LONGEST_WAIT_MS, undefined, { ref: false })]);
}

/** Requests neither wait for it nor fail because of it. The next start deletes what is left. */
function removeAll(...clusters: readonly (Cluster | undefined)[]): void {
  Promise.all(clusters.map((cluster) => cluster?.remove())).catch((error: Error) =>
    process.emitWarning(`a Postgres that nobody needs could not be deleted: ${error.message}`),
  );
}

const nameOf = ({ id: projectId }: StoredProject, { id }: StoredBranch): string =>
  createHash("sha256")
    .update(JSON.stringify([projectId, id]))
    .digest("hex")
    .slice(0, 16);
