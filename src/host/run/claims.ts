/** What the program declares, as the calls of one run show it (docs/design/rules.md, 4). */
import type { Claim } from "../../contract/claims";
import type { Properties } from "../../contract/hiddenKeys";
import { typeInUrn } from "../../contract/identifiers";
import { doorOf, type Kind } from "../../contract/pointer";
import type { Neighbours } from "./others";

/** What `check` saw of a resource of the program. It never runs in a refresh. */
export interface CheckedResource {
  readonly oldInputs: Properties;
  /** The engine replaces it, as far as its calls of `check` show. */
  readonly isReplacement: boolean;
  /** False for an update, and if the door does not know. */
  readonly isPreview: boolean;
  /** The paths of `ignoreChanges`. */
  readonly ignored: readonly string[];
  /**
   * The inputs of a resource that an update creates or replaces: for a replacement the engine calls `check` once more,
   * without the old inputs. Only a deletion shows a replacement that the engine plans without `diff`.
   */
  readonly newInputs: Properties | undefined;
  /** The option `retainOnDelete`, as far as the door knows it: the engine deletes nothing of it. */
  readonly retains: boolean;
  /** The option `deleteBeforeReplace`, as far as the door knows it. */
  readonly deletesFirst: boolean | undefined;
}

export class Claims {
  /** By URN. */
  readonly checked = new Map<string, CheckedResource>();
  readonly #claims = new Map<string, readonly Claim[]>();
  /** By object: the URN under which a refresh in this process found it in the state. */
  readonly #refreshed = new Map<string, string>();
  /** By kind: how many the program has said it declares, and the URNs of those that are new or were compared. */
  readonly #declared = new Map<Kind, number>();
  readonly #compared = new Map<Kind, Set<string>>();

  constructor(private readonly neighbours: Neighbours) {}

  /** Records what a resource declares. Returns what another resource also declares, and its URN. */
  declare(urn: string, claims: readonly Claim[]): { what: string; urn: string }[] {
    this.#claims.set(urn, claims);
    this.neighbours.others.tellClaims(urn, claims);
    const own = [...this.#claims].flatMap(([one, theirs]) => theirs.map((claim) => ({ urn: one, ...claim })));
    return claims.flatMap(({ object, what, shared = false }) => {
      const alike = [
        ...own.filter((claim) => claim.object === object),
        ...this.neighbours.certain(object).flatMap((one) => one.claims),
      ];
      const other = alike.find((claim) => claim.urn !== urn && !(shared && claim.shared === true));
      return other === undefined ? [] : [{ what, urn: other.urn }];
    });
  }

  /** Whether this process has looked at the resource with this URN. */
  has(urn: string): boolean {
    return this.#claims.has(urn);
  }

  /** The URNs of the resources that this run has looked at, in any process. */
  seen(): ReadonlySet<string> {
    return new Set([...this.#claims.keys(), ...this.neighbours.others.declared()]);
  }

  /** Whether a resource of the program declares such an object. */
  isDeclared(matches: (object: string) => boolean): boolean {
    return [...this.#claims.values()].some((claims) => claims.some(({ object }) => matches(object)));
  }

  /** The URN of a resource of the program that another kind of provider serves. One process serves one kind. */
  ofOtherDoor(urn: string): string | undefined {
    const door = doorOf(typeInUrn(urn));
    return this.neighbours.others.declared().find((other) => doorOf(typeInUrn(other)) !== door);
  }

  /** For a door that knows the paths of `ignoreChanges` only after `check`. */
  noteIgnored(urn: string, ignored: readonly string[]): void {
    const checked = this.checked.get(urn);
    if (checked !== undefined) this.checked.set(urn, { ...checked, ignored });
  }

  /** `declared`: see `PlannedRequest`. */
  noteDeclared(kind: Kind, declared: number): void {
    this.#declared.set(kind, Math.max(declared, this.#declared.get(kind) ?? 0));
  }

  /** Notes that a resource is new or was compared. */
  noteCompared(kind: Kind, urn: string): void {
    this.#compared.set(kind, (this.#compared.get(kind) ?? new Set()).add(urn));
  }

  /** Whether every resource of this kind is new or was compared. */
  hasComparedAll(kind: Kind): boolean {
    return (this.#compared.get(kind)?.size ?? 0) >= (this.#declared.get(kind) ?? Infinity);
  }

  /** Records what a resource of the state declares, as a refresh found it. The URN may predate an alias. */
  setRefreshed(urn: string, claims: readonly Claim[]): void {
    for (const { object, shared } of claims) if (shared !== true) this.#refreshed.set(object, urn);
  }

  /** The URN in the state of a resource that declares one of these, as a refresh in this process found it. */
  refreshedAs(claims: readonly Claim[]): string | undefined {
    return claims.map(({ object }) => this.#refreshed.get(object)).find((urn) => urn !== undefined);
  }
}
