// One page, three views, chosen by the address. Links are ordinary links.

import { onReachable } from "./api.js";
import { h } from "./dom.js";
import { shortcut, showShortcuts } from "./shortcuts.js";
import { bindToggle } from "./theme.js";

const page = document.getElementById("page");
const banner = document.getElementById("banner");

function showCrumbs(...parts) {
  const crumbs = document.getElementById("crumbs");
  crumbs.replaceChildren(...parts.flatMap((part) => [h("span", { "aria-hidden": "true", class: "muted" }, "▸"), part]));
}

onReachable((reached) => {
  banner.hidden = reached;
  banner.textContent = reached ? "" : "Connection lost. Trying again …";
});
const theme = document.getElementById("theme");
bindToggle(theme);
document.getElementById("keys").addEventListener("click", showShortcuts);
shortcut("s", "all studies", () => location.assign("/"));
shortcut("n", "new study", () => location.assign("/new"));
shortcut("d", "dark or light", () => theme.click());

async function open() {
  const path = location.pathname.replace(/\/+$/, "") || "/";
  const studyId = path.startsWith("/studies/") ? decodeURIComponent(path.slice("/studies/".length)) : null;
  if (studyId !== null) {
    const { showStudy } = await import("./study.js");
    await showStudy(page, studyId, showCrumbs);
  } else if (path === "/compare") {
    const { showCompare } = await import("./compare.js");
    await showCompare(page, showCrumbs);
  } else if (path === "/new") {
    document.getElementById("new-link").setAttribute("aria-current", "page");
    showCrumbs(h("span", {}, "new study"));
    const { showNew } = await import("./new.js");
    await showNew(page);
  } else {
    showCrumbs(h("span", {}, "studies"));
    const { showList } = await import("./list.js");
    await showList(page);
  }
}

try {
  await open();
} catch (error) {
  // A module that did not come, or a mistake of ours: never a blank page.
  const again = h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Load the page again");
  page.replaceChildren(h("section", { class: "empty" }, h("h2", {}, "The page could not be shown"), h("p", {}, error.message), h("p", {}, again)));
  throw error;
}
