/**
 * What the end of a command says to a script. `--help`, AGENTS.md and the page of a command say what a code means there,
 * and a test compares them.
 */
export const EXIT = {
  done: 0,
  /** Nothing is known, or not all was done. Also for a report that could not be written: a script would read an old one. */
  failure: 1,
  /** Wrong usage. Also if there is nobody to ask. */
  usage: 2,
  drift: 7,
  /** Objects that nothing declares. */
  undeclared: 8,
  /** The drift is not the one that was approved. */
  otherDrift: 9,
  /** Of the audit. */
  findings: 10,
  /** Somebody else is changing a stack. A later run may succeed. */
  busy: 11,
} as const;
