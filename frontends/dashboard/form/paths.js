// Places in a study: ["arms", 0, "name"] is arms[0].name, as the service writes it in its errors.

export function pathText(/** @type {Path} */ path) {
  const step = (part) => (typeof part === "number" ? `[${part}]` : `.${part}`);
  return path.map(step).join("").replace(/^\./, "");
}

export const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export const read = (spec, /** @type {Path} */ path) => path.reduce((here, part) => here?.[part], spec);

/** The path itself, then what it lies in, up to the study's own part. */
export function outwards(/** @type {string} */ text) {
  const places = [text];
  for (let here = text; /[.[]/.test(here); ) {
    here = here.replace(/(\.[^.[\]]+|\[\d+\])$/, "");
    if (here === places.at(-1)) break;
    places.push(here);
  }
  return places;
}

/** Puts a value there; undefined removes it, and with it a map that has become empty. */
export function write(spec, /** @type {Path} */ path, value) {
  const holder = path.slice(0, -1);
  const key = path[holder.length];
  let here = spec;
  holder.forEach((part, i) => {
    if (here[part] === null || typeof here[part] !== "object") here[part] = typeof path[i + 1] === "number" ? [] : {};
    here = here[part];
  });
  if (value !== undefined) {
    here[key] = value;
    return;
  }
  if (Array.isArray(here)) here.splice(Number(key), 1);
  else delete here[key];
  const isInList = typeof holder.at(-1) === "number";
  if (holder.length && !isInList && isMap(here) && Object.keys(here).length === 0) write(spec, holder, undefined);
}
