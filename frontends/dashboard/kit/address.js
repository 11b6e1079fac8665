// Every choice of the reader stands in the address, so that a link shows the same page.

const now = () => new URLSearchParams(location.search);

export const chosen = (/** @type {string} */ name) => now().get(name);

export const allChosen = (/** @type {string} */ name) => now().getAll(name);

/** Sets or (null, "", []) removes choices; the page stays where it is. */
export function choose(/** @type {Record<string, string | string[] | null | undefined>} */ choices) {
  const query = now();
  for (const [name, value] of Object.entries(choices)) {
    query.delete(name);
    const kept = [value].flat().filter((each) => each !== null && each !== undefined && each !== "");
    for (const each of kept) query.append(name, String(each));
  }
  const text = query.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}
