// Runs before the first paint: the remembered theme, and on a study's page an early start for what it will ask for.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("paretoscope-theme");
  } catch {
    // Storage may be forbidden; the system's theme is used then.
  }
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
  if (!location.pathname.startsWith("/studies/")) return;

  const { front_figure: front } = JSON.parse(document.getElementById("vocabulary")?.textContent ?? "{}");
  const path = `/api${location.pathname.replace(/\/+$/, "")}`;
  const axes = [...new URLSearchParams(location.search)].filter(([key]) => ["x", "y", "z"].includes(key));
  const query = new URLSearchParams(axes).toString();
  // Taken up by api.js; a failure is met there as if it had asked itself.
  const ask = (/** @type {string} */ address) => fetch(address, { credentials: "same-origin" }).catch(() => null);
  const frontAddress = `${path}/figures/${front}${query ? `?${query}` : ""}`;
  const drawn = ask(frontAddress);
  window.early = new Map([
    [path, ask(path)],
    [frontAddress, drawn],
    [`${path}/comparison`, drawn.then(() => ask(`${path}/comparison`))], // waits for the front: all read one log
  ]);

  const link = (/** @type {Partial<HTMLLinkElement>} */ properties) =>
    document.head.append(Object.assign(document.createElement("link"), properties));
  const modules = {
    pages: "app arms-table bounds columns curve-points notes point-picker spec study study-head trial-columns "
      + "trial-drawer trial-place trials-table",
    figures: "brush controls curve drawing figure-panel look pointer save sketch",
    kit: "address curve-places light live markdown menu metrics progress shortcuts state-words swatch tabs "
      + "vocabulary yaml",
  };
  for (const [folder, names] of Object.entries(modules)) {
    for (const name of names.split(" ")) link({ rel: "modulepreload", href: `/assets/${folder}/${name}.js` });
  }
  link({ rel: "preload", href: "/assets/plotly.min.js", as: "script", fetchPriority: "low" });
})();
