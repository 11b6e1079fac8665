// Elements from plain values. Text goes in as text, never as HTML.

/** h("a", {href: "/", onclick: f}, "text", child, …) */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Writes only what changed, so that nothing flashes and nothing is announced twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttr(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Rows that keep their identity: `make(item)` once, `update(element, item)` whenever. */
export function keyed(parent, items, keyOf, make, update) {
  const known = parent.knownRows ?? (parent.knownRows = new Map());
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

// The marker shapes of service/figures/style.py, on a 12 × 12 field.
const SHAPES = {
  circle: "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
  diamond: "M6 .5L11.5 6L6 11.5L.5 6z",
  square: "M2 2h8v8h-8z",
  "triangle-up": "M6 1L11 10.5H1z",
  x: "M3 1L6 4L9 1L11 3L8 6L11 9L9 11L6 8L3 11L1 9L4 6L1 3z",
  star: "M6 .5L7.5 4.2L11.5 4.5L8.4 7L9.5 11L6 8.8L2.5 11L3.6 7L.5 4.5L4.5 4.2z",
  cross: "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
  hexagon: "M6 .8L10.6 3.4V8.6L6 11.2L1.4 8.6V3.4z",
};

/** The arm's marker as in the figures. */
export function swatch(arm) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", SHAPES[arm.symbol] ?? SHAPES.circle);
  path.setAttribute("fill", arm.colour ?? "currentColor");
  svg.append(path);
  return svg;
}
