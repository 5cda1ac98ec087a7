import type { Origin } from "../../../components/origins";
import { standInsIn } from "../../../contract/standIns";
import { segmentsOf } from "../../../contract/propertyPath";
import { isWatched } from "../../../contract/watched";
import { sameJson } from "../../../runtime/arguments";
import { isByReference, type Property } from "../report";
import { holdsSecret, isSpelled, type Proposal, proposalsOf, same } from "./proposals";
import { type Creation, creationAt, creationOf, type NoCreation } from "./creation";
import { ProgramFile, type TypeScript } from "./programFile";
import { type Action, edited } from "./splices";
import type { Target } from "./target";
import { propertyCode } from "./value";

/** A property that the program declares as found after an edit. */
export interface Candidate {
  readonly target: Target;
  readonly property: Property;
  readonly file: ProgramFile;
  /** In the text before the edit. */
  readonly line: number;
  /** The `new`, and the position in its arguments: several resources may share both. */
  readonly at: { readonly creation: number; readonly path: Origin };
  /** Empty if the text already has the value. */
  readonly actions: readonly Action[];
}

/** A property that the user must edit. */
export interface Told {
  readonly urn: string;
  readonly name: string;
  readonly path: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly reason: string;
  /** `property: value` as code of the program, or a command; undefined if there is none, or if it is secret. */
  readonly code: string | undefined;
}

export interface Analysis {
  readonly candidates: readonly Candidate[];
  readonly told: readonly Told[];
}

/**
 * The edits of a program that make it declare what was found, as far as its text shows. `files`: by the file names of
 * the positions.
 * @throws for a file with a position that does not parse, with its name and line.
 */
export async function candidatesIn(
  typescript: TypeScript,
  files: ReadonlyMap<string, string>,
  targets: readonly Target[],
): Promise<Analysis> {
  const program = new Program(typescript, files);
  const candidates: Candidate[] = [];
  const told: Told[] = [];
  for (const target of targets) {
    const creation = creationIn(program, target);
    if ("reason" in creation) {
      told.push(...target.changes.map((property) => toTold(target, property, creation)));
      continue;
    }
    for (const proposal of await proposalsOf(creation, target)) {
      if (proposal.reason === undefined) candidates.push(candidateOf(creation, target, proposal));
      else told.push(toTold(target, proposal.property, notEdited(creation.file, proposal, proposal.reason)));
    }
  }
  return withoutConflicts({ candidates, told });
}

const candidateOf = ({ file, expression }: Creation, target: Target, { at, ...proposal }: Proposal): Candidate => ({
  ...{ target, file, property: proposal.property, line: proposal.line, actions: proposal.actions },
  at: { creation: expression.pos, path: at },
});

/** A place that several resources share has one value, as a whole and in its parts. The plan shows what else uses it. */
function withoutConflicts({ candidates, told }: Analysis): Analysis {
  const isUnlike = (one: Candidate): boolean => {
    const alike = candidates.filter((other) => isAlike(one, other));
    const isInPart = candidates.some((other) => isPartOf(one, other) && !alike.includes(other));
    return isInPart || one.target.beside.some((urn) => !alike.some(({ target }) => target.urn === urn));
  };
  const reason = "several resources get the value from here, and they differ in different ways, or not at all";
  return {
    candidates: candidates.filter((one) => !isUnlike(one)),
    told: [...told, ...candidates.filter(isUnlike).map((one) => dropped(one, reason))],
  };
}

const isAlike = (one: Candidate, other: Candidate): boolean =>
  placeOf(one) === placeOf(other) && same(one.property.found, other.property.found);

/** Whether one of two values contains the other, or is it. */
function isPartOf(one: Candidate, other: Candidate): boolean {
  const depth = Math.min(one.at.path.length, other.at.path.length);
  const [above, below] = [one, other].map(({ file, at: { creation, path } }) => [
    ...[file.name, creation],
    ...path.slice(0, depth),
  ]);
  return sameJson(above, below);
}

const placeOf = ({ file, at }: Candidate): string => JSON.stringify([file.name, at.creation, at.path]);

/** A candidate that is not edited. */
export const dropped = ({ target, property, file, line, at }: Candidate, reason: string): Told =>
  toTold(target, property, notEdited(file, { line, at: at.path }, reason));

/** The new text of each file that the edits change. */
export function textsWith(candidates: readonly Candidate[]): ReadonlyMap<string, string> {
  const places = [...new Map(candidates.map((one) => [placeOf(one), one])).values()];
  const texts = [...new Set(places.map(({ file }) => file))].map((file): [ProgramFile, string] => {
    const actions = places.filter((one) => one.file === file).flatMap((one) => one.actions);
    return [file, edited(file, actions)];
  });
  // No edit may leave a text that does not parse.
  for (const [{ typescript, name }, text] of texts) new ProgramFile(typescript, name, text);
  return new Map(texts.filter(([file, text]) => file.text !== text).map(([{ name }, text]) => [name, text]));
}

/** The program's files, parsed on demand. */
class Program {
  readonly #parsed = new Map<string, ProgramFile>();

  constructor(
    readonly typescript: TypeScript,
    readonly texts: ReadonlyMap<string, string>,
  ) {}

  file(name: string): ProgramFile | undefined {
    const text = this.texts.get(name);
    if (text === undefined) return undefined;
    const file = this.#parsed.get(name) ?? new ProgramFile(this.typescript, name, text);
    this.#parsed.set(name, file);
    return file;
  }

  /** Node cannot run a file that does not parse. Other files have nothing to do with the resources. */
  files(): ProgramFile[] {
    return [...this.texts].flatMap(([name, text]) => {
      try {
        return this.file(name) ?? [];
      } catch (error) {
        if (text.includes("pulumi-svc")) throw error;
        return [];
      }
    });
  }
}

function creationIn(program: Program, { place, component, ...child }: Target): Creation | NoCreation {
  const sought = component ?? child;
  if (place === undefined) return creationOf(program.files(), sought);
  const file = program.file(place.file);
  return file === undefined
    ? { file: place.file, line: place.line, reason: "the file does not belong to the program" }
    : creationAt(file, place, sought);
}

interface NotEdited extends NoCreation {
  readonly quote?: ProgramFile["quote"];
  /** The program's name for the property. */
  readonly key?: string | number | undefined;
  /** Instead of its code. */
  readonly code?: string | undefined;
}

const notEdited = (
  { name, quote }: ProgramFile,
  { line, at, code }: Pick<Proposal, "line" | "at" | "code">,
  reason: string,
): NotEdited => ({ file: name, quote, line, reason, key: at.at(-1), code });

function toTold(
  { kind, urn, name }: Target,
  property: Property,
  { file, line, reason, quote = '"', key = segmentsOf(property.path).at(-1), code: instead }: NotEdited,
): Told {
  const { path, found } = property;
  const hasValue =
    found !== null && !holdsSecret(property) && !isByReference(property) && standInsIn(found).length === 0;
  const isShown = hasValue && isSpelled(path) && !isWatched(kind, path);
  const code = isShown ? (instead ?? propertyCode(String(key), found, quote)) : undefined;
  return { urn, name, path, file, line, reason, code };
}
