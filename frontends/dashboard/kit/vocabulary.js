// The words and limits of the service's catalog, as they stand in the page: no script keeps a list of its own.

import { byId } from "./dom.js";

/** @type {Vocabulary} */
export const vocabulary = JSON.parse(byId("vocabulary").textContent ?? "");

const states = new Map(vocabulary.study_states.map((state) => [state.name, state]));

/** Whether nothing more happens to the study. @param {{ state: string }} study */
export const isEnded = (study) => Boolean(states.get(study.state)?.ended);

/** Whether a study in its state can be paused, resumed … @param {{ state: string }} study @param {string} wish */
export const takes = (study, wish) => Boolean(states.get(study.state)?.takes.includes(wish));
