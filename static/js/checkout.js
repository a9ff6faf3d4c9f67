// Keeps the sums of the checkout up to date: asks for them when the delivery method, the town or the contact has changed, since an app
// may give a regular customer a discount. It asks once for each choice, and never while a text is being typed. Without this script, or
// if asking fails, the page has a button for it.
// Placing the order waits for the total, and says what takes long. The words are on the page, in the store's language.
import { announce } from "./announce.js";

const PAUSE = 900; // ms after the last keystroke
const PRESS = 2_000; // ms of the longest press that is waited for
const form = document.querySelector("form.checkout");
if (form) {
  const sums = form.querySelector("[data-sums]");
  const before = sums.innerHTML; // what is known without asking
  let asked, request, timer;
  let isWaiting = false; // for sums

  function choice() {
    const values = new FormData(form);
    const method = values.get("delivery_method") ?? "";
    const who = ["customer_email", "customer_phone"].map((name) => (values.get(name) ?? "").trim());
    return { method, who, town: method === "DELIVERY" ? (values.get("locality") ?? "").trim() : "" };
  }

  // The style sheet shows what belongs to the chosen method. Browsers don't always notice that in `:has()`.
  function show({ method }) {
    form.dataset.method = method;
  }

  // A press takes the focus out of a field, which changes the field. Browsers only count the press if its button is still there when
  // it ends, so the sums, which may be longer or shorter, wait for that. Its end may be outside of the window, where it isn't seen.
  let released = Promise.resolve();
  addEventListener("pointerdown", () => {
    released = new Promise((done) => {
      for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => done(), { once: true });
      setTimeout(done, PRESS);
    });
  });
  async function settle() {
    await released;
    await new Promise((done) => setTimeout(done)); // after the events of the same press
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
    const { signal } = (request = new AbortController());
    isWaiting = true;
    await settle();
    if (signal.aborted) return;
    form.dataset.sums = "waiting";
    sums.setAttribute("aria-busy", "true");
    sums.innerHTML = before;
    const body = new URLSearchParams({
      total: "1",
      offered: form.elements.offered.value,
      delivery_method: now.method,
      locality: now.town,
      customer_email: now.who[0],
      customer_phone: now.who[1],
    });
    try {
      const answer = await fetch(location.href, {
        method: "POST",
        body,
        headers: { "X-Part": "sums" },
        signal,
      });
      if (answer.status === 409 || answer.status === 404) return location.reload(); // the cart has changed
      if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
      const known = await answer.text();
      await settle();
      if (signal.aborted) return;
      sums.innerHTML = known;
      form.dataset.sums = "known";
      const [word, amount] = sums.querySelectorAll(".total > *");
      announce(`${word.textContent}: ${amount.textContent}`);
    } catch (error) {
      if (error.name === "AbortError") return;
      form.dataset.sums = "failed";
      asked = undefined;
    }
    isWaiting = false;
    sums.removeAttribute("aria-busy");
    goOn();
  }

  // A press while the total is being worked out is kept. It goes on by itself unless the total is above the one that was shown.
  const button = form.querySelector("[data-place]");
  const note = form.querySelector("[data-placing]");
  const LONG = 3_000; // ms
  const label = button.textContent;
  let pressed, slow;

  function total() {
    const shown = [...sums.querySelectorAll(".total")].find((row) => getComputedStyle(row).display !== "none");
    return { minor: Number(shown.dataset.minor), text: shown.lastElementChild.textContent };
  }

  function goOn() {
    if (pressed === undefined) return;
    const seen = pressed;
    rest();
    if (form.dataset.sums === "failed") {
      note.textContent = note.dataset.notKnown;
    } else if (total().minor <= seen) {
      form.requestSubmit(button);
    } else {
      note.textContent = note.dataset.now.replace("{total}", () => total().text);
    }
  }

  function rest() {
    clearTimeout(slow);
    pressed = undefined;
    button.textContent = label;
    button.removeAttribute("aria-disabled");
    note.textContent = "";
  }

  function waitsFor() {
    const method = form.querySelector("[name=payment_method]:checked");
    const ofAnApp = method?.value.includes(":");
    return ofAnApp
      ? note.dataset.app.replace("{name}", () => method.closest("label").querySelector(".title").textContent)
      : note.dataset.store;
  }

  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter !== button) return;
    button.setAttribute("aria-disabled", "true");
    if (isWaiting) {
      event.preventDefault();
      pressed ??= total().minor;
      button.textContent = button.dataset.working;
      return;
    }
    button.textContent = button.dataset.sending;
    slow = setTimeout(() => (note.textContent = waitsFor()), LONG);
  });
  addEventListener("pageshow", rest); // also when the browser comes back to the page

  form.elements.locality.addEventListener("input", () => plan(PAUSE));
  form.addEventListener("change", ({ target }) => {
    if (["delivery_method", "locality", "customer_email", "customer_phone"].includes(target.name)) plan(0);
  });
  addEventListener("pageshow", () => plan(0)); // also with values that the browser has filled in
}
