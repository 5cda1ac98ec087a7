/**
 * What the provider processes of one run know of each other (docs/design/rules.md, 4): the engine starts one for each
 * explicit Provider. Each appends to a file of its own what its memory learns, and reads on in the files of the others
 * when it asks. A file counts as long as its process lives.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { Claim, Elsewhere, Others, Stored, ToldState } from "./memory";

/** A line of a file. Objects are digests: their names may contain what a program keeps secret. */
type Told =
  | readonly ["claims", string, readonly Pick<Claim, "object" | "shared">[]]
  | readonly ["stored", string, Stored]
  | readonly ["state", string, ToldState];

export class OtherProcesses implements Others {
  /** By the name of the file. */
  readonly #readings = new Map<string, Reading>();

  private constructor(
    private readonly folder: string,
    /** What the names of the files of this run begin with. */
    private readonly run: string,
    private readonly own: string,
  ) {}

  /**
   * `run`: what the processes of one run have in common, and no other run has. Undefined if the folder of temporary files
   * cannot be used, or does not belong to this user alone.
   */
  static of(run: string, temporary = tmpdir()): OtherProcesses | undefined {
    const uid = process.getuid?.();
    const folder = join(temporary, uid === undefined ? "pulumi-svc" : `pulumi-svc-${uid}`);
    const machine = digestOf(MACHINE);
    const prefix = `${machine}-${digestOf(run)}-`;
    const own = `${prefix}${process.pid}-${randomUUID()}`;
    try {
      mkdirSync(folder, { mode: 0o700, recursive: true });
      const found = lstatSync(folder);
      // On Windows the folder of temporary files belongs to the user, and a file has no mode.
      const isOurs = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
      if (!found.isDirectory() || !isOurs) return undefined;
      writeFileSync(join(folder, own), "", { mode: 0o600 });
      // A process may end at any moment, so what it has left goes with the next one.
      for (const name of readdirSync(folder))
        if (name.startsWith(machine) && !isOfLiving(name)) rmSync(join(folder, name), { force: true });
      return new OtherProcesses(folder, prefix, own);
    } catch {
      return undefined;
    }
  }

  tellClaims(urn: string, claims: readonly Claim[]): void {
    const told = claims.map(({ object, shared }) => ({ object: digestOf(object), ...(shared && { shared }) }));
    this.#tell("claims", urn, told);
  }

  tellStored(urn: string, { stateUrn, objects }: Stored): void {
    this.#tell("stored", urn, { stateUrn, objects: objects.map(digestOf) });
  }

  tellState(object: string, state: ToldState): void {
    this.#tell("state", digestOf(object), state);
  }

  of(object: string): Elsewhere[] {
    const read = this.#read();
    if (read.length === 0) return [];
    const digest = digestOf(object);
    return read.map((reading) => reading.of(digest));
  }

  declared(): string[] {
    return this.#read().flatMap((reading) => reading.declared());
  }

  #tell(...told: Told): void {
    try {
      appendFileSync(join(this.folder, this.own), `${JSON.stringify(told)}\n`);
    } catch {
      // A full disk takes away what the others would have known, not the run.
    }
  }

  /** What the others have told until now. */
  #read(): Reading[] {
    return this.#names().map((name) => {
      const reading = this.#readings.get(name) ?? new Reading(join(this.folder, name));
      this.#readings.set(name, reading);
      reading.readOn();
      return reading;
    });
  }

  #names(): string[] {
    try {
      const others = readdirSync(this.folder).filter((name) => name.startsWith(this.run) && name !== this.own);
      return others.filter(isOfLiving);
    } catch {
      return [];
    }
  }
}

/** What the file of another process has told so far. */
class Reading {
  readonly #claims = new ByObject<{ readonly shared?: boolean | undefined }>();
  readonly #stored = new ByObject<{ readonly stateUrn: string }>();
  readonly #states = new Map<string, ToldState>();
  /** The end of the last whole line. */
  #end = 0;

  constructor(private readonly file: string) {}

  readOn(): void {
    const text = textFrom(this.file, this.#end);
    const lines = text.subarray(0, text.lastIndexOf("\n") + 1);
    this.#end += lines.length;
    for (const line of lines.toString("utf8").split("\n")) this.#learn(toldIn(line));
  }

  declared(): string[] {
    return this.#claims.urns();
  }

  of(object: string): Elsewhere {
    return {
      claims: this.#claims.of(object),
      holders: this.#stored.of(object),
      state: this.#states.get(object) ?? {},
    };
  }

  #learn(told: Told | undefined): void {
    if (told === undefined) return;
    const [sort, name, what] = told;
    if (sort === "claims") this.#claims.set(name, new Map(what.map(({ object, shared }) => [object, { shared }])));
    else if (sort === "stored")
      this.#stored.set(name, new Map(what.objects.map((object) => [object, { stateUrn: what.stateUrn }])));
    else this.#states.set(name, what);
  }
}

/** What resources have said of objects. */
class ByObject<Said extends object> {
  readonly #urns = new Map<string, Map<string, Said>>();
  readonly #objects = new Map<string, Iterable<string>>();

  /** In place of what the resource has said before. */
  set(urn: string, said: ReadonlyMap<string, Said>): void {
    for (const object of this.#objects.get(urn) ?? []) this.#urns.get(object)?.delete(urn);
    this.#objects.set(urn, [...said.keys()]);
    for (const [object, one] of said) this.#urns.set(object, (this.#urns.get(object) ?? new Map()).set(urn, one));
  }

  urns(): string[] {
    return [...this.#objects.keys()];
  }

  of(object: string): (Said & { readonly urn: string })[] {
    return [...(this.#urns.get(object) ?? [])].map(([urn, said]) => ({ urn, ...said }));
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Where ids of processes mean the same: containers may share a folder of temporary files. */
const MACHINE = `${hostname()} ${linkOf("/proc/self/ns/pid")}`;

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Whether the process whose file has this name is there. Such an id is hardly given twice while a run lasts. */
function isOfLiving(name: string): boolean {
  try {
    return process.kill(Number(name.split("-")[2]), 0);
  } catch {
    return false;
  }
}

/** Empty if its process has just ended, and another one has removed it. */
function textFrom(file: string, from: number): Buffer {
  try {
    const descriptor = openSync(file, "r");
    try {
      const text = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - from));
      return text.subarray(0, readSync(descriptor, text, 0, text.length, from));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** Undefined for a line that is not whole, because the disk was full. */
function toldIn(line: string): Told | undefined {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return undefined;
  }
}
