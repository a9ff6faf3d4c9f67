// <div data-run="PATH" data-token="ID" hidden><button>…<div class="run-result">: sends a GET request with the token in the
// field with that ID, and shows the response. Hidden without scripts, where the curl command above does the same.
const MOST = 1500; // characters shown of a body

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

async function run(box) {
  const result = box.querySelector(".run-result");
  const button = box.querySelector("button");
  button.setAttribute("aria-disabled", "true");
  const began = performance.now();
  try {
    const token = document.getElementById(box.dataset.token).value;
    const answer = await fetch(box.dataset.run, {
      credentials: "omit",
      headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
    });
    const text = await answer.text();
    const took = Math.round(performance.now() - began);
    result.replaceChildren(...shown(answer.ok, `${answer.status} in ${took} ms`, text));
  } catch {
    result.replaceChildren(...shown(false, "No response", "The browser could not reach the platform. Try again."));
  }
  button.removeAttribute("aria-disabled");
}

function shown(ok, headline, text) {
  const code = element("pre", "", "");
  code.tabIndex = 0;
  code.append(element("code", "", pretty(text)));
  const figure = element("figure", "code limited", "");
  figure.append(code);
  const said = element("p", `pill kind-${ok ? "ok" : "bad"}`, ok ? `Your first call: ${headline}` : headline);
  if (ok) said.prepend(tick());
  return [said, ...(ok ? read(text) : []), figure];
}

// A tick that draws itself.
function tick() {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon drawn");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", "M4 12l5 5L20 6");
  svg.append(path);
  return svg;
}

// "30 products, the newest is Mulled Cider."
function read(text) {
  try {
    const { data, total } = JSON.parse(text);
    if (!data.length || !data[0].name) return [];
    const words = total === 1 ? `One product: ${data[0].name}.` : `${total} products, the newest is ${data[0].name}.`;
    return [element("p", "what-was-read", words)];
  } catch {
    return []; // not a list, or not in full
  }
}

function pretty(text) {
  try {
    text = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // not JSON: as it came
  }
  return text.length > MOST ? `${text.slice(0, MOST)}\n…` : text;
}

for (const box of document.querySelectorAll("[data-run]")) {
  box.hidden = false;
  box.querySelector("button").addEventListener("click", () => run(box));
}
