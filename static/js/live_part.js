// <div data-live-part="URL" data-version="V">: asks for this part of the page again every 2 seconds while the page is visible, and
// shows it when it has changed. Details that are open stay open. Each new element with data-arrival is announced.
import { announce } from "./announce.js";

const FIRST = 600; // ms
const EVERY = 2_000;

function watch(part) {
  let timer;

  async function ask() {
    try {
      const url = new URL(part.dataset.livePart, location.href);
      url.searchParams.set("seen", part.dataset.version);
      const answer = await fetch(url);
      if (answer.redirected || answer.status === 404 || answer.status === 403) return; // signed out, or gone
      if (answer.status === 200) show(await answer.text(), answer.headers.get("X-Live-Version"));
    } catch {
      // offline: try again later
    }
    plan(EVERY);
  }

  function show(html, version) {
    const open = [...part.querySelectorAll("details[open][id]")].map((details) => details.id);
    const before = new Set(arrivals().map((element) => element.id));
    const focused = part.contains(document.activeElement) ? document.activeElement.closest("[id]")?.id : undefined;
    part.innerHTML = html;
    part.dataset.version = version;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.querySelector("summary")?.focus();
    const fresh = arrivals().filter((element) => !before.has(element.id));
    for (const element of fresh) element.classList.add("fresh");
    if (fresh.length) announce(fresh.map((element) => element.dataset.arrival).join(", "));
  }

  function arrivals() {
    return [...part.querySelectorAll("[data-arrival]")];
  }

  function plan(wait) {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, wait);
  }

  document.addEventListener("visibilitychange", () => plan(FIRST));
  plan(FIRST);
}

document.querySelectorAll("[data-live-part]").forEach(watch);
