// Every choice of the reader stands in the address, so that a link shows the same page.

const now = () => new URLSearchParams(location.search);

export const chosen = (name) => now().get(name);

export const allChosen = (name) => now().getAll(name);

/** Sets or (null, "", []) removes choices; the page stays where it is. */
export function choose(choices) {
  const query = now();
  for (const [name, value] of Object.entries(choices)) {
    query.delete(name);
    for (const each of [value].flat()) if (each !== null && each !== undefined && each !== "") query.append(name, each);
  }
  const text = query.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}
