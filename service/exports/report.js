// Draws the report's figures in the page's colours, and on paper in light ones. Asks nobody for anything.

const figures = JSON.parse(document.getElementById("figures")?.textContent ?? "{}");
const scheme = matchMedia("(prefers-color-scheme: dark)");
const PAPER_WIDTH = 640;

function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

function themed(layout) {
  const [ink, muted, line, page] = ["ink", "muted", "line", "page"].map(colour);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
  const lines = { gridcolor: line, linecolor: muted, tickcolor: muted, zerolinecolor: line };
  const axis = { ...lines, showline: true, ticks: "outside", ticklen: 4 };
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  const clear = "rgba(0,0,0,0)";
  return {
    ...layout,
    font,
    paper_bgcolor: clear,
    plot_bgcolor: clear,
    ...Object.fromEntries(axes.map((key) => [key, { ...axis, ...layout[key] }])),
    legend: { bgcolor: clear, ...layout.legend },
    modebar: { bgcolor: clear, color: muted, activecolor: ink },
    hoverlabel: { bgcolor: page, bordercolor: muted, font, align: "left" },
  };
}

/** Muted lines and points need more opacity on a dark page to be seen. */
function lit(trace) {
  if (document.documentElement.dataset.theme === "light" || !scheme.matches) return trace;
  const more = (opacity) => (typeof opacity === "number" ? Math.min(1, 1.8 * opacity) : opacity);
  const marker = trace.marker && { ...trace.marker, opacity: more(trace.marker.opacity) };
  return { ...trace, opacity: more(trace.opacity), ...(marker && { marker }) };
}

function draw(name, width) {
  const { data, layout } = figures[name];
  const size = width ? { width, autosize: false } : { autosize: true };
  const config = {
    displaylogo: false,
    displayModeBar: "hover",
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d"],
    toImageButtonOptions: { format: "svg", filename: name, width: 720, height: 480 },
  };
  return window.Plotly.react(`figure-${name}`, data.map(lit), { ...themed(layout), ...size }, config);
}

async function drawAll() {
  for (const name of Object.keys(figures)) {
    await draw(name);
    await new Promise((next) => setTimeout(next)); // the reader may scroll between two figures
  }
  document.body.dataset.drawn = String(Object.keys(figures).length);
}

scheme.addEventListener("change", drawAll);
addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  for (const name of Object.keys(figures)) draw(name, PAPER_WIDTH);
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.theme;
  drawAll();
});
drawAll();
