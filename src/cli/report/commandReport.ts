import type { Text } from "./text";

/** What a command reports: for scripts as it is, for people as they read it. */
export interface CommandReport extends Page {
  /** The output of `--json`: a contract with scripts. */
  readonly json: unknown;
  readonly exitCode: number;
}

/** For people. */
export interface Page {
  /** A terminal does not show it. */
  readonly title: Text;
  /** The result as one line. Undefined for what follows another page. */
  readonly headline?: Text;
  readonly sections: readonly Section[];
  /** Whole pages within this one, each below its title. */
  readonly parts?: readonly Page[];
  readonly footer?: readonly Text[];
  /** Undefined: there is nothing to recognize. */
  readonly fingerprint?: string | undefined;
}

/** Of its contents, whatever there is, in this order. */
export interface Section {
  /** Without one, the section continues the page. */
  readonly title?: Text;
  /** Of the columns, without capitals. */
  readonly head?: readonly Text[];
  readonly rows?: readonly (readonly Text[])[];
  /** Their subject is the first column. */
  readonly items?: readonly Item[];
  readonly lines?: readonly Text[];
}

/** A subject, such as a resource, with rows about it. */
export interface Item {
  readonly subject: Text;
  readonly id?: Text;
  /** What happened to it, as a word. */
  readonly state?: Text;
  /** What there is to say beside the rows. */
  readonly remark?: Text | undefined;
  readonly rows: readonly (readonly Text[])[];
  readonly notes?: readonly Text[];
  readonly repair?: { readonly line: Text; readonly details: readonly Text[] };
}

/** A section without contents is not shown. */
export const isEmpty = ({ rows = [], items = [], lines = [] }: Section): boolean =>
  rows.length + items.length + lines.length === 0;
