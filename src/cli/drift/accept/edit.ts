import type { Kind } from "../../../contract/pointer";
import type { ReadSetting } from "../../../contract/settings";
import { standInsIn } from "../../../contract/standIns";
import { isWatched } from "../../../contract/watched";
import { sameJson } from "../../../host/arguments";
import { isByReference, type Property } from "../report";
import type { Component } from "./component";
import { creationAt, creationOf, repetitionOf, type Creation, type NoCreation } from "./creation";
import { type ConfigurationChange, type ConfigurationEdit, type StackConfiguration, usesOf } from "./configured";
import { ProgramFile, type TypeScript } from "./programFile";
import { segmentsOf } from "../../../contract/propertyPath";
import { plansOf, holdsSecret, isSpelled, type Action, type IsAlike } from "./acceptPlan";
import { listSplices, spliced, type List, type ListChange, type Splice } from "./splices";
import { propertyCode } from "./value";

export type { TypeScript } from "./programFile";

/** A resource that drifted, and the found values that the program should declare. */
export interface Target {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
  /** The component of this package that creates it: its position and arguments are used. */
  readonly component?: Component | undefined;
  /** Where the program creates it, counted from 1; undefined: found by class and name. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** Other resources of the state have the same position or, without a position, the same class and name. */
  readonly isShared: boolean;
  /** Why a plan of the stack forbids editing it; undefined if nothing is known. */
  readonly disproof: string | undefined;
  readonly changes: readonly Property[];
  /** The settings that it was deployed with. @default those of the environment */
  readonly readSetting?: ReadSetting;
}

/** A property that is declared as found after the edit. */
export interface Accepted {
  readonly urn: string;
  readonly name: string;
  readonly path: string;
  readonly file: string;
  /** In the text before the edit. */
  readonly line: number;
  /** False if the text already has the value. */
  readonly isEdited: boolean;
  /** For a value in the stack's configuration: the key. */
  readonly key?: string;
}

/** A property that the user must edit. */
export interface Told {
  readonly urn: string;
  readonly name: string;
  readonly path: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly reason: string;
  /** `property: value` as code of the program; undefined if there is no such value, or if it is secret. */
  readonly code: string | undefined;
}

/** What is known about the program and the stack's configuration, besides the files. */
export interface Around {
  readonly configuration: StackConfiguration;
  /** Keys that must not be edited, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
  /** The files of the program that contain a text. */
  readonly having: (text: string) => ReadonlyMap<string, string>;
}

export interface Edited {
  /** Only for properties that stay accepted. */
  readonly configuration: readonly ConfigurationEdit[];
  /** The whole new text of each changed file. */
  readonly files: ReadonlyMap<string, string>;
  readonly accepted: readonly Accepted[];
  readonly told: readonly Told[];
}

/**
 * Edits the text of a program so that it declares what was found. `files`: by the file names of the positions.
 * @throws for a file that does not parse, with its name and line.
 */
export async function editProgram(
  typescript: TypeScript,
  files: ReadonlyMap<string, string>,
  targets: readonly Target[],
  around?: Around,
): Promise<Edited> {
  const program = new Program(typescript, files);
  const accepted: Accepted[] = [];
  const told: Told[] = [];
  const edits = new Map<ProgramFile, Edits>();
  const configured: Configured[] = [];
  // Several children of a component may share an argument.
  const edited = new Set<string>();
  const isAlike: IsAlike = (urn, { path, found }) =>
    targets.some(
      (target) => target.urn === urn && target.changes.some((one) => one.path === path && sameJson(one.found, found)),
    );
  for (const target of targets) {
    const creation = creationIn(program, target);
    if ("reason" in creation) {
      told.push(...target.changes.map((property) => toTold(target, property, creation)));
      continue;
    }
    const { file } = creation;
    for (const { property, line, reason, actions, at } of await plansOf(
      creation,
      target,
      isAlike,
      around?.configuration,
    )) {
      if (reason !== undefined) {
        told.push(toTold(target, property, { file: file.name, line, reason, quote: file.quote, key: at.at(-1) }));
        continue;
      }
      const changes = actions.filter((action) => "configure" in action);
      for (const change of changes) configured.push({ target, property, file, line, change, key: at.at(-1) });
      if (changes.length > 0) continue;
      const { urn, name } = target;
      accepted.push({ urn, name, path: property.path, file: file.name, line, isEdited: actions.length > 0 });
      const place = JSON.stringify([file.name, creation.expression.pos, at]);
      if (edited.has(place)) continue;
      edited.add(place);
      const own = edits.get(file) ?? new Edits(file);
      edits.set(file, own);
      for (const action of actions) if (!("configure" in action)) own.take(action);
    }
  }
  const configuration: ConfigurationEdit[] = [];
  for (const one of configured) {
    const { target, property, file, line, change, key } = one;
    const reason = around && whyNot(program, one, { configured, around });
    if (reason !== undefined) {
      told.push(toTold(target, property, { file: file.name, line, reason, quote: file.quote, key }));
      continue;
    }
    const { configure, path, value, whole } = change;
    const { urn, name } = target;
    accepted.push({ urn, name, path: property.path, file: file.name, line, key: configure, isEdited: true });
    configuration.push({ key: configure, urn, path, value, whole });
  }
  const changed = [...edits].map(([{ name }, own]): [string, string] => [name, own.text()]);
  // No edit may leave a text that does not parse.
  for (const [name, text] of changed) new ProgramFile(typescript, name, text);
  return { files: new Map(changed.filter(([name, text]) => files.get(name) !== text)), configuration, accepted, told };
}

/** A property whose value is in the stack's configuration. */
interface Configured {
  readonly target: Target;
  readonly property: Property;
  readonly file: ProgramFile;
  readonly line: number;
  readonly change: ConfigurationChange;
  readonly key: string | number | undefined;
}

/** Edits of the configuration affect every use of the value, so each use must need the new value. */
function whyNot(
  program: Program,
  { change }: Configured,
  { configured, around }: { readonly configured: readonly Configured[]; readonly around: Around },
): string | undefined {
  const { project } = around.configuration;
  const name = change.configure.slice(change.configure.indexOf(":") + 1);
  const same = configured.filter((other) => other.change.configure === change.configure);
  const files = program.with(around.having(name));
  const others = usesOf(files, change.configure, project).filter(
    ({ node, isKnown }) => !isKnown || !same.some((other) => other.change.use === node),
  );
  const isAt = ({ change: other }: Configured): boolean => sameJson(other.path, change.path);
  const isOther = same.some((other) => !isAt(other) || !sameJson(other.change.value, change.value));
  const value = `the value is ${JSON.stringify(change.configure)} of the stack's configuration`;
  if (others.length > 0) {
    const places = [...new Set(others.map(({ file, node }) => `${file.name}:${file.lineOf(node)}`))].join(", ");
    return `${value}, which the program uses elsewhere, too: ${places}`;
  }
  const refusal = around.refused.get(change.configure);
  if (refusal !== undefined) return `${value}, ${refusal}`;
  const isShared = new Set(same.map((other) => other.change.use)).size > 1;
  return isShared && isOther ? `${value}, which several resources use, and they differ in different ways` : undefined;
}

/** The program's files, parsed on demand. */
class Program {
  readonly #parsed = new Map<string, ProgramFile>();
  readonly #others = new Map<string, string>();

  constructor(
    readonly typescript: TypeScript,
    readonly texts: ReadonlyMap<string, string>,
  ) {}

  file(name: string): ProgramFile | undefined {
    const text = this.texts.get(name) ?? this.#others.get(name);
    if (text === undefined) return undefined;
    const file = this.#parsed.get(name) ?? new ProgramFile(this.typescript, name, text);
    this.#parsed.set(name, file);
    return file;
  }

  /** The files with these texts, and all files parsed before. A file that does not parse cannot run. */
  with(texts: ReadonlyMap<string, string>): ProgramFile[] {
    for (const [name, text] of texts) if (!this.#parsed.has(name)) this.#others.set(name, text);
    return [...new Set([...this.texts.keys(), ...this.#others.keys()])].flatMap((name) => {
      try {
        return this.file(name) ?? [];
      } catch {
        return [];
      }
    });
  }

  /**
   * A file that does not name the package may import it through another file. Node cannot run a file that does not
   * parse.
   */
  candidates(): ProgramFile[] {
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

function creationIn(
  program: Program,
  { place, component, isShared, disproof, ...child }: Target,
): Creation | NoCreation {
  const file = place && program.file(place.file);
  if (place !== undefined && file === undefined) {
    return { file: place.file, line: place.line, reason: "the file does not belong to the program" };
  }
  const { kind, name, urn } = component ?? child;
  // The types in a URN begin with those of its parents, without the stack.
  const sought = { kind, name, hasParent: urn.split("::")[2]?.includes("$") === true };
  const creation = place && file ? creationAt(file, place, sought) : creationOf(program.candidates(), sought);
  if ("reason" in creation) return creation;
  const shared =
    place === undefined
      ? "several resources of the stack have this class and name"
      : "several resources are created at this place";
  const repeated = isShared ? shared : (repetitionOf(creation) ?? disproof);
  if (repeated === undefined) return creation;
  return { file: creation.file.name, line: creation.file.lineOf(creation.expression), reason: repeated };
}

interface NotEdited {
  readonly quote?: ProgramFile["quote"];
  /** The program's name for the property. */
  readonly key?: string | number | undefined;
}

function toTold(
  { kind, urn, name }: Target,
  property: Property,
  { file, line, reason, quote = '"', key = segmentsOf(property.path).at(-1) }: NoCreation & NotEdited,
): Told {
  const { path, found } = property;
  const hasValue =
    found !== null && !holdsSecret(property) && !isByReference(property) && standInsIn(found).length === 0;
  const isShown = hasValue && isSpelled(path) && !isWatched(kind, path);
  const code = isShown ? propertyCode(String(key), found, quote) : undefined;
  return { urn, name, path, file, line, reason, code };
}

/** All edits of a file. Edits of one list are combined, because they share its commas. */
class Edits {
  readonly #splices: Splice[] = [];
  readonly #lists = new Map<List, ListChange>();

  constructor(readonly file: ProgramFile) {}

  take(action: Exclude<Action, ConfigurationChange>): void {
    if ("replace" in action) {
      const { replace: node, by: text } = action;
      this.#splices.push({ start: node.getStart(this.file.source), end: node.end, text });
      return;
    }
    const change = this.#lists.get(action.list) ?? { removed: new Set(), added: [] };
    this.#lists.set(action.list, change);
    if ("remove" in action) change.removed.add(action.remove);
    else change.added.push(action.add);
  }

  /** @throws if two edits overlap. */
  text(): string {
    const lists = [...this.#lists].flatMap(([list, change]) => listSplices(this.file, list, change));
    return spliced(this.file.text, [...this.#splices, ...lists]);
  }
}
