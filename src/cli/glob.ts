/** The source of a regular expression for a pattern; `any`: what its `*` stands for. */
export const globSource = (pattern: string, any: string): string =>
  pattern
    .split("*")
    .map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(any);
