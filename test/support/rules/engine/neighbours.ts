import { Granted } from "../../../../src/client";
import type { Claim } from "../../../../src/contract/claims";
import type { Others, Stored, ToldState } from "../../../../src/host/memory";

/** What the provider processes of one imitated command tell each other, without files. */
export class Neighbours {
  readonly #all: Neighbour[] = [];

  /** One more process. */
  add(): Others {
    const own: Neighbour = new Neighbour(() => this.#all.filter((one) => one !== own));
    this.#all.push(own);
    return own;
  }
}

class Neighbour implements Others {
  readonly #claims = new Map<string, readonly Claim[]>();
  readonly #stored = new Map<string, Stored>();
  readonly #states = new Map<string, ToldState>();
  #failed: string | undefined;

  constructor(private readonly others: () => readonly Neighbour[]) {}

  tellClaims(urn: string, claims: readonly Claim[]): void {
    this.#claims.set(urn, claims);
  }

  tellStored(urn: string, stored: Stored): void {
    this.#stored.set(urn, stored);
  }

  tellState(object: string, state: ToldState): void {
    this.#states.set(object, state);
  }

  tellFailed(urn: string): void {
    this.#failed = urn;
  }

  failed(): string | undefined {
    return this.others()
      .map((one) => one.#failed)
      .find((urn) => urn !== undefined);
  }

  of(object: string) {
    return this.others().map((one) => ({
      claims: [...one.#claims].flatMap(([urn, claims]) =>
        claims.filter((claim) => claim.object === object).map(({ shared }) => ({ urn, shared })),
      ),
      holders: [...one.#stored]
        .filter(([, { objects }]) => objects.includes(object))
        .map(([urn, { stateUrn }]) => ({ urn, stateUrn })),
      state: one.#states.get(object) ?? { isLeaving: false, isDeleted: false },
      doubt: undefined,
    }));
  }

  permission() {
    return Granted.proven();
  }

  unheard(): undefined {}

  declaredByProgram(): [] {
    return [];
  }

  isOfProgram(): boolean {
    return false;
  }

  declared(): string[] {
    return this.others().flatMap((one) => [...one.#claims.keys()]);
  }
}
