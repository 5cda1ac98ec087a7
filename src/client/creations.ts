import { lookFor } from "./lookFor";
import type { EndpointAttributes } from "./options";
import type { Endpoint } from "./schemas";

/** How many of the sent attributes the compute shows. */
function likeness(endpoint: Endpoint, attributes: EndpointAttributes): number {
  return Object.entries(attributes).filter(([name, value]) => endpoint[name] === value).length;
}

function couldBe(endpoint: Endpoint, { branch_id, type, name }: EndpointAttributes): boolean {
  const same = endpoint.branch_id === branch_id && (type === undefined || endpoint.type === type);
  return same && (name === undefined || endpoint.name === name);
}

/**
 * The creations of one project. Siblings on one branch look alike, so a compute that a lost answer may have been about must not be
 * one that a sibling was told of.
 */
export class Creations {
  /** Requests whose answer is still to come: theirs may stand in a list already. */
  #sending = 0;
  readonly #claimed = new Set<string>();

  async sending<T extends { endpoint: Endpoint }>(send: () => Promise<T>): Promise<T> {
    this.#sending += 1;
    try {
      const answer = await send();
      this.#claimed.add(answer.endpoint.id);
      return answer;
    } finally {
      this.#sending -= 1;
    }
  }

  /** A compute that was not there before and that nobody else has claimed. */
  async find(
    list: () => Promise<readonly Endpoint[]>,
    attributes: EndpointAttributes,
    known: readonly Endpoint[],
    lookMs: number,
  ): Promise<Endpoint | undefined> {
    const before = new Set(known.map(({ id }) => id));
    let judged = false;
    const look = async (): Promise<Endpoint | undefined> => {
      const listed = await list();
      judged = this.#sending === 0;
      if (!judged) return undefined;
      const candidates = listed.filter(({ id }) => !before.has(id) && !this.#claimed.has(id));
      const fitting = candidates.filter((endpoint) => couldBe(endpoint, attributes));
      const [best] = fitting.sort((a, b) => likeness(b, attributes) - likeness(a, attributes));
      if (best !== undefined) this.#claimed.add(best.id);
      return best;
    };
    return lookFor(look, lookMs, () => judged);
  }
}
