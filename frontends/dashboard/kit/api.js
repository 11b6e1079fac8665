// The service: JSON, one error shape, a token when it asks for one, and whether it can be reached.

import { h } from "./dom.js";

export class ApiError extends Error {
  /** @param {number} status @param {{ error?: { message: string, details?: Detail[] } } | null} body */
  constructor(status, body) {
    const error = body?.error;
    super(error?.message ?? `The service answered ${status}.`);
    this.status = status;
    this.details = error?.details ?? [];
  }
}

export class Offline extends Error {
  constructor() {
    super("The service cannot be reached.");
  }
}

const EARLY = 5000;
const PATIENCE = 60_000;
/** @type {Set<(reached: boolean) => void>} */
const watchers = new Set();
let reachable = true;

/** Calls back with true or false whenever the service is reached again, or lost. */
export const onReachable = (/** @type {(reached: boolean) => void} */ act) => watchers.add(act);

function setReachable(now) {
  if (now === reachable) return;
  reachable = now;
  for (const act of watchers) act(now);
}

/** @type {Promise<void> | null} */
let asking = null;
let refused = false;

/** The service keeps it as a cookie that scripts cannot read; whether it took it, the next call will tell. */
async function signIn(/** @type {string} */ token) {
  const headers = { Authorization: `Bearer ${token}` };
  await fetch("/api/session", { method: "POST", headers, credentials: "same-origin" }).catch(() => null);
}

/** A small form for the token; shared by all calls that wait for it. */
function askForToken() {
  asking ??= new Promise((resolve) => {
    const rules = { required: true, pattern: "[!-:<-~]+" };
    const input = h("input", { type: "password", name: "token", autocomplete: "off", ...rules });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, "This service needs its token"),
      h("p", { class: "muted" }, "The link that paretoscope up prints has it; so has the file token in its home."),
      h("p", { class: "bad", role: "alert" }, refused ? "That token was refused." : ""),
      h("label", {}, "Token ", input),
      h("p", {}, h("button", { class: "primary" }, "Use this token")),
    );
    const dialog = h("dialog", { "aria-label": "Token" }, form);
    // There is nothing to see without it.
    dialog.addEventListener("close", () => dialog.isConnected && dialog.showModal());
    form.addEventListener("submit", async () => {
      dialog.remove();
      await signIn(input.value);
      asking = null;
      refused = true; // should it ask again
      window.early?.clear(); // asked without it
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

/** What before-paint.js asked for, while it is new: a page opened in the background may come to it much later. */
function takeEarly(path) {
  if (performance.now() > EARLY) window.early?.clear();
  const asked = window.early?.get(path) ?? null;
  window.early?.delete(path);
  return asked;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{ body?: string | File, type?: string, headers?: Record<string, string> }} [sending]
 */
async function request(method, path, { body, type, headers = {} } = {}) {
  for (;;) {
    let answer;
    try {
      const sent = type ? { ...headers, "Content-Type": type } : headers;
      const early = method === "GET" ? await takeEarly(path) : null; // before-paint.js may have asked already
      const signal = method === "GET" ? AbortSignal.timeout(PATIENCE) : undefined;
      answer = early ?? (await fetch(path, { method, body, headers: sent, credentials: "same-origin", signal }));
    } catch {
      setReachable(false);
      throw new Offline();
    }
    if (answer.status === 502 || answer.status === 504) {
      setReachable(false);
      throw new Offline();
    }
    setReachable(true);
    if (answer.status === 401) {
      await askForToken();
      continue;
    }
    if (answer.status === 204) return null;
    const parsed = await answer.json().catch(() => null);
    if (answer.ok && parsed === null) {
      setReachable(false); // it broke off in the middle
      throw new Offline();
    }
    if (!answer.ok) throw new ApiError(answer.status, parsed);
    return parsed;
  }
}

export const get = (/** @type {string} */ path) => request("GET", path);
export const post = (/** @type {string} */ path) => request("POST", path);
export const remove = (/** @type {string} */ path) => request("DELETE", path);

/** @param {string} path @param {unknown} value */
export const postJson = (path, value) =>
  request("POST", path, { body: JSON.stringify(value), type: "application/json" });

/** @param {string} path @param {unknown} value */
export const patchJson = (path, value) =>
  request("PATCH", path, { body: JSON.stringify(value), type: "application/json" });

/** @param {string} path @param {string} text @param {Record<string, string>} [headers] */
export const postYaml = (path, text, headers) =>
  request("POST", path, { body: text, type: "application/yaml", headers });

/** A Python file, or a folder of them as a zip. @param {string} path @param {File} file @param {boolean} packed */
export const postCode = (path, file, packed) =>
  request("POST", path, { body: file, type: packed ? "application/zip" : "text/x-python" });

/** Makes a retried submission safe. (crypto.randomUUID exists only on https and localhost.) */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const studyPath = (/** @type {string} */ id) => `/api/studies/${encodeURIComponent(id)}`;
