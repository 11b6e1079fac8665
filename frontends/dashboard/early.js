// Runs before the first paint: the remembered theme, and on a study's page an early start for plotly.js.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("paretoscope-theme");
  } catch {
    // Storage may be forbidden; the system's theme is used then.
  }
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
  if (location.pathname.startsWith("/studies/")) {
    const script = document.createElement("script");
    script.src = "/assets/plotly.min.js";
    script.id = "plotly";
    document.head.append(script);
  }
})();
