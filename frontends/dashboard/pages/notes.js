// What people wrote about a study: its notes and tags, and the form that changes them.

import { patchJson, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { markdown } from "../kit/markdown.js";

/** "paper, digits" as the service takes it. @param {string} text */
const tagsOf = (text) => [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))];

/** A tag that leads to all studies that have it. @param {string} tag */
export const tagLink = (tag) => h("a", { class: "tag", href: `/?tag=${encodeURIComponent(tag)}` }, tag);

export class Notes {
  /** `onNoted` gets the study as it is called now. @param {Study} study @param {(study: Study) => void} onNoted */
  constructor(study, onNoted) {
    this.path = studyPath(study.id);
    this.onNoted = onNoted;
    this.study = study;
    this.text = h("div", { class: "markdown" });
    this.tags = h("p", { class: "tags" });
    this.name = h("input", { id: "note-name", type: "text", maxlength: "200", autocomplete: "off" });
    this.words = h("input", { id: "note-tags", type: "text", autocomplete: "off", placeholder: "paper, digits" });
    this.area = h("textarea", { id: "note-text", rows: "8", maxlength: "20000", spellcheck: "true" });
    this.pinned = h("input", { id: "note-pinned", type: "checkbox" });
    this.archived = h("input", { id: "note-archived", type: "checkbox" });
    this.problem = h("p", { class: "bad", role: "alert" });
    this.save = h("button", { class: "primary" }, "Save");
    const leave = h("button", { type: "button", onclick: () => this.close() }, "Leave it as it is");
    const field = (label, input) => [h("label", { for: input.id }, label), input];
    const check = (label, input) => h("label", {}, input, ` ${label}`);
    this.form = h(
      "form",
      { class: "notes-form", id: "notes-form", "aria-label": "Notes on this study", novalidate: true, hidden: true },
      field("Name", this.name),
      field("Tags", this.words),
      field("Notes, in Markdown", this.area),
      h("div", { class: "row" }, check("pinned", this.pinned), check("archived", this.archived)),
      h("div", { class: "row" }, this.save, leave),
      this.problem,
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
    this.button = h("button", { type: "button", "aria-controls": "notes-form", onclick: () => this.toggle() });
    this.element = h("section", { class: "notes", "aria-label": "Notes" }, this.tags, this.text, this.form);
    this.show(study);
  }

  /** @param {ListedStudy & { notes?: string }} study */
  show(study) {
    this.study = { ...this.study, ...study };
    const { notes = "", tags = [], archived } = this.study;
    const said = JSON.stringify([notes, tags, archived]);
    if (said === this.said) return;
    this.said = said;
    this.text.replaceChildren(...markdown(notes));
    this.tags.replaceChildren(...tags.map(tagLink), archived ? h("span", { class: "muted" }, "archived") : "");
    this.text.hidden = !this.form.hidden;
    this.tags.hidden = !this.form.hidden || (!tags.length && !archived);
    setText(this.button, notes ? "Edit notes" : "Add notes");
    this.element.hidden = this.tags.hidden && !notes && this.form.hidden;
  }

  toggle() {
    if (!this.form.hidden) return this.close();
    const { name, notes = "", tags = [], pinned, archived } = this.study;
    this.name.value = name;
    this.words.value = tags.join(", ");
    this.area.value = notes;
    this.pinned.checked = Boolean(pinned);
    this.archived.checked = Boolean(archived);
    this.element.hidden = this.form.hidden = false;
    this.text.hidden = this.tags.hidden = true; // the form has both
    this.button.setAttribute("aria-expanded", "true");
    this.area.focus();
  }

  close() {
    this.form.hidden = true;
    this.problem.textContent = "";
    this.said = "";
    this.show(this.study);
    this.button.setAttribute("aria-expanded", "false");
    this.button.focus();
  }

  async #submit() {
    this.save.disabled = true;
    try {
      const fresh = await patchJson(this.path, {
        name: this.name.value.trim(),
        tags: tagsOf(this.words.value),
        notes: this.area.value,
        pinned: this.pinned.checked,
        archived: this.archived.checked,
      });
      this.study = fresh;
      this.onNoted(fresh);
      this.close();
    } catch (error) {
      this.problem.textContent = error.message;
    } finally {
      this.save.disabled = false;
      if (!this.form.hidden) this.save.focus(); // a disabled button loses it
    }
  }
}
