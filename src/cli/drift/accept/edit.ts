import type { Kind } from "../../../contract/pointer";
import type { Property } from "../report";

/** The compiler of the user's project. */
export type TypeScript = typeof import("typescript");

/** A resource that drifted, and what of it the program is to declare as it was found. */
export interface Target {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
  /** Where the program creates it, counted from 1; undefined: it is searched by class and name. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** Other resources of the state have the same place. */
  readonly isShared: boolean;
  readonly changes: readonly Property[];
}

/** A property that the program declares as it was found, after the edit. */
export interface Accepted {
  readonly urn: string;
  readonly name: string;
  readonly path: string;
  readonly file: string;
  /** In the text before the edit. */
  readonly line: number;
}

/** A property that has to be edited by hand. */
export interface Told {
  readonly urn: string;
  readonly name: string;
  readonly path: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly reason: string;
  /** `property: value`, as the program would say it; undefined where there is no such value, or where it is a secret. */
  readonly code: string | undefined;
}

export interface Edited {
  /** Of the files that changed: the whole new text. */
  readonly files: ReadonlyMap<string, string>;
  readonly accepted: readonly Accepted[];
  readonly told: readonly Told[];
}

/**
 * Edits the text of a program, so that it declares what was found. `files`: by the names that places have.
 * @throws for a file that does not parse, with its name and line.
 */
export async function editProgram(
  _typescript: TypeScript,
  _files: ReadonlyMap<string, string>,
  targets: readonly Target[],
): Promise<Edited> {
  const told = targets.flatMap(({ urn, name, changes }) =>
    changes.map(({ path }) => ({
      urn,
      name,
      path,
      file: undefined,
      line: undefined,
      reason: "not edited yet",
      code: undefined,
    })),
  );
  return { files: new Map(), accepted: [], told };
}
