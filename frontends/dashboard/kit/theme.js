// Light and dark: the system's choice until the reader makes one; figures ask here for the page's colours.

const KEY = "paretoscope-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const changed = new EventTarget();

export const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

export const onTheme = (/** @type {() => void} */ act) => changed.addEventListener("change", act);

/** The CSS variables as colours a figure can use; light-dark() is resolved by the browser. */
export function colours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const all = { ink: read("ink"), muted: read("muted"), line: read("line"), page: read("page") };
  probe.remove();
  return all;
}

export function bindToggle(/** @type {HTMLElement} */ button) {
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`);
  };
  const tell = () => {
    show();
    changed.dispatchEvent(new Event("change"));
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem(KEY, root.dataset.theme);
    } catch {
      // Not remembered, still applied.
    }
    tell();
  });
  system.addEventListener("change", tell);
  show();
}
