// The words and limits of the service's catalog, as they stand in the page: no script keeps a list of its own.

import { byId } from "./dom.js";
import { duration, left } from "./format.js";

/** @type {Vocabulary} */
export const vocabulary = JSON.parse(byId("vocabulary").textContent ?? "");

const states = new Map(vocabulary.study_states.map((state) => [state.name, state]));

/** Whether nothing more happens to the study. @param {{ state: string }} study */
export const isEnded = (study) => Boolean(states.get(study.state)?.ended);

/** Whether a study in its state can be paused, resumed … @param {{ state: string }} study @param {string} wish */
export const takes = (study, wish) => Boolean(states.get(study.state)?.takes.includes(wish));

/** "finished in {took}" with what is known of it; nothing where something is not. */
function filled(/** @type {string} */ words, /** @type {Record<string, string | number | null>} */ known) {
  const parts = words.split(/{(\w+)}/).map((part, i) => (i % 2 ? known[part] ?? null : part));
  return parts.includes(null) ? null : parts.join("");
}

/** Which look a study's state has: an interrupted one has its own. @param {ListedStudy} study */
export const lookOf = (study) => (study.interrupted ? "interrupted" : study.state);

/** The state of a study in words. @param {ListedStudy & Pick<Study, "queue_position" | "pausing">} study */
export function stateWords(study) {
  if (study.unreadable) return `${study.state} · unreadable`;
  const took = study.started_at && study.ended_at ? duration(study.ran_seconds) : null;
  const known = { ...study.counts, took, place: study.queue_position ?? null };
  const own = study.interrupted ? vocabulary.interrupted_words : states.get(study.state)?.words;
  const words = filled(own ?? study.state, known) ?? study.state;
  if (study.pausing) return words.replace(/^paused/, "pausing");
  return study.eta_seconds === null ? words : `${words} · ${left(study.eta_seconds)}`;
}
