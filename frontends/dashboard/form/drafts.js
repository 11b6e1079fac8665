// What was written and not yet run outlives a reload; it is kept for this tab only.

const KEY = "paretoscope-new-study";

/** Keeps the text, or forgets it where it is what the source says anyway. */
export function keepDraft(source, text, original) {
  try {
    if (text === original) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify({ source, text }));
  } catch {
    // Storage may be forbidden or full; the text then lasts as long as the page.
  }
}

/** The text kept for this source, if there is one. */
export function keptDraft(source) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return kept?.source === source ? kept.text : null;
  } catch {
    return null;
  }
}

export const forgetDraft = () => keepDraft("", "", "");
