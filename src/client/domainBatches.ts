import { Deadline } from "./deadline";
import { BadRequestError, ConflictError, NotFoundError } from "./errors";
import { sleep } from "./within";

/** A batch departs when none has joined it for this long. */
const WINDOW_MS = 200;
const LONGEST_WINDOW_MS = 2_000;

/** Deletes these domains in one call; throws when the call as a whole failed. */
export type DeleteDomains = (
  projectId: string,
  domains: string[],
  authProvider: string,
  deadline: Deadline,
) => Promise<void>;

interface Member {
  domains: readonly string[];
  deadline: Deadline;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Deletions that come close together, or while one is under way, travel in one call: the route takes many domains. */
export class DomainBatches {
  readonly #gathering = new Map<string, Member[]>();
  /** The end of the last call of each project. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #delete: DeleteDomains;

  constructor(deleteDomains: DeleteDomains) {
    this.#delete = deleteDomains;
  }

  add(projectId: string, domains: readonly string[], authProvider: string, deadline: Deadline): Promise<void> {
    return new Promise((resolve, reject) => {
      const key = JSON.stringify([projectId, authProvider]);
      const member = { domains, deadline, resolve, reject };
      const members = this.#gathering.get(key);
      if (members !== undefined) return void members.push(member);
      this.#gathering.set(key, [member]);
      void this.#depart(key, projectId, authProvider);
    });
  }

  async #depart(key: string, projectId: string, authProvider: string): Promise<void> {
    const began = performance.now();
    // The engine's calls come one by one, as fast as it starts them.
    for (let joined = 0; joined !== this.#sizeOf(key) && performance.now() - began < LONGEST_WINDOW_MS;) {
      joined = this.#sizeOf(key);
      await sleep(WINDOW_MS);
    }
    for (let before = this.#underWay.get(projectId); before !== undefined; before = this.#underWay.get(projectId))
      await before;
    const members = this.#gathering.get(key) ?? [];
    this.#gathering.delete(key);
    const trip = this.#travel(members, projectId, authProvider).finally(() => this.#underWay.delete(projectId));
    this.#underWay.set(projectId, trip);
  }

  #sizeOf(key: string): number {
    return this.#gathering.get(key)?.length ?? 0;
  }

  async #travel(members: readonly Member[], projectId: string, authProvider: string): Promise<void> {
    const send = (some: readonly Member[]): Promise<void> => {
      const domains = [...new Set(some.flatMap((member) => member.domains))];
      // As patient as the most patient of them: the others leave by their own deadlines.
      const longestMs = Math.max(...some.map(({ deadline }) => deadline.remainingMs()));
      return this.#delete(projectId, domains, authProvider, new Deadline(longestMs));
    };
    try {
      await send(members);
      for (const { resolve } of members) resolve();
    } catch (error) {
      const refused = [BadRequestError, ConflictError, NotFoundError].some((kind) => error instanceof kind);
      if (members.length === 1 || !refused) return members.forEach(({ reject }) => reject(error));
      // One member's domain may have spoilt it for all: each gets its own outcome.
      for (const member of members) await send([member]).then(member.resolve, member.reject);
    }
  }
}
