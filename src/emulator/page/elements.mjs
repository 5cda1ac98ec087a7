/** The elements of the page. All content is inserted as text. */

/** @type {(root: ParentNode, selector: string) => any} The first one; the markup has it. */
export const find = (root, selector) => {
  const found = root.querySelector(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
};

/** @type {(id: string) => any} */
export const byId = (id) => find(document, `#${id}`);

/** @type {(name: string) => any} A copy of the element in a template. */
export const copyOf = (name) => byId(`${name}-template`).content.firstElementChild.cloneNode(true);

/** @type {(element: Element, text: string) => void} Touches the document only if it differs. */
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** @type {(root: ParentNode, texts: Record<string, string>) => void} */
export const fill = (root, texts) => {
  for (const [name, text] of Object.entries(texts)) setText(find(root, `[data-text="${name}"]`), text);
};

/** @type {(element: Element, name: string, is: boolean) => void} Gives it a class or takes it, if it differs. */
export const mark = (element, name, is) => {
  if (element.classList.contains(name) !== is) element.classList.toggle(name, is);
};

/** @type {(tag: string, text: string, name?: string) => HTMLElement} */
export const element = (tag, text, name = "") => {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
};

/** @type {(gone: Element | undefined) => void} Where it has the focus, the focus goes to what is nearest. */
export function takeOut(gone) {
  if (gone === undefined) return;
  if (gone.contains(document.activeElement)) {
    const near = [gone.nextElementSibling, gone.previousElementSibling].map((each) => each?.querySelector("button"));
    const place = gone.closest("[tabindex]");
    const target = near.find((button) => button?.checkVisibility()) ?? place;
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }
  gone.remove();
}
