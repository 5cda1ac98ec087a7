import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { psqlProgram } from "./postgres";

/** An open connection. Errors contain the SQLSTATE and the message that the client has shown. */
export interface Visit {
  /** The first column of the first row of the last statement. */
  ask(sql: string): Promise<string>;
  /** How the connection has ended, without a query. Pending while it is open. */
  end(): Promise<string>;
  close(): Promise<void>;
}

/** A type of client: opens a connection, or fails with the server's message. */
export type Visitor = (uri: string) => Promise<Visit>;

const wordsOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return `${typeof code === "string" ? code : ""}: ${error instanceof Error ? error.message : String(error)}`;
};

const visits = new Set<Visit>();

/** Closes all open connections. */
export async function endVisits(): Promise<void> {
  await Promise.all([...visits].map((visit) => visit.close()));
}

const pg: Visitor = async (uri) => {
  const client = new Client({ connectionString: uri });
  const end = new Promise<string>((resolve) => client.once("error", (error) => resolve(wordsOf(error))));
  client.on("error", () => undefined);
  await client.connect().catch((error: unknown) => {
    throw new Error(wordsOf(error));
  });
  const visit = {
    end: () => end,
    ask: async (sql: string) => {
      try {
        // Each statement of a query has a result.
        const results = [await client.query<unknown[]>({ text: sql, rowMode: "array" })].flat();
        return String(results.at(-1)?.rows[0]?.[0]);
      } catch (error) {
        throw new Error(wordsOf(error));
      }
    },
    close: async () => {
      visits.delete(visit);
      await client.end();
    },
  };
  visits.add(visit);
  return visit;
};

/**
 * Runs until its connection or a query fails, and reports the message (with the SQLSTATE, unless connecting failed).
 */
class Psql implements Visit {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly ended: Promise<unknown>;
  private out = "";
  private said = "";

  constructor(uri: string) {
    const flags = ["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"];
    const environment = { ...process.env, PGCONNECT_TIMEOUT: "60" };
    this.child = spawn(psqlProgram() ?? "psql", [uri, ...flags], { env: environment });
    this.child.stdin.on("error", () => undefined); // it has ended
    this.child.stdout.on("data", (chunk: Buffer) => (this.out += String(chunk)));
    this.child.stderr.on("data", (chunk: Buffer) => (this.said += String(chunk)));
    this.ended = new Promise((resolve) => this.child.once("close", resolve));
    visits.add(this);
  }

  async ask(sql: string): Promise<string> {
    const mark = randomUUID();
    const begun = this.out.length;
    this.child.stdin.write(`${sql};\n\\echo ${mark}\n`);
    await Promise.race([this.ended, this.printed(mark)]);
    const [answer, marked] = this.out.slice(begun).split(mark);
    if (marked === undefined) throw new Error(this.said);
    return (answer ?? "").split("\n")[0] ?? "";
  }

  /** psql checks its connection only when it sends something. */
  async end(): Promise<string> {
    for (;;) {
      const words = await this.ask("select 1").then(() => undefined, wordsOf);
      if (words !== undefined) return words;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async close(): Promise<void> {
    visits.delete(this);
    this.child.kill();
    await this.ended;
  }

  private async printed(mark: string): Promise<void> {
    while (!this.out.includes(mark)) await new Promise((resolve) => this.child.stdout.once("data", resolve));
  }
}

const psql: Visitor = async (uri) => {
  const visit = new Psql(uri);
  await visit.ask("select 1");
  return visit;
};

/** By name. Only psql's message for a refused connection has no SQLSTATE. */
export const VISITORS = { pg, psql } as const;
export type VisitorName = keyof typeof VISITORS;

/** `test`, or its skip if the client is not installed. */
export const testOf = (name: VisitorName): jest.It =>
  name === "psql" && psqlProgram() === undefined ? test.skip : test;

/** Expects that the client is refused. psql shows no SQLSTATE for a refused connection. */
export async function expectRefused(
  name: VisitorName,
  uri: string,
  code: string,
  words: string | RegExp,
): Promise<void> {
  const error = await VISITORS[name](uri).then(
    () => "it was not refused",
    (reason: Error) => reason.message,
  );
  expect(error).toMatch(words);
  if (name === "pg") expect(error).toContain(`${code}: `);
}
