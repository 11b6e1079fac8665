// The words and limits of the service's catalog, as they stand in the page: no script keeps a list of its own.

import { byId } from "./dom.js";

/** @type {Vocabulary} */
export const vocabulary = JSON.parse(byId("vocabulary").textContent ?? "");

const ended = new Set(vocabulary.study_states.filter((state) => state.ended).map((state) => state.name));

/** Whether nothing more happens to the study. @param {{ state: string }} study */
export const isEnded = (study) => ended.has(study.state);
