import ts from "typescript";

/**
 * What a JSDoc comment says of a property.
 * @typedef {object} Doc
 * @property {string} text Without what is below.
 * @property {string} [changing] What a change does: the sentence "Changing this …" without its beginning.
 * @property {boolean} secret Whether it says so.
 * @property {string} [standard] `@default`
 */

/**
 * The paragraphs of a JSDoc comment.
 * @param {ts.Node} node
 */
export function textOf(node) {
  const comment = ts.getJSDocCommentsAndTags(node).findLast(ts.isJSDoc)?.comment;
  return readable(ts.getTextOfJSDocComment(comment) ?? "");
}

/**
 * @param {ts.Node} node
 * @returns {Doc}
 */
export function docOf(node) {
  const whole = textOf(node);
  const changing = /(?:^|\s)Changing\s+(?:this|it)\s+(.*?)\.(?=\s|$)/s.exec(whole);
  const text = changing ? whole.replace(changing[0], "") : whole;
  return {
    text: text.replace(/(^|\s)Secret\.(?=\s|$)/, "").trim(),
    changing: changing?.[1],
    secret: /(^|\s)Secret[.:]/.test(text),
    standard: tagOf(node, "default")?.replace(/^("[^"]*"|\[\]|\d+|true|false)(?=\s|$)/, "`$1`"),
  };
}

/**
 * @param {ts.Node} node
 * @param {string} name
 */
export function tagOf(node, name) {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name);
  return tag && readable(ts.getTextOfJSDocComment(tag.comment) ?? "");
}

/**
 * For readers of the page: without the places in the service's description that the code names as its sources, and with
 * links to the files that stand beside them in the package, in docs/.
 * @param {string} text
 */
function readable(text) {
  return text
    .replace(/\(docs\/design\/[^()]*\)/g, "")
    .replace(/,\s*docs\/design\/[^()]*(?=\))/g, "")
    .replace(/[^\S\n]+(?=[.,:;]|$)/gm, "")
    .replace(/\bexamples\/[\w-]+/g, "`$&` in the repository")
    .replace(/\bdocs\/([\w-]+\.md)/g, "[$&]($1)")
    .trim();
}
