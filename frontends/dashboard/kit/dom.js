// Elements from plain values. Text goes in as text, never as HTML.

/**
 * h("a", {href: "/", onclick: f}, "text", child, …)
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} props
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element that index.html has. @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element ${id}.`);
  return element;
}

/** Writes only what changed, so that nothing flashes and nothing is announced twice. */
export function setText(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttr(/** @type {Element} */ element, /** @type {string} */ name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** @type {WeakMap<Element, Map<string, Element>>} */
const rowsOf = new WeakMap();

/** Takes all rows away; the next `keyed` makes them anew. @param {Element} parent */
export function clearRows(parent) {
  rowsOf.delete(parent);
  parent.replaceChildren();
}

/**
 * Rows that keep their identity: `make(item)` once, `update(element, item)` whenever.
 * @template Item
 * @param {HTMLElement} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => HTMLElement} make
 * @param {(element: HTMLElement, item: Item) => void} update
 */
export function keyed(parent, items, keyOf, make, update) {
  const known = /** @type {Map<string, HTMLElement>} */ (rowsOf.get(parent) ?? new Map());
  rowsOf.set(parent, known);
  const wanted = new Set(items.map(keyOf));
  for (const [key, element] of known) {
    if (!wanted.has(key)) {
      element.remove();
      known.delete(key);
    }
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let element = known.get(key);
    if (!element) {
      element = make(item);
      known.set(key, element);
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else if (element.isConnected && parent.moveBefore) parent.moveBefore(element, place); // keeps the focus
    else parent.insertBefore(element, place);
  }
}

/** A button that asks once more, in place, before it acts. */
export function confirmed({ label, question, yes, no, act }) {
  const box = h("span", { class: "confirm" });
  const ask = h("button", { type: "button", onclick: () => open() }, label);
  const problem = h("span", { class: "bad", role: "alert" });
  const sure = h("button", { type: "button", class: "danger" }, yes);
  const keep = h("button", { type: "button", onclick: () => close() }, no);
  function open() {
    problem.textContent = "";
    box.replaceChildren(h("span", {}, question), sure, keep, problem);
    keep.focus();
  }
  function close() {
    box.replaceChildren(ask);
    ask.focus();
  }
  sure.addEventListener("click", async () => {
    sure.disabled = keep.disabled = true;
    try {
      await act();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      sure.disabled = keep.disabled = false;
      if (document.activeElement === document.body) keep.focus(); // a disabled button loses it
    }
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || ask.isConnected) return;
    event.stopPropagation();
    close();
  });
  box.append(ask);
  return box;
}

/**
 * A button that acts at once and says beside itself what went wrong.
 * @param {string} label
 * @param {() => Promise<void>} act
 */
export function acting(label, act) {
  const problem = h("span", { class: "bad", role: "alert" });
  const button = h("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    problem.textContent = "";
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
  return h("span", { class: "confirm" }, button, problem);
}
