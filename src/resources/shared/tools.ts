/** What commands know of a kind: they ask the table in resources/tools.ts, and name no kind. */
import type { Properties } from "../../contract/hiddenKeys";
import type { Kind } from "../../contract/pointer";

export interface Tools {
  /** For a kind that contains others (`container` in their declarations). */
  readonly contains?: Contents;
  /** The id of the object itself, from a Pulumi id that says more. */
  readonly objectId?: (id: string) => string;
  /** What `env` writes: the data to connect to an object or to sign users in. */
  readonly envSources?: readonly EnvSource[];
  /** The argument that decides which others exist: `drift --accept` changes all of them or none. */
  readonly form?: string;
  /** By property: why `drift --accept` leaves it to the person. */
  readonly byHand?: ReadonlyMap<string, string>;
}

/** What lives in the objects of a kind, and is deleted with them. */
export interface Contents {
  /** Whether an object of the same project lives in this container, by the outputs of both in a state. */
  readonly isHome: (container: Properties, inside: Properties) => boolean;
  /** The objects that a new container of the project starts with. */
  readonly fromTheStart: (projectId: string) => readonly { kind: Kind; id: string; name: string }[];
}

/** The login for a connection: no state contains it. */
export interface Login {
  readonly role?: string | undefined;
  readonly database?: string | undefined;
  readonly password?: string | undefined;
}

/** Placeholders for a connection string. Plain letters need no escaping in a URI. */
export const PLACEHOLDERS: Record<keyof Login, string> = { role: "ROLE", database: "DATABASE", password: "PASSWORD" };

/** The source of an environment variable. */
export interface EnvSource {
  readonly output: string;
  /** The output in the state. @default the same */
  readonly from?: string;
  readonly by?: (stored: string, login: Login) => string;
  /** Secret even if the state does not mark it. */
  readonly isSecret?: true;
  readonly isUri?: true;
  /** The service may not show it. */
  readonly isOptional?: true;
}
