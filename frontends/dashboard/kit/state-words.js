// The state of a study in words, and the look that it has.

import { duration, left } from "./format.js";
import { vocabulary } from "./vocabulary.js";

const usual = new Map(vocabulary.study_states.map(({ name, words }) => [name, words]));

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
  const own = study.interrupted ? vocabulary.interrupted_words : usual.get(study.state);
  const words = filled(own ?? study.state, known) ?? study.state;
  if (study.pausing) return words.replace(/^paused/, "pausing");
  return study.eta_seconds === null ? words : `${words} · ${left(study.eta_seconds)}`;
}
