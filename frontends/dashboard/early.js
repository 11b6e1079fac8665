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

  const path = `/api${location.pathname.replace(/\/+$/, "")}`;
  const query = new URLSearchParams([...new URLSearchParams(location.search)].filter(([key]) => "xyz".includes(key))).toString();
  const front = `${path}/figures/pareto-front${query ? `?${query}` : ""}`;
  // Taken up by api.js; a failure is met there as if it had asked itself. The comparison waits for the front: all read one log.
  const ask = (each) => fetch(each, { credentials: "same-origin" }).catch(() => null);
  const asked = [path, front].map((each) => [each, ask(each)]);
  const compared = asked[1][1].then(() => ask(`${path}/comparison`));
  window.early = new Map([...asked, [`${path}/comparison`, compared]]);

  const link = (rel, href, kind) => document.head.append(Object.assign(document.createElement("link"), { rel, href, ...kind }));
  const modules =
    "address app arms brush columns figures live panels progress save shortcuts sketch spec study study-head tabs trial trials yaml";
  for (const name of modules.split(" ")) link("modulepreload", `/assets/${name}.js`);
  link("preload", "/assets/plotly.min.js", { as: "script", fetchPriority: "low" });
})();
