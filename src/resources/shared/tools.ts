/** What commands know of a kind: they ask the table in resources/tools.ts, and name no kind. */
import type { BranchRecord, Client, Deadline, Destruction, ListOptions, Permission } from "../../client";
import type { Properties } from "../../contract/hiddenKeys";
import type { Kind } from "../../contract/pointer";

export interface Tools {
  /** Lists its objects in a project with one request. A text: why `import` and `drift --unmanaged` omit them. */
  readonly list: ((asked: Asked) => Promise<readonly ProjectObject[]>) | string;
  /** Every project has this list: asked first and alone, it shows whether the project exists. */
  readonly isListedFirst?: true;
  /** For a kind that contains others (`container` in their declarations). */
  readonly contains?: Contents;
  /** For a kind whose resource declares all objects of another kind in its project. */
  readonly gathers?: Gathering;
  /** The id of the object itself, from a Pulumi id that says more. */
  readonly objectId?: (id: string) => string;
  /** The lines above the resource in the program that `import` writes. */
  readonly comment?: readonly string[];
  /** The key of an imported secret in the configuration. @default from the names of the resource and the argument */
  readonly configurationKey?: string;
  /** What `env` writes: the data to connect to an object or to sign users in. */
  readonly envSources?: readonly EnvSource[];
  /** The argument that decides which others exist: `drift --accept` changes all of them or none. */
  readonly form?: string;
  /** By property: why `drift --accept` leaves it to the person. */
  readonly byHand?: ReadonlyMap<string, string>;
}

/** Of a kind that other kinds name as their container. */
export interface ContainerTools extends Tools {
  readonly contains: Contents;
}

/** What is asked of a project. */
export interface Asked {
  readonly client: Client;
  readonly projectId: string;
  /** The configured auth provider: objects of another one mention it. */
  readonly authProvider: string;
  readonly options: ListOptions;
}

/** An object at the service, as a resource that can be imported. */
export interface ImportableObject {
  readonly kind: Kind;
  /** The Pulumi id of the resource for this object. */
  readonly id: string;
  /** For users, such as `read_write compute ep-1 on br-main, 1 CU`. */
  readonly describe: string;
  /** Names for the resource, the best first. None: a project has only one of its kind, and `word` is its name. */
  readonly names: (naming: Naming) => readonly string[];
  /** Tells resources apart that would have the same name. */
  readonly word: string;
  /** The auth provider that the service shows with it. */
  readonly authProvider?: string | undefined;
  /** The arguments that the service does not show and an import has to declare, and whether each is a secret. */
  readonly hidden?: ReadonlyMap<string, boolean>;
  /** What a read needs to find the object, and the parts of it that are set: it shows only parts that are managed. */
  readonly managed?: Properties;
}

/** An object at the service that a resource of this package can manage. */
export interface ProjectObject extends ImportableObject {
  /** How a program adopts it: arguments such as `adopt: true`, or a sentence if no argument is needed. */
  readonly adopt: string;
  /** The arguments without which a program cannot adopt it. */
  readonly identity: Properties;
  /** Keeps its place in a list when another object is created. */
  readonly createdAt?: string | undefined;
  /** For a container: its own id, which another one with the same Pulumi id does not have. */
  readonly ownId?: string;
  /** Objects of several auth providers may have this Pulumi id: the provider tells them apart. */
  readonly sharesId?: true;
  /**
   * A new project has this object, and it is harmless, if this branch is the default one. The shared OAuth providers of
   * a new integration are not harmless: users can sign in with them.
   */
  readonly comesWithBranch?: string;
  /** For a kind of which `sweep` deletes what previews have left behind. */
  readonly leftover?: (around: Surroundings) => Leftover;
}

/** What a command makes names of. */
export interface Naming {
  /** `Reports (v2)` becomes `reports-v2`. */
  readonly kebab: (text: string) => string;
  /** A branch's name or id, as a part of a name. */
  readonly branch: (id: string) => string;
}

/** What lives in the objects of a kind, and is deleted with them. */
export interface Contents {
  /** For messages, such as `integration`. */
  readonly noun: string;
  /** Whether an object of the same project lives in this container, by the outputs of both in a state. */
  readonly isHome: (container: Properties, inside: Properties) => boolean;
  /** The objects that a new container of the project starts with. */
  readonly fromTheStart: (projectId: string) => readonly { kind: Kind; id: string; name: string }[];
  /** What `import` cannot take over with a container of this name in the program. */
  readonly notImported: (name: string) => readonly string[];
}

/** One resource for all objects of another kind. Its Pulumi id is the project. */
export interface Gathering {
  readonly kind: Kind;
  /** The option of `import` that asks for it. */
  readonly option: "whitelist";
  /** For messages, such as `domains`. */
  readonly noun: string;
  readonly gathered: (projectId: string, count: number) => ImportableObject;
}

/** What lies around an object. */
export interface Surroundings {
  readonly objects: readonly ProjectObject[];
  /** Undefined: the service does not list branches. */
  readonly branches: readonly BranchRecord[] | undefined;
}

/** What `sweep` has to know of an object, and how it deletes it. */
export interface Leftover {
  /** The names to recognise it by. Undefined: some are not known, so it may be meant. */
  readonly names: readonly string[] | undefined;
  /** Why it stays, whatever the states hold. */
  readonly stays: string | undefined;
  /** What a state that uses the object contains. `how`: what that state does, in words. */
  readonly usedAs: readonly { readonly text: string; readonly how?: string }[];
  /** The texts that may contain the name of an open branch. */
  readonly branchTexts: readonly (string | undefined)[];
  /** The name of its branch. */
  readonly branch?: string | undefined;
  /** Undefined: the service does not show it. */
  readonly createdAt?: string | undefined;
  /** Whatever else shows that it is not the object of before. */
  readonly facts: unknown;
  /** Whether it is still the object that was shown. */
  isSame(reading: Reading): Promise<Permission>;
  delete(destruction: Destruction): Promise<void>;
}

export interface Reading extends Pick<Destruction, "onProgress"> {
  readonly deadline: Deadline;
  readonly since: number;
}

/** Why a deletion is not sent: the object is gone. */
export class GoneError extends Error {}
/** Why a deletion is not sent: it is not the object that was shown. */
export class ChangedError extends Error {}

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
