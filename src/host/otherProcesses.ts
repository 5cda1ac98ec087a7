/**
 * What the provider processes of one run know of each other (docs/design/rules.md, 4): the engine starts one for each
 * explicit Provider. Each appends to a file of its own what its memory learns, and reads the files of the others when it
 * asks. A file counts as long as its process lives.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Claim, Elsewhere, Others, Stored, ToldState } from "./memory";

/** What one process knows. Objects are digests: their names may contain what a program keeps secret. */
interface Known {
  /** By URN. */
  readonly claims: Map<string, readonly { readonly object: string; readonly shared?: boolean | undefined }[]>;
  readonly stored: Map<string, Stored>;
  /** By object. */
  readonly states: Map<string, ToldState>;
}

/** One entry of it, a line of the file. */
type Told = { readonly [Sort in keyof Known]: readonly [Sort, string, ValueOf<Known[Sort]>] }[keyof Known];
type ValueOf<M> = M extends Map<string, infer Value> ? Value : never;

interface Reading {
  readonly size: number;
  readonly known: Known;
}

export class OtherProcesses implements Others {
  readonly #readings = new Map<string, Reading>();

  private constructor(
    private readonly folder: string,
    private readonly own: string,
  ) {}

  /**
   * `run`: what the processes of one run have in common, and no other run has. Undefined if the folder of temporary files
   * cannot be used, or does not belong to this user alone.
   */
  static of(run: string, temporary = tmpdir()): OtherProcesses | undefined {
    const uid = process.getuid?.();
    const root = join(temporary, uid === undefined ? "pulumi-svc" : `pulumi-svc-${uid}`);
    const folder = join(root, digestOf(run));
    const own = join(folder, `${process.pid}-${randomUUID()}`);
    try {
      mkdirSync(root, { mode: 0o700, recursive: true });
      const found = lstatSync(root);
      // On Windows the folder of temporary files belongs to the user, and a file has no mode.
      const isOurs = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
      if (!found.isDirectory() || !isOurs) return undefined;
      sweep(root);
      mkdirSync(folder, { recursive: true });
      // So that no other run takes the folder for one that was left.
      writeFileSync(own, "", { mode: 0o600 });
      return new OtherProcesses(folder, own);
    } catch {
      return undefined;
    }
  }

  tellClaims(urn: string, claims: readonly Claim[]): void {
    const told = claims.map(({ object, shared }) => ({ object: digestOf(object), shared }));
    this.#tell("claims", urn, told);
  }

  tellStored(urn: string, { stateUrn, objects }: Stored): void {
    this.#tell("stored", urn, { stateUrn, objects: objects.map(digestOf) });
  }

  tellState(object: string, state: ToldState): void {
    this.#tell("states", digestOf(object), state);
  }

  of(name: string): Elsewhere[] {
    const files = this.#files();
    if (files.length === 0) return [];
    const object = digestOf(name);
    return files.map((file) => {
      const { claims, stored, states } = this.#read(file);
      const all = [...claims].flatMap(([urn, its]) => its.map((claim) => ({ urn, ...claim })));
      const holders = [...stored].filter(([, { objects }]) => objects.includes(object));
      return {
        claims: all.filter((claim) => claim.object === object),
        holders: holders.map(([urn, { stateUrn }]) => ({ urn, stateUrn })),
        state: states.get(object) ?? {},
      };
    });
  }

  #tell(...told: Told): void {
    try {
      appendFileSync(this.own, `${JSON.stringify(told)}\n`);
    } catch {
      // A full disk takes away what the others would have known, not the run.
    }
  }

  #files(): string[] {
    try {
      return readdirSync(this.folder)
        .filter(isOfLiving)
        .map((name) => join(this.folder, name))
        .filter((file) => file !== this.own);
    } catch {
      return [];
    }
  }

  #read(file: string): Known {
    const before = this.#readings.get(file);
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
    if (before?.size === size) return before.known;
    const known: Known = { claims: new Map(), stored: new Map(), states: new Map() };
    for (const line of textOf(file).split("\n")) {
      const [sort, name, value] = toldIn(line) ?? [];
      if (sort !== undefined && name !== undefined) known[sort].set(name, value as never);
    }
    this.#readings.set(file, { size, known });
    return known;
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Empty if its process has just ended, and another one has removed it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Undefined for a line that is not whole: it is on its way, or the disk was full. */
function toldIn(line: string): Told | undefined {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return undefined;
  }
}

/** Whether the process whose file has this name is there. Such an id is hardly given twice while a run lasts. */
function isOfLiving(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name, 10), 0);
  } catch {
    return false;
  }
}

/** Removes what ended runs have left: a process may end at any moment. */
function sweep(root: string): void {
  for (const run of readdirSync(root).map((name) => join(root, name)))
    if (!readdirSync(run).some(isOfLiving)) rmSync(run, { recursive: true, force: true });
}
