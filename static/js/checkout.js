// Keeps the sums of the checkout up to date: asks for them when the delivery method or the town has changed, once for each
// choice and never while a town is being typed. Without this script, or if asking fails, the page has a button for it.
import { announce } from "./announce.js";

const PAUSE = 900; // ms after the last keystroke
const form = document.querySelector("form.checkout");
const sums = form.querySelector("[data-sums]");
const before = sums.innerHTML; // what is known without asking
let asked, request, timer;

function choice() {
  const values = new FormData(form);
  const method = values.get("delivery_method") ?? "";
  return { method, town: method === "DELIVERY" ? (values.get("locality") ?? "").trim() : "" };
}

// The style sheet shows what belongs to the chosen method. Browsers don't always notice that in `:has()`.
function show({ method }) {
  form.dataset.method = method;
}

function plan(wait) {
  const now = choice();
  show(now);
  clearTimeout(timer);
  if (JSON.stringify(now) === asked) return;
  if (wait === 0) return ask(now);
  timer = setTimeout(() => ask(choice()), wait);
}

async function ask(now) {
  asked = JSON.stringify(now);
  request?.abort();
  request = new AbortController();
  sums.innerHTML = before;
  form.dataset.sums = "waiting";
  sums.setAttribute("aria-busy", "true");
  const body = new URLSearchParams({
    total: "1",
    offered: form.elements.offered.value,
    delivery_method: now.method,
    locality: now.town,
  });
  try {
    const answer = await fetch(location.href, {
      method: "POST",
      body,
      headers: { "X-Part": "sums" },
      signal: request.signal,
    });
    if (answer.status === 409 || answer.status === 404) return location.reload(); // the cart has changed
    if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
    sums.innerHTML = await answer.text();
    form.dataset.sums = "known";
    const [word, amount] = sums.querySelectorAll(".total > *");
    announce(`${word.textContent}: ${amount.textContent}`);
  } catch (error) {
    if (error.name === "AbortError") return;
    form.dataset.sums = "failed";
    asked = undefined;
  }
  sums.removeAttribute("aria-busy");
}

form.elements.locality.addEventListener("input", () => plan(PAUSE));
form.addEventListener("change", ({ target }) => {
  if (["delivery_method", "locality"].includes(target.name)) plan(0);
});
addEventListener("pageshow", () => plan(0)); // also with values that the browser has filled in
