/**
 * A text as one word of a shell, whatever is in it.
 * @param {string} text
 */
export function shellQuote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
