// <div data-live-part="URL" data-version="V">: asks for this part of the page again every 2 seconds, or `data-live-every` ms, and shows
// it when it has changed, until an answer has X-Live-Over. Selected boxes stay selected.
// Details that are open stay open. Each new element with data-arrival is announced.
import { announce } from "./announce.js";
import { poll } from "./poll.js";

function watch(part) {
  function url() {
    const found = new URL(part.dataset.livePart, location.href);
    found.searchParams.set("seen", part.dataset.version);
    return found;
  }

  async function show(answer) {
    const isOver = answer.headers.has("X-Live-Over");
    if (answer.status !== 200) return !isOver; // nothing has changed
    const html = await answer.text();
    const open = [...part.querySelectorAll("details[open][id]")].map((details) => details.id);
    const before = new Set(arrivals().map((element) => element.id));
    const focused = part.contains(document.activeElement) ? document.activeElement.closest("[id]")?.id : undefined;
    const checked = new Set([...part.querySelectorAll("input:checked")].map((input) => input.value));
    part.innerHTML = html;
    for (const input of part.querySelectorAll("input[type=checkbox]")) input.checked = checked.has(input.value);
    part.dataset.version = answer.headers.get("X-Live-Version");
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.querySelector("summary")?.focus();
    const fresh = arrivals().filter((element) => !before.has(element.id));
    for (const element of fresh) element.classList.add("fresh");
    if (fresh.length) announce(fresh.map((element) => element.dataset.arrival).join(", "));
    return !isOver;
  }

  function arrivals() {
    return [...part.querySelectorAll("[data-arrival]")];
  }

  const every = Number(part.dataset.liveEvery);
  poll(url, show, { wait: every || 600, next: () => every || 2_000 });
}

document.querySelectorAll("[data-live-part]").forEach(watch);
