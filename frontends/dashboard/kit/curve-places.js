// Places of a curve: what they are called, how they stand in the address, and which of them is nearest to one.

import { configLabel, setting } from "./format.js";

/** "β 0.01", "left 0.3 · right 0.7". @param {Record<string, Flat>} values */
export const placeWords = (values) =>
  Object.entries(values).map(([key, value]) => `${configLabel(key)} ${setting(value)}`).join(" · ");

/** How far apart two places are, as for the service: a value by its ratio to the other, shares by their distance. */
function apart(/** @type {number[]} */ one, /** @type {number[]} */ other) {
  const away = Math.hypot(...one.map((value, i) => value - other[i]));
  return one.length > 1 ? away : away / (Math.abs(one[0]) + Math.abs(other[0]) || 1);
}

/** The place that lies nearest to the values; the middle without any, or with those of other terms. */
export function placeNear(/** @type {{ where: Record<string, number> }[]} */ places, /** @type {number[]} */ values) {
  const known = places.map(({ where }) => Object.values(where));
  if (!values.length || known.some((each) => each.length !== values.length)) return Math.floor((places.length - 1) / 2);
  const distances = known.map((each) => apart(each, values));
  return distances.indexOf(Math.min(...distances));
}

/** As it stands in the address, to six digits: "0.01", "0.3,0.7". @param {number[]} values */
export const placeInAddress = (values) => values.map((value) => Number(value.toPrecision(6))).join(",");

/** The values of such a text; none of one that is no place. @param {string | null} text */
export function valuesIn(text) {
  const values = (text ?? "").split(",").map(parseFloat);
  return values.every(Number.isFinite) ? values : [];
}
