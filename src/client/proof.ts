/**
 * The answers of look-ups to the questions that decide about a deletion, a replacement, an overwriting or an entry of a
 * state (docs/design/rules.md, 9). Each question has three answers, so nobody can take "not seen" for "no". Only
 * look-ups make them: the linter knows their files.
 */

/** The object is gone. */
export class Gone {
  readonly #how: string;

  private constructor(how: string) {
    this.#how = how;
  }

  /** @param how what proved it, for a trace: it does not end up in a message */
  static proven(how: string): Gone {
    return new Gone(how);
  }

  get how(): string {
    return this.#how;
  }
}

/** For an object that leaves nothing at the service which a request could delete. */
export const NOTHING_TO_DELETE = Gone.proven("nothing of it is at the service");

/** Yes: what was asked for may be done. */
export class Granted {
  readonly #isMade = true;

  private constructor() {
    void this.#isMade;
  }

  static proven(): Granted {
    return new Granted();
  }
}

/** No, and why: what was asked for must not be done. */
export class Refused {
  readonly #reason: Error;

  private constructor(reason: Error) {
    this.#reason = reason;
  }

  static proven(reason: Error): Refused {
    return new Refused(reason);
  }

  get error(): Error {
    return this.#reason;
  }
}

/** What a refusal says about a question that could not be answered. */
export interface NotSeen {
  /** The question, after "it is not known": `whether prj-1/ep-1 is gone`. */
  readonly question: string;
  /** What could not be seen, and why. */
  readonly why: string;
  /** What a person can do, as whole sentences without the last full stop. */
  readonly waysOut: string;
}

/** Thrown in place of what was asked for. */
export class NotKnownError extends Error {
  constructor(
    { question, why, waysOut }: NotSeen,
    override readonly cause?: unknown,
  ) {
    super(`it is not known ${question}: ${why}. ${waysOut}`);
    this.name = "NotKnownError";
  }
}

/** The error that a look-up could not see past; any other error is itself. */
export const behind = (error: unknown): unknown => (error instanceof NotKnownError ? error.cause : error);

/** Neither yes nor no: the look-up could not see. */
export class Unknown {
  readonly #error: NotKnownError;

  private constructor(error: NotKnownError) {
    this.#error = error;
  }

  static because(notSeen: NotSeen, cause?: unknown): Unknown {
    return new Unknown(new NotKnownError(notSeen, cause));
  }

  get error(): NotKnownError {
    return this.#error;
  }
}

/** Whether something may be deleted, replaced, overwritten or taken over. */
export type Permission = Granted | Refused | Unknown;

/** What a look-up for one object saw of it. */
export type Sighting<Item extends object> = Item | Gone | Unknown;

/** The object, or that it is gone. @throws NotKnownError if that is unknown. */
export function mustBeKnown<Item extends object>(seen: Sighting<Item>): Item | Gone {
  if (seen instanceof Unknown) throw seen.error;
  return seen;
}

/** @throws the reason, or what is not known, unless all of them grant it. */
export function requireGranted(...permissions: readonly Permission[]): void {
  for (const permission of permissions) if (!(permission instanceof Granted)) throw permission.error;
}
