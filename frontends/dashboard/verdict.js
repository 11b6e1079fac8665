// One honest sentence about the arms: hypervolume with its interval, against training time.

import { interval, number, percent, plural } from "./format.js";

/** The arm others are measured against: most trials, and among equals the largest hypervolume. */
function baselineOf(arms) {
  return arms.reduce((best, arm) => {
    const trials = arm.counts.planned - best.counts.planned;
    return trials > 0 || (trials === 0 && arm.hypervolume.mean > best.hypervolume.mean) ? arm : best;
  });
}

function spreadWords(arms) {
  const seeds = Math.min(...arms.map((arm) => arm.hypervolume.seeds));
  return seeds === 1 ? "one seed, no interval" : `mean ± 95 % over ${plural(seeds, "seed")}`;
}

const volume = ({ mean, half_width: half }) => (half === null ? number(mean) : interval(mean, half));

function against(arm, baseline) {
  const share = percent(arm.hypervolume.mean / baseline.hypervolume.mean);
  const time = baseline.training_seconds > 0 && arm.training_seconds > 0
    ? ` with ${percent(arm.training_seconds / baseline.training_seconds)} of its training time`
    : "";
  return `${arm.name} reaches ${share} of ${baseline.name}’s hypervolume${time}`;
}

export function verdict(comparison) {
  const ended = ["finished", "failed", "cancelled"].includes(comparison.state);
  const known = comparison.arms.filter((arm) => arm.hypervolume.mean !== null && arm.hypervolume.mean > 0);
  if (!known.length) return ended ? "No trial came to a result." : "No results yet.";
  const start = ended ? "" : "So far: ";
  if (known.length === 1) {
    const [arm] = known;
    const others = comparison.arms.length - 1;
    const silent = others ? ` ${others === 1 ? "The other arm has" : "The other arms have"} no result${ended ? "" : " yet"}.` : "";
    return `${start}${arm.name} has a hypervolume of ${volume(arm.hypervolume)} (${spreadWords([arm])}).${silent}`;
  }
  const baseline = baselineOf(known);
  const others = known.filter((arm) => arm !== baseline).sort((a, b) => b.hypervolume.mean - a.hypervolume.mean);
  const [first] = others;
  const more = others.length > 1 ? ` ${plural(others.length - 1, "more arm")} below it.` : "";
  const numbers = `${volume(first.hypervolume)} against ${volume(baseline.hypervolume)}, ${spreadWords([first, baseline])}`;
  return `${start}${against(first, baseline)} (${numbers}).${more}`;
}
