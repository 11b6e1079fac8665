// Places in a study: ["arms", 0, "name"] is arms[0].name, as the service writes it in its errors.

export const pathText = (path) =>
  path.reduce((text, part) => (typeof part === "number" ? `${text}[${part}]` : text ? `${text}.${part}` : part), "");

export const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export const read = (spec, path) => path.reduce((here, part) => here?.[part], spec);

/** The path itself, then what it lies in, up to the study's own part. */
export function outwards(text) {
  const places = [text];
  for (let here = text; /[.[]/.test(here); ) {
    here = here.replace(/(\.[^.[\]]+|\[\d+\])$/, "");
    if (here === places.at(-1)) break;
    places.push(here);
  }
  return places;
}

/** Puts a value there; undefined takes it away, and with it a map that has become empty. */
export function write(spec, path, value) {
  const [key, holder] = [path.at(-1), path.slice(0, -1)];
  let here = spec;
  holder.forEach((part, i) => {
    if (here[part] === null || typeof here[part] !== "object") here[part] = typeof path[i + 1] === "number" ? [] : {};
    here = here[part];
  });
  if (value !== undefined) {
    here[key] = value;
    return;
  }
  if (Array.isArray(here)) here.splice(key, 1);
  else delete here[key];
  if (holder.length && isMap(here) && Object.keys(here).length === 0 && typeof holder.at(-1) !== "number") write(spec, holder, undefined);
}
