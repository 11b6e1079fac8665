// Code of your own: a Python file, or a folder as a zip, that is sent to the service, read there, and named by a new
// study.

import { ApiError, get, postCode } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { toYaml } from "../kit/yaml.js";

const LOOK = 500;
const wait = (/** @type {number} */ pause) => new Promise((resolve) => setTimeout(resolve, pause));

/** Where it was refused, and why. */
function refusal(/** @type {CodeAnswer} */ code) {
  const place = [code.file, code.line].filter((part) => part !== null).join(", line ");
  return [place, code.reason].filter(Boolean).join(": ");
}

/** What the service knows of a file once somebody has read it. @returns {Promise<CodeAnswer>} */
async function described(/** @type {File} */ file) {
  const packed = /\.zip$/i.test(file.name); // which of its files is imported is then for the service to see
  let code = await postCode(`/api/code${packed ? "" : `?entry=${encodeURIComponent(file.name)}`}`, file, packed);
  while (code.state === "waiting") {
    await wait(LOOK);
    code = await get(`/api/code/${code.hash}`);
  }
  if (code.state === "refused") throw new ApiError(422, { error: { message: refusal(code) } });
  return code;
}

/**
 * A study to start from: weights by hand against an automatic weighting, or a script with its defaults.
 * @param {{ hash: string, entry: string, problems: { name: string, kind: string, terms: string[] }[] }} code
 * @param {string} file
 */
export function firstStudy(code, file = code.entry) {
  const [own] = code.problems;
  const problem = { name: own.name };
  const byHand = { name: "fixed", beta: { grid: { from: 0.1, to: 10, count: 5, scale: "log" } } };
  const weighed = own.terms.length === 2 ? byHand : { name: "uniform" };
  const arms = own.kind === "script"
    ? [{ name: own.name, problem }]
    : [{ name: "by hand", problem, weighting: weighed }, { name: "MGDA", problem, weighting: { name: "mgda" } }];
  const name = file.replace(/\.(py|zip)$/i, "");
  return { name, code: code.hash, seeds: [0, 1, 2], arms: own.terms.length === 1 ? arms.slice(0, 1) : arms };
}

/** A button that takes a file; `onStudy` is given the text of a study of it and what is in it. */
export function ownCode({ onStudy }) {
  const said = h("span", { class: "muted", role: "status" });
  const input = h("input", { type: "file", accept: ".py,.zip", hidden: true, "aria-label": "A Python file or a zip" });
  const button = h("button", { type: "button", onclick: () => input.click() }, "Your own code …");
  input.addEventListener("change", async () => {
    const [file] = input.files ?? [];
    input.value = "";
    if (!file) return;
    button.disabled = true;
    said.className = "muted";
    setText(said, `${file.name} is being read …`);
    try {
      const code = await described(file);
      setText(said, "");
      onStudy(toYaml(firstStudy(code, file.name)), code);
    } catch (error) {
      said.className = "bad";
      setText(said, error.message);
    }
    button.disabled = false;
  });
  return h("div", { class: "own-code" }, button, input, said);
}
