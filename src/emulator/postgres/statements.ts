/** Prepared statements of a client whose transactions run on several sessions of the server. */
import { createHash } from "node:crypto";
import { HEAD, message, text } from "./protocol";
import type { PooledServer } from "./pool";

/** What a client has prepared: the rest of its Parse, and the name that says what this is on every session. */
interface Statement {
  readonly parse: Buffer;
  readonly nameOnServer: string;
}

/** An answer that the server will give, unless an error comes first. */
interface Expected {
  readonly type: "ParseComplete" | "CloseComplete" | "CommandComplete";
  /** The client did not ask for it. */
  readonly isHidden?: boolean;
  /** If it does not come. */
  readonly undo?: (() => void) | undefined;
  /** What the client has prepared by it. */
  readonly name?: string | undefined;
}

const isAnswer = (one: Expected | "ReadyForQuery" | "end of a COPY"): one is Expected => typeof one !== "string";

/** Any query may be one that discards all statements. */
const DISCARD: Expected = { type: "CommandComplete", undo: () => undefined };

const ANSWERS: Readonly<Record<string, Expected["type"]>> = { "1": "ParseComplete", "3": "CloseComplete" };
const endOf = (bytes: Buffer, at: number): number => bytes.indexOf(0, at);
/** Byte by byte, whichever encoding the client has. */
const nameAt = (bytes: Buffer, at: number): string => bytes.toString("latin1", at, endOf(bytes, at));

export class Statements {
  readonly #byName = new Map<string, Statement>();
  /** In the order of the answers. A batch ends with its ReadyForQuery. */
  readonly #expected: (Expected | "ReadyForQuery" | "end of a COPY")[] = [];

  /** Whether it can name a statement, and the answers to an earlier batch will say which there are. */
  mustWait(type: string | undefined): boolean {
    if (type === undefined || !"PBDC".includes(type)) return false;
    const earlier = this.#expected.slice(0, this.#expected.lastIndexOf("ReadyForQuery") + 1);
    return earlier.some((answer) => isAnswer(answer) && answer.undo !== undefined);
  }

  /** A message of the client, as the messages that the server gets. */
  toServer(server: PooledServer, type: string | undefined, bytes: Buffer): Buffer[] {
    switch (type) {
      case "Q":
        this.#expected.push(DISCARD, "ReadyForQuery");
        return [bytes];
      case "F":
      case "S":
        this.#expected.push("ReadyForQuery");
        return [bytes];
      case "c":
      case "f":
        if (this.#expected.length > 0) this.#expected.push("end of a COPY");
        return [bytes];
      case "P":
        return this.#parse(server, bytes);
      case "B":
        return this.#use(server, bytes, endOf(bytes, HEAD) + 1);
      case "D":
        return bytes.toString("latin1", HEAD, HEAD + 1) === "S" ? this.#use(server, bytes, HEAD + 1) : [bytes];
      case "C":
        this.#expected.push({ type: "CloseComplete", undo: this.#close(bytes) });
        return [bytes];
      default:
        return [bytes];
    }
  }

  /** Whether the client sees this message of the server. */
  isForClient(server: PooledServer, type: string, bytes: Buffer): boolean {
    const answer = ANSWERS[type];
    if (answer !== undefined) {
      const [first] = this.#expected;
      if (first === undefined || !isAnswer(first) || first.type !== answer) return true;
      this.#expected.shift();
      return first.isHidden !== true;
    }
    if (type === "Z") this.#endBatch();
    if (type === "G") this.#copyBegins();
    if (type === "C" && /^(DISCARD|DEALLOCATE) ALL\0/.test(bytes.toString("latin1", HEAD))) {
      server.statements.clear();
      // What the client has sent after it is prepared again.
      const later = new Set(this.#expected.map((one) => (isAnswer(one) ? one.name : undefined)));
      for (const name of this.#byName.keys()) if (!later.has(name)) this.#byName.delete(name);
    }
    return true;
  }

  /** While the server reads the data of a COPY, it ignores a Sync. */
  #copyBegins(): void {
    const [first] = this.#expected;
    if (first === DISCARD) return;
    const end = this.#expected.indexOf("end of a COPY");
    this.#expected.splice(0, end < 0 ? Infinity : end + 1);
  }

  /** After an error the server has skipped the rest of the batch. */
  #endBatch(): void {
    const skipped = this.#expected.splice(0, this.#expected.indexOf("ReadyForQuery") + 1);
    for (const answer of skipped.reverse()) if (isAnswer(answer)) answer.undo?.();
    while (this.#expected[0] === "end of a COPY") this.#expected.shift();
  }

  #parse(server: PooledServer, bytes: Buffer): Buffer[] {
    const end = endOf(bytes, HEAD);
    const name = nameAt(bytes, HEAD);
    if (name === "") {
      this.#expected.push({ type: "ParseComplete" });
      return [bytes];
    }
    const parse = Buffer.from(bytes.subarray(end + 1));
    const nameOnServer = `svc_${createHash("sha256").update(parse).digest("hex").slice(0, 32)}`;
    const undo = this.#restoring(name);
    this.#byName.set(name, { parse, nameOnServer });
    return this.#prepare(server, { parse, nameOnServer }, { name, undo });
  }

  #close(bytes: Buffer): (() => void) | undefined {
    if (bytes.toString("latin1", HEAD, HEAD + 1) !== "S") return undefined;
    const name = nameAt(bytes, HEAD + 1);
    const undo = this.#restoring(name);
    this.#byName.delete(name);
    return undo;
  }

  #restoring(name: string): () => void {
    const before = this.#byName.get(name);
    return () => {
      if (before === undefined) this.#byName.delete(name);
      else this.#byName.set(name, before);
    };
  }

  /** A message with the name of a statement at that place. */
  #use(server: PooledServer, bytes: Buffer, at: number): Buffer[] {
    const end = endOf(bytes, at);
    const statement = this.#byName.get(nameAt(bytes, at));
    // The server says so if there is none.
    if (statement === undefined) return [bytes];
    const type = bytes.toString("latin1", 0, 1);
    const renamed = message(type, bytes.subarray(HEAD, at), text(statement.nameOnServer), bytes.subarray(end + 1));
    if (server.statements.has(statement.nameOnServer)) return [renamed];
    return [...this.#prepare(server, statement), renamed];
  }

  /** The client expects no answer unless it has prepared it now. */
  #prepare(
    server: PooledServer,
    { parse, nameOnServer }: Statement,
    now?: { readonly name: string; readonly undo: () => void },
  ): Buffer[] {
    server.statements.add(nameOnServer);
    const undo = (): void => {
      server.statements.delete(nameOnServer);
      now?.undo();
    };
    this.#expected.push({ type: "CloseComplete", isHidden: true });
    this.#expected.push({ type: "ParseComplete", isHidden: now === undefined, undo, name: now?.name });
    // It may be there: the server has skipped what followed an error, or another client prepares the same.
    return [message("C", text(`S${nameOnServer}`)), message("P", text(nameOnServer), parse)];
  }
}
