// One honest sentence about the arms: hypervolume with its interval, against training time.

import { ENDED, interval, percent, plural } from "./format.js";

/** The arm others are measured against: most trials, and among equals the largest hypervolume. */
function baselineOf(arms) {
  return arms.reduce((best, arm) => {
    const trials = arm.counts.planned - best.counts.planned;
    return trials > 0 || (trials === 0 && arm.hypervolume.mean > best.hypervolume.mean) ? arm : best;
  });
}

/** Hypervolumes with what is known about their spread: intervals, one seed, or different numbers of seeds. */
function withSpread(arms) {
  const seeds = arms.map((arm) => arm.hypervolume.seeds);
  const count = (n) => (n === 1 ? "one seed" : plural(n, "seed"));
  const values = arms.map(({ hypervolume }) => interval(hypervolume.mean, hypervolume.half_width));
  if (new Set(seeds).size > 1) {
    return `${values.map((value, i) => `${value} from ${count(seeds[i])}`).join(" against ")}, mean ± 95 %`;
  }
  return `${values.join(" against ")}, ${seeds[0] === 1 ? "one seed, no interval" : `mean ± 95 % over ${count(seeds[0])}`}`;
}

function against(arm, baseline) {
  const share = percent(arm.hypervolume.mean / baseline.hypervolume.mean);
  const time = baseline.training_seconds > 0 && arm.training_seconds > 0
    ? ` with ${percent(arm.training_seconds / baseline.training_seconds)} of its training time`
    : "";
  return `${arm.name} reaches ${share} of ${baseline.name}’s hypervolume${time}`;
}

export function verdict(comparison) {
  const ended = ENDED.includes(comparison.state);
  const known = comparison.arms.filter((arm) => arm.hypervolume.mean !== null && arm.hypervolume.mean > 0);
  if (!known.length) return ended ? "No trial came to a result." : "No results yet.";
  const start = ended ? "" : "So far: ";
  if (known.length === 1) {
    const [arm] = known;
    const others = comparison.arms.length - 1;
    const silent = others ? ` ${others === 1 ? "The other arm has" : "The other arms have"} no result${ended ? "" : " yet"}.` : "";
    return `${start}${arm.name} has a hypervolume of ${withSpread([arm])}.${silent}`;
  }
  const baseline = baselineOf(known);
  const others = known.filter((arm) => arm !== baseline).sort((a, b) => b.hypervolume.mean - a.hypervolume.mean);
  const [first] = others;
  const more = others.length > 1 ? ` ${plural(others.length - 1, "more arm")} below it.` : "";
  return `${start}${against(first, baseline)} (${withSpread([first, baseline])}).${more}`;
}
