// A new study: from a preset or an old study, checked while it is written.

import { get, newKey, postYaml, studyPath } from "./api.js";
import { h, setText } from "./dom.js";
import { Editor } from "./editor.js";
import { plural } from "./format.js";
import { toYaml } from "./yaml.js";

const PAUSE = 400;
const FIRST = "beta-vs-mib-digits"; // what the demo runs

export async function showNew(page) {
  document.title = "New study – Paretoscope";
  const from = new URLSearchParams(location.search).get("from");
  const status = h("p", { class: "check-words" });
  const list = h("ul", { class: "errors" });
  const box = h("div", { id: "check", class: "check", role: "status" }, status, list);
  const submit = h("button", { type: "submit", class: "primary", disabled: true }, "Run this study");
  const preset = h("select", {});
  const doc = h("p", { class: "muted doc" });
  const editor = new Editor({ label: "The study as YAML", onInput: () => changed() });
  const form = h(
    "form",
    { class: "new" },
    h("div", { class: "panel-head" }, h("h1", {}, "New study"), h("label", {}, "Start from ", preset)),
    doc,
    h("div", { class: "new-grid" }, editor.element, h("div", { class: "new-side" }, box, h("p", {}, submit))),
  );
  page.replaceChildren(form);

  let timer = null;
  let asked = 0;
  let key = newKey();

  function showErrors(error) {
    const details = error.details?.length ? error.details : [{ path: "", message: error.message }];
    setText(status, details.length === 1 ? "One thing to correct" : `${details.length} things to correct`);
    status.className = "check-words bad";
    list.replaceChildren(
      ...details.map((detail) => {
        const text = [detail.path && h("code", {}, detail.path), detail.path ? ": " : "", detail.message];
        if (!detail.line) return h("li", {}, text);
        const jump = h("button", { type: "button", class: "link", onclick: () => editor.goTo(detail.line) }, `line ${detail.line}`);
        return h("li", {}, jump, " ", text);
      }),
    );
    editor.mark(details);
  }

  function showCount({ trials, arms }) {
    setText(status, `${plural(trials, "trial")} in ${plural(arms.length, "arm")}`);
    status.className = "check-words";
    const rows = arms.map((arm) => h("li", {}, `${arm.name}: ${plural(arm.trials, "trial")}`));
    list.replaceChildren(...rows);
    editor.mark([]);
  }

  async function check() {
    const mine = ++asked;
    try {
      const answer = await postYaml("/api/studies/check", editor.value);
      if (mine !== asked) return;
      submit.disabled = !answer.valid;
      if (answer.valid) showCount(answer);
      else showErrors(answer.error);
    } catch (error) {
      if (mine !== asked) return;
      submit.disabled = true;
      if (error.status === undefined) {
        setText(status, "Not checked: the service cannot be reached.");
        list.replaceChildren();
        timer = setTimeout(check, 2000);
      } else showErrors(error);
    }
  }

  function changed() {
    asked += 1;
    key = newKey();
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  function put(text, words) {
    editor.value = text;
    setText(doc, words);
    clearTimeout(timer);
    check();
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      const study = await postYaml("/api/studies", editor.value, { "Idempotency-Key": key });
      location.assign(`/studies/${study.id}`);
    } catch (error) {
      showErrors(error);
      submit.disabled = error.status === 422;
    }
  });

  try {
    const { presets } = await get("/api/presets");
    const source = from ? await get(studyPath(from)) : null;
    preset.append(
      ...(source ? [h("option", { value: "" }, `study: ${source.name}`)] : []),
      ...presets.map(({ name }) => h("option", { value: name, selected: !source && name === FIRST }, `preset: ${name}`)),
    );
    const load = () => {
      const chosen = presets.find(({ name }) => name === preset.value);
      if (chosen) put(chosen.text, chosen.doc);
      else put(toYaml(source.spec), `The spec of ${source.name}, every default written out. That study stays as it is.`);
    };
    preset.addEventListener("change", load);
    load();
  } catch (error) {
    showErrors(error);
  }
}
