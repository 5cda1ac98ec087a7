/**
 * What the provider processes of one run know of each other (docs/design/rules.md, 4): the engine starts one for each
 * explicit Provider. Each tells in a file of its own (runFolder.ts) what its memory learns, and reads on in the files of
 * the others when it asks.
 *
 * Once a process could not tell or read something, it does not know what the others do, and never will in this run.
 * Then the list of processes (processList.ts) shows whether another one could do harm. If none could, as with one
 * Provider, everything goes on.
 */
import { tmpdir } from "node:os";
import { z } from "zod";
import { Granted, type Permission, Unknown } from "../../client";
import { isSameService } from "../../contract/address";
import type { Claim } from "../../contract/claims";
import type { Doing, Elsewhere, Others, Stored, ToldState } from "./others";
import { type Act, ACTS, type ProcessList } from "./processList";
import { digestOf, FolderError, FORMAT, lineOf, type RunFile, RunFolder, type Trouble } from "../../contract/runFolder";

/** The lines of a file. Objects are digests: their names may contain what a program keeps secret. */
const told = z.union([
  /** The lines of a program. */
  z.tuple([z.literal("program"), z.number()]),
  z.tuple([z.literal("declares"), z.string(), z.array(z.object({ object: z.string(), shared: z.boolean() }))]),
  /** The first line, with the address of the service that the process uses. */
  z.tuple([z.literal("begin"), z.number(), z.string()]),
  z.tuple([z.literal("claims"), z.string(), z.array(z.object({ object: z.string(), shared: z.boolean() }))]),
  z.tuple([z.literal("failed"), z.string()]),
  z.tuple([z.literal("stored"), z.string(), z.object({ stateUrn: z.string(), objects: z.array(z.string()) })]),
  z.tuple([
    z.literal("state"),
    z.string(),
    z.object({ owner: z.string().optional(), isLeaving: z.boolean(), isDeleted: z.boolean() }),
  ]),
]);
type Told = z.infer<typeof told>;

/** What no other process may show while this one cannot know what it does. */
const CONFLICTS: Readonly<Record<Doing, readonly Act[]>> = {
  "takes-over": ACTS,
  deletes: ["manages", "takes-over"],
  changes: ["takes-over"],
};

const QUESTIONS: Readonly<Record<Doing, string>> = {
  "takes-over": "whether another Provider of this run manages or deletes what is to be taken over",
  deletes: "whether another Provider of this run manages what is to be deleted",
  changes: "whether another Provider of this run has taken over what is to be changed",
};

/** How old a look at the list of processes may be while the files are in order. */
const LOOKED_MS = 1_000;

export interface OwnProcess {
  /** What the processes of one run have in common, and no other run has at the same time. */
  readonly run: string;
  /** The address of the service that it uses. */
  readonly address: string;
  readonly list: ProcessList;
}

/** The files of a run, from one of its processes. */
export type Channel = Pick<RunFolder, "append" | "others" | "read" | "damaged" | "otherVersion" | "silent">;

export class OtherProcesses implements Others {
  /** By the name of the file. */
  readonly #readings = new Map<string, Reading>();
  #folder: Channel | undefined;
  /** Why it is not known what the others do. What was missed is not told again, so this stays. */
  #trouble: Trouble | undefined;
  #lookedMs = -Infinity;

  /** `join`: makes the file of this process, which begins with a line. */
  constructor(
    private readonly own: OwnProcess,
    join = (begin: string): Channel => RunFolder.join(own.run, begin, tmpdir()),
  ) {
    const begin = lineOf(["begin", FORMAT, own.address]);
    this.#attempt(() => (this.#folder = join(begin)));
  }

  tellClaims(urn: string, claims: readonly Claim[]): void {
    this.own.list.show("manages");
    const digests = claims.map(({ object, shared = false }) => ({ object: digestOf(object), shared }));
    this.#tell(["claims", urn, digests]);
  }

  tellStored(urn: string, { stateUrn, objects }: Stored): void {
    this.own.list.show("manages");
    this.#tell(["stored", urn, { stateUrn, objects: objects.map(digestOf) }]);
  }

  tellState(object: string, { owner, isLeaving, isDeleted }: ToldState): void {
    this.#tell(["state", digestOf(object), { ...(owner !== undefined && { owner }), isLeaving, isDeleted }]);
  }

  of(object: string): Elsewhere[] {
    this.#read();
    const digest = digestOf(object);
    const told = [...this.#readings.values()].flatMap((reading) => reading.of(digest, this.own.address) ?? []);
    // What they have withdrawn since may have been missed.
    return told.map((one) => ({ ...one, doubt: one.doubt ?? this.#trouble }));
  }

  declared(): string[] {
    this.#read();
    return [...this.#readings.values()].flatMap((reading) => reading.declared());
  }

  declaredByProgram(object: string): { readonly urn: string; readonly shared: boolean }[] {
    this.#read();
    const digest = digestOf(object);
    return [...this.#readings.values()].flatMap((reading) => reading.declaredByProgram(digest));
  }

  isOfProgram(urn: string): boolean {
    this.#read();
    return [...this.#readings.values()].some((reading) => reading.isOfProgram(urn));
  }

  isWholeDestroy(): boolean {
    return this.own.list.servesWholeDestroy();
  }

  tellFailed(urn: string): void {
    this.#tell(["failed", urn]);
  }

  failed(): string | undefined {
    this.#read();
    return [...this.#readings.values()].map((reading) => reading.failed).find((urn) => urn !== undefined);
  }

  permission(doing: Doing): Permission {
    if (doing !== "changes") {
      this.own.list.show(doing);
      this.#look();
    }
    const why = this.#unheard(CONFLICTS[doing]);
    return why === undefined ? Granted.proven() : Unknown.because({ question: QUESTIONS[doing], ...why });
  }

  trouble(): Trouble | undefined {
    this.#read();
    return this.#trouble;
  }

  unheard(): Trouble | undefined {
    return this.#unheard(["manages"]);
  }

  /** Why it is not known what the others do, if one of them may do this. */
  #unheard(acts: readonly Act[]): Trouble | undefined {
    if (this.#trouble === undefined) return undefined;
    const shown = this.own.list.others();
    if (shown !== undefined && !shown.some((other) => other.acts.some((act) => acts.includes(act)))) return undefined;
    const others =
      shown === undefined
        ? "the list of processes does not show whether this run has more than one Provider"
        : "this run has more than one Provider";
    const { why, waysOut } = this.#trouble;
    return { why: `${others}, and ${why}`, waysOut };
  }

  /** What a process shows in the list, it must have told as well. */
  #look(): void {
    const now = performance.now();
    if (this.#trouble !== undefined || now - this.#lookedMs < LOOKED_MS) return;
    this.#lookedMs = now;
    const shown = this.own.list.others();
    // A process has its file before it shows anything.
    this.#read();
    const heard = new Set([...this.#readings.values()].map(({ pid }) => pid));
    const silent = shown?.find(({ pid }) => !heard.has(pid));
    if (silent !== undefined) this.#trouble = this.#folder?.silent(silent.pid);
  }

  #tell(one: Told): void {
    if (this.#trouble === undefined) this.#attempt(() => this.#folder?.append(lineOf(one)));
  }

  /** What the others have told until now, as far as it can be read. */
  #read(): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    this.#attempt(() => {
      const files = folder.others();
      for (const { name, pid } of this.#readings.values())
        if (!files.some((file) => file.name === name)) throw folder.silent(pid);
      for (const file of files) this.#attempt(() => this.#readingOf(file).readOn(folder, file));
    });
  }

  #readingOf({ name, pid }: RunFile): Reading {
    const reading = this.#readings.get(name) ?? new Reading(name, pid);
    this.#readings.set(name, reading);
    return reading;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      this.#trouble ??= error;
    }
  }
}

/** What the file of another process has told so far. */
class Reading {
  readonly #claims = new ByObject<{ readonly shared: boolean }>();
  readonly #stored = new ByObject<{ readonly stateUrn: string }>();
  readonly #states = new Map<string, ToldState>();
  /** What a program declares: the engine may ask about a part of it. */
  readonly #program = new ByObject<{ readonly shared: boolean }>();
  #isProgram = false;
  #failed: string | undefined;
  #address: string | undefined;
  #isAlive = true;
  /** The end of the last whole line. */
  #end = 0;

  constructor(
    readonly name: string,
    readonly pid: number,
  ) {}

  /** @throws FolderError */
  readOn(folder: Channel, { isAlive }: RunFile): void {
    this.#isAlive = isAlive;
    const text = folder.read(this.name, this.#end);
    const lines = text.subarray(0, text.lastIndexOf("\n") + 1);
    // The rest of a line may be on its way, but not from a process that has ended.
    if (!isAlive && lines.length < text.length) throw folder.damaged();
    this.#end += lines.length;
    for (const line of lines.toString("utf8").split("\n").slice(0, -1)) this.#learn(line, folder);
  }

  declared(): string[] {
    return this.#isAlive ? this.#claims.urns() : [];
  }

  get failed(): string | undefined {
    return this.#failed;
  }

  isOfProgram(urn: string): boolean {
    return this.#program.urns().includes(urn);
  }

  declaredByProgram(object: string): { readonly urn: string; readonly shared: boolean }[] {
    return this.#program.of(object);
  }

  /** Undefined if its process certainly uses another service than that with this address. */
  of(object: string, address: string): Elsewhere | undefined {
    if (this.#address === undefined) return undefined;
    const isSame = isSameService(this.#address, address);
    if (isSame === "no") return undefined;
    return {
      claims: this.#claims.of(object),
      holders: this.#stored.of(object),
      state: this.#states.get(object) ?? { isLeaving: false, isDeleted: false },
      doubt: isSame === "yes" ? this.#doubtOfEnd() : doubtOfService(this.#address, address),
    };
  }

  #doubtOfEnd(): Trouble | undefined {
    if (this.#isAlive) return undefined;
    return { why: "the process of its Provider has ended during this run", waysOut: "Run pulumi again" };
  }

  #learn(line: string, folder: Channel): void {
    const { data } = told.safeParse(jsonIn(line));
    const hasBegun = this.#isProgram || this.#address !== undefined;
    if (data === undefined || ["begin", "program"].includes(data[0]) === hasBegun) throw folder.damaged();
    switch (data[0]) {
      case "program":
        if (data[1] !== FORMAT) throw folder.otherVersion();
        this.#isProgram = true;
        break;
      case "declares":
        this.#program.set(data[1], new Map(data[2].map(({ object, shared }) => [object, { shared }])));
        break;
      case "failed":
        this.#failed = data[1];
        break;
      case "begin":
        if (data[1] !== FORMAT) throw folder.otherVersion();
        this.#address = data[2];
        break;
      case "claims":
        this.#claims.set(data[1], new Map(data[2].map(({ object, shared }) => [object, { shared }])));
        break;
      case "stored": {
        const [, urn, { stateUrn, objects }] = data;
        this.#stored.set(urn, new Map(objects.map((object) => [object, { stateUrn }])));
        break;
      }
      case "state":
        this.#states.set(data[1], data[2]);
    }
  }
}

const doubtOfService = (theirs: string, own: string): Trouble => ({
  why: `its Provider uses ${theirs}, and this one ${own}, which may be the same service`,
  waysOut:
    "If they are one service, give both Providers the same address. Otherwise delete one of the two alone, with pulumi destroy --target",
});

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

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
