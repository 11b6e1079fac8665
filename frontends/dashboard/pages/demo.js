// What a service without studies says, and the one button that gives it one.

import { get, newKey, postYaml } from "../kit/api.js";
import { h } from "../kit/dom.js";
import { vocabulary } from "../kit/vocabulary.js";

const STUDY_WORDS =
  "A study trains the same model with different weightings of its losses and draws their Pareto fronts as they grow.";
const DEMO_WORDS =
  "The demo compares twelve hand-picked βs, MIB’s automatic weights and one network for every β on the digits: " +
  "42 short trainings, about a minute.";

async function runDemo() {
  /** @type {{ presets: Preset[] }} */
  const { presets } = await get("/api/presets");
  const preset = presets.find((candidate) => candidate.name === vocabulary.demo_preset) ?? presets[0];
  const study = await postYaml("/api/studies", preset.text, { "Idempotency-Key": newKey() });
  location.assign(`/studies/${study.id}`);
}

export function noStudyYet() {
  const problem = h("p", { class: "bad", role: "alert" });
  const button = h("button", { type: "button", class: "primary" }, "Run the demo study");
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.textContent = "";
    try {
      await runDemo();
    } catch (error) {
      problem.textContent = error.message;
      button.disabled = false;
    }
  });
  return h(
    "section",
    { class: "empty", hidden: true },
    h("h1", {}, "No study yet"),
    h("p", {}, STUDY_WORDS),
    h("p", { class: "muted" }, DEMO_WORDS),
    h("p", { class: "row" }, button, h("a", { href: "/new" }, "Write your own study")),
    problem,
  );
}
