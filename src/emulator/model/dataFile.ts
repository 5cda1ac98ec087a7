import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { ProjectLists, StoredProject } from "./records";

const FORMAT = 1;
const SAVE_DELAY_MS = 50;

/** What each record of a list has at least. */
const REQUIRED: Readonly<Record<keyof ProjectLists, readonly string[] | "text">> = {
  branches: ["id", "name"],
  endpoints: ["id", "branch_id", "host", "current_state"],
  deleted_endpoints: "text",
  operations: ["id", "action", "status"],
  integrations: ["auth_provider", "branch_id", "db_name", "role_name"],
  key_sets: ["auth_provider", "pub_client_key"],
  oauth_providers: ["id", "type"],
  domains: ["domain"],
  users: ["id", "email"],
  kept_schemas: "text",
};
const record = (names: readonly string[]): z.ZodType =>
  z.looseObject(Object.fromEntries(names.map((name) => [name, z.string()])));
/** A missing list belongs to a later version than the file, so it is empty. */
const lists = Object.fromEntries(
  Object.entries(REQUIRED).map(([name, of]) => [name, z.array(of === "text" ? z.string() : record(of)).default([])]),
);

/** Enough to recognise an emulator's file; the format number implies correct fields of the records. */
const fileSchema = z.object({
  format: z.literal(FORMAT),
  projects: z.array(
    z.looseObject({
      ...lists,
      id: z.string(),
      email_server: z.looseObject({ type: z.enum(["shared", "standard"]) }),
    }),
  ),
});

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The state on disk. It contains client secrets and SMTP passwords, so only its owner may read it. */
export class DataFile {
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly path: string,
    private readonly projects: () => StoredProject[],
  ) {}

  /** The saved projects; undefined if the file does not exist yet. */
  load(): StoredProject[] | undefined {
    if (!existsSync(this.path)) return undefined;
    let content: unknown;
    try {
      content = JSON.parse(readFileSync(this.path, "utf8"));
    } catch (error) {
      // The parser's message quotes the file, which contains secrets.
      const why = error instanceof SyntaxError ? "it is not JSON" : reason(error);
      throw new Error(`cannot read the data file "${this.path}": ${why}`);
    }
    const result = fileSchema.safeParse(content);
    if (!result.success) throw new Error(`the data file "${this.path}" was not written by this emulator`);
    // The format number implies that save() wrote these records.
    return result.data.projects as unknown as StoredProject[];
  }

  /** Saves a last time: a request still in progress must not write after the emulator was closed. */
  close(): void {
    this.closed = true;
    this.save();
  }

  /** Saves soon, once for a burst of changes. */
  saveSoon(): void {
    if (this.closed) return;
    this.timer ??= setTimeout(() => {
      try {
        this.save();
      } catch (error) {
        // An error thrown from a timer would end the process that runs the emulator.
        process.emitWarning(reason(error));
      }
    }, SAVE_DELAY_MS).unref();
  }

  /** Saves now. A reader finds the old or the new state, never a part of it. */
  save(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const temporary = `${this.path}.${process.pid}.tmp`;
    try {
      const content = { format: FORMAT, projects: this.projects() };
      // In a folder that others can write to, the existing file may be theirs: a link, or a file that they can read.
      rmSync(temporary, { force: true });
      writeFileSync(temporary, JSON.stringify(content), { mode: 0o600, flag: "wx" });
      renameSync(temporary, this.path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw new Error(`cannot write the data file "${this.path}": ${reason(error)}`);
    }
  }
}
