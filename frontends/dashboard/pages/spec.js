// The study as YAML, and how a paper would describe it: a methods paragraph and the BibTeX of what was used.

import { get, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { toYaml } from "../kit/yaml.js";

/** A text with a button that copies it. */
export function copied(/** @type {string} */ title, /** @type {HTMLElement} */ element) {
  const button = h("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(element.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Without https or permission there is no clipboard: the text is selected instead.
      getSelection()?.selectAllChildren(element);
      button.textContent = "Selected: press Ctrl C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return h("section", { class: "copied" }, h("div", { class: "panel-head" }, h("h2", {}, title), button), element);
}

export function specPanel(/** @type {Study} */ study) {
  const yaml = h("pre", { tabindex: "0", role: "region", "aria-label": "The study as YAML" }, toYaml(study.spec));
  const paragraph = h("p", { class: "methods" }, "Loading …");
  const bibtex = h("pre", { tabindex: "0", role: "region", "aria-label": "BibTeX" });
  const again = h("p", {}, h("a", { href: `/new?from=${encodeURIComponent(study.id)}` }, "Run again with changes"));
  const methods = h("div", {}, copied("Methods", paragraph), copied("BibTeX", bibtex));
  const element = h("div", { class: "spec" }, h("div", {}, again, copied("Spec", yaml)), methods);
  const seen = new IntersectionObserver(async ([entry]) => {
    if (!entry.isIntersecting) return;
    try {
      const methods = await get(`${studyPath(study.id)}/methods`);
      setText(paragraph, methods.paragraph);
      setText(bibtex, methods.bibtex);
    } catch (error) {
      setText(paragraph, error.message);
    }
  });
  seen.observe(element);
  return element;
}
