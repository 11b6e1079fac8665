// The app in the browser: one page, four views, chosen by the address. Links are ordinary links.

import { onReachable } from "../kit/api.js";
import { byId, h } from "../kit/dom.js";
import { shortcut, showShortcuts } from "../kit/shortcuts.js";
import { bindToggle } from "../kit/theme.js";

const page = byId("page");
const banner = byId("banner");

function showCrumbs(/** @type {HTMLElement[]} */ ...parts) {
  const arrow = () => h("span", { "aria-hidden": "true", class: "muted" }, "▸");
  byId("crumbs").replaceChildren(...parts.flatMap((part) => [arrow(), part]));
}

onReachable((reached) => {
  banner.hidden = reached;
  banner.textContent = reached ? "" : "Connection lost. Trying again …";
});
const theme = byId("theme");
bindToggle(theme);
byId("keys").addEventListener("click", showShortcuts);
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
    byId("new-link").setAttribute("aria-current", "page");
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
  const again = h("button", { type: "button", class: "primary" }, "Load the page again");
  again.addEventListener("click", () => location.reload());
  const [title, words] = [h("h2", {}, "The page could not be shown"), h("p", {}, error.message)];
  page.replaceChildren(h("section", { class: "empty" }, title, words, h("p", {}, again)));
  throw error;
}
