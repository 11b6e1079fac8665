// The attacks of a study's evaluation.

import { h } from "../kit/dom.js";
import { namedPart } from "./part.js";
import { asWritten, row } from "./row.js";

const PATH = ["evaluation", "attacks"];

/** The first one that the study does not have yet: what a form starts from, then in the catalog's order. */
function nextAttack(/** @type {Entry[]} */ entries, attacks) {
  const used = new Set(attacks.map((attack) => attack?.name));
  const first = entries.filter((entry) => entry.first_choice);
  return [...first, ...entries].find((entry) => !used.has(entry.name)) ?? first[0];
}

export function attackRows(/** @type {import("./study-form.js").StudyForm} */ form) {
  const attacks = form.read(PATH) ?? [];
  if (!Array.isArray(attacks)) return [asWritten(form, PATH, "attacks", attacks)];
  const { attacks: entries } = form.catalog;
  const rows = attacks.map((_, i) => {
    const path = [...PATH, i];
    const remove = h("button", { type: "button", onclick: () => form.remove(path) }, "Remove this attack");
    const part = namedPart(form, path, { label: `attack ${i + 1}`, entries });
    return h("div", { class: "attack" }, part, h("p", { class: "section-end" }, remove));
  });
  const add = h("button", { type: "button", id: "add-attack" }, "Add an attack");
  add.addEventListener("click", () => {
    form.set([...PATH, attacks.length], { name: nextAttack(entries, attacks).name }, { render: true });
  });
  const hint = form.section("evaluation")?.schema.properties.attacks.description;
  return [...rows, row(form, PATH, { label: "attacks", hint, build: () => add, group: true })];
}
