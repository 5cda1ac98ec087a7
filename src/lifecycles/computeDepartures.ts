import { setTimeout as pause } from "node:timers/promises";
import { WaitTimeoutError, type Client, type Deadline, type Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";

/** How long the engine may take to begin with a sibling's change: it begins with those that depend on nothing at once. */
const SIBLING_STARTS_MS = 1_500;
const PAUSE_MS = 50;

/** A compute that this process is taking off its branch. */
interface Departure {
  /** The branch that it goes to; undefined: it is being deleted. */
  readonly to: string | undefined;
  /** Never rejects. */
  readonly over: Promise<void>;
}

const departures = new WeakMap<Client, Map<string, Departure>>();

function departuresOf(client: Client): Map<string, Departure> {
  const known = departures.get(client) ?? new Map<string, Departure>();
  departures.set(client, known);
  return known;
}

const keyOf = (projectId: string, endpointId: string) => `${projectId}/${endpointId}`;

/** Lets others who want the branch know that the compute leaves it, for as long as `work` takes. */
export async function whileLeaving<Result>(
  client: Client,
  projectId: string,
  endpointId: string,
  to: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const known = departuresOf(client);
  const key = keyOf(projectId, endpointId);
  const working = work();
  const over = working.then(
    () => undefined,
    () => undefined,
  );
  known.set(key, { to, over });
  try {
    return await working;
  } finally {
    known.delete(key);
  }
}

/** A branch's one primary (service.md 4.5, rule 1). A replica may stand first in a list: the type tells. */
export function primaryOf(endpoints: readonly Endpoint[], branchId: string): Endpoint | undefined {
  return endpoints.find((endpoint) => endpoint.type === "read_write" && endpoint.branch_id === branchId);
}

/** `refused`: the service has said that a primary stands there, so a list without one may lag. */
export function listForBranch(
  { client, deadline }: Call<never>,
  projectId: string,
  branchId: string,
  refused: boolean,
): Promise<Endpoint[]> {
  const shows = (endpoints: readonly Endpoint[]): boolean => primaryOf(endpoints, branchId) !== undefined;
  return client.listEndpoints(projectId, { fresh: true, deadline, ...(refused && { shows }) });
}

interface Wish {
  /** The compute that is to move there. */
  readonly wantedBy?: string;
  /** As for `listForBranch`. */
  readonly refused?: boolean;
}

export interface Look {
  readonly endpoints: Endpoint[];
  /** Who stays in the way. */
  readonly occupant: Endpoint | undefined;
  /** It would leave, but for the compute that wants its place: they go round in a circle. */
  readonly inCircle: boolean;
}

/**
 * Looks whether a branch is free for a primary. When the primary that stands there is being moved away or deleted in
 * this process as well (a chain of moves in one `up`), that is waited for; the engine may begin with it a moment later.
 * @throws when it is still leaving at the deadline.
 */
export async function lookAtBranch(
  call: Call<never>,
  projectId: string,
  branchId: string,
  { wantedBy, refused = false }: Wish = {},
): Promise<Look> {
  const { client, deadline, progress } = call;
  const leaving = departuresOf(client);
  const departureOf = ({ id }: Endpoint) => leaving.get(keyOf(projectId, id));
  const patience = performance.now() + SIBLING_STARTS_MS;
  for (;;) {
    const endpoints = await listForBranch(call, projectId, branchId, refused);
    const occupant = primaryOf(endpoints, branchId);
    if (occupant === undefined || occupant.id === wantedBy) return { endpoints, occupant: undefined, inCircle: false };
    while (departureOf(occupant) === undefined && performance.now() < patience) await pause(PAUSE_MS);
    const departure = departureOf(occupant);
    const inCircle = wantedBy !== undefined && leadsTo(wantedBy, occupant, endpoints, departureOf);
    if (departure === undefined || inCircle) return { endpoints, occupant, inCircle };
    progress(`waiting for ${occupant.id} to leave ${branchId}`);
    await within(deadline, departure.over);
    if (deadline.expired) {
      const after = `after ${Math.round(deadline.totalMs / 1_000)} s`;
      throw new WaitTimeoutError(`${occupant.id} was still leaving ${branchId} ${after}`, occupant.current_state);
    }
  }
}

function within(deadline: Deadline, over: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = deadline.onExpire(resolve);
    void over.then(() => {
      unsubscribe();
      resolve();
    });
  });
}

/** Whether each waits for the next one's branch, from the occupant back to who wants its place. */
function leadsTo(
  wantedBy: string,
  occupant: Endpoint,
  endpoints: readonly Endpoint[],
  departureOf: (endpoint: Endpoint) => Departure | undefined,
): boolean {
  let next: Endpoint | undefined = occupant;
  for (let steps = 0; next !== undefined && steps <= endpoints.length; steps += 1) {
    if (next.id === wantedBy) return true;
    const to: string | undefined = departureOf(next)?.to;
    next = to === undefined ? undefined : primaryOf(endpoints, to);
  }
  return false;
}
