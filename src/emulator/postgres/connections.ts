/** The connections of the gate, for those who watch them: without keys, passwords and queries. */
import type { AcceptedKey } from "../http/access";
import type { SessionError } from "./protocol";

const KEPT_REFUSALS = 100;
/** A client chooses these texts. */
const LONGEST_TEXT = 200;

/** Texts of a startup message, as far as they are known. */
type Claims = Partial<Record<"endpoint_id" | "role" | "database" | "application_name", string>>;

interface Seen {
  /** ISO 8601: when the client came. */
  readonly since: string;
  /** Null as long as the client has not said it. */
  readonly endpoint_id: string | null;
  readonly role: string | null;
  readonly database: string | null;
  readonly application_name: string | null;
}

export interface OpenConnection extends Seen {
  /** `waiting`: for the compute to be active. `busy`: with a query, or in a transaction. */
  readonly state: "authenticating" | "waiting" | "busy" | "idle";
}

export interface RefusedConnection extends Seen {
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
}

/** `left`: it was neither opened nor refused, because the client did not wait. */
export type ConnectionEvent = { readonly ms: number } & (
  ({ readonly what: "opened" | "closed" | "left" } & Seen) | ({ readonly what: "refused" } & RefusedConnection)
);

/** Undefined: only what was known before has changed. */
type Listener = (event?: ConnectionEvent) => void;

/** A connection from its arrival to its end. */
export interface Connection {
  /** Call when more is known. */
  claims(claims: Claims): void;
  waits(): void;
  opened(isBusy: () => boolean): void;
  refused(reason: SessionError): void;
  closed(): void;
}

export class Connections {
  /** Each by a function that looks at it. */
  readonly #open = new Set<() => OpenConnection>();
  #refused: RefusedConnection[] = [];
  #refusals = 0;
  readonly #listeners: Listener[] = [];

  constructor(private readonly key: AcceptedKey) {}

  arrived(): Connection {
    const cameAt = Date.now();
    let seen: Seen = {
      ...{ since: new Date(cameAt).toISOString(), endpoint_id: null },
      ...{ role: null, database: null, application_name: null },
    };
    let state = (): OpenConnection["state"] => "authenticating";
    let isOpen = false;
    const look = (): OpenConnection => ({ ...seen, state: state() });
    const soFar = (): { ms: number } & Seen => ({ ms: Date.now() - cameAt, ...seen });
    return {
      claims: (claims) => {
        const shown = Object.entries(claims).map(([name, text]) => [name, this.#shown(text)]);
        seen = { ...seen, ...Object.fromEntries(shown) };
        this.#open.add(look);
        this.#changed();
      },
      waits: () => {
        state = () => "waiting";
        this.#changed();
      },
      opened: (isBusy) => {
        state = () => (isBusy() ? "busy" : "idle");
        isOpen = true;
        this.#changed({ what: "opened", ...soFar() });
      },
      refused: ({ code, message }) => {
        this.#open.delete(look);
        const refusal = { ...seen, code, message: this.#shown(message) };
        this.#refused = [...this.#refused, refusal].slice(-KEPT_REFUSALS);
        this.#refusals += 1;
        this.#changed({ what: "refused", ...soFar(), ...refusal });
      },
      closed: () => {
        if (this.#open.delete(look)) this.#changed({ what: isOpen ? "closed" : "left", ...soFar() });
      },
    };
  }

  get count(): number {
    return this.#open.size;
  }

  open(): OpenConnection[] {
    return [...this.#open].map((look) => look());
  }

  /** Oldest first, each with its number; the first one since the start has number 0. */
  refused(): [number: number, refusal: RefusedConnection][] {
    const first = this.#refusals - this.#refused.length;
    return this.#refused.map((refusal, index) => [first + index, refusal]);
  }

  /** Forgets those that were refused. */
  clear(): void {
    this.#refused = [];
    this.#changed();
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #changed(event?: ConnectionEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** A client may have put the key in the wrong place. */
  #shown(text: string): string {
    const line = text.replaceAll(this.key.current, "[key]").replace(/\p{Cc}/gu, " ");
    return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
  }
}
