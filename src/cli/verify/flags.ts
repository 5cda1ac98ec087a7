/** The options of the command, in a file that loads nothing. */

/** The two parts of a run; `--part` chooses one. */
export const PARTS = ["compute", "auth"] as const;
export type Part = (typeof PARTS)[number];

export const FORMATS = ["text", "json"] as const;
export type Format = (typeof FORMATS)[number];

export interface VerifyFlags {
  readonly project: string;
  readonly branch: string;
  readonly authBranch?: string;
  readonly moveTo?: string;
  readonly part?: Part;
  readonly stack?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly format: Format;
}
