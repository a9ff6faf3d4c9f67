// <div data-live-url="URL" data-version="V">: asks for its content again every 2 seconds, or `data-live-every` ms, and shows it when it
// has changed, until an answer has X-Live-Over. With [data-live-part=NAME] inside, only these are changed: the answer has a
// <template data-live-part=NAME> for each, all of one moment. Selected boxes stay selected.
// Details that are open stay open. Each new element with data-arrival is announced.
import { announce } from "./announce.js";
import { poll } from "./poll.js";

function watch(root) {
  const parts = [...root.querySelectorAll("[data-live-part]")];

  function url() {
    const found = new URL(root.dataset.liveUrl, location.href);
    found.searchParams.set("seen", root.dataset.version);
    return found;
  }

  async function show(answer) {
    const isOver = answer.headers.has("X-Live-Over");
    if (answer.status !== 200) return !isOver; // nothing has changed
    const fresh = document.createElement("template");
    fresh.innerHTML = await answer.text();
    const before = new Set(arrivals().map((element) => element.id));
    if (parts.length === 0) replace(root, fresh.content);
    for (const part of parts) {
      const found = fresh.content.querySelector(`template[data-live-part="${part.dataset.livePart}"]`);
      if (found) replace(part, found.content);
    }
    root.dataset.version = answer.headers.get("X-Live-Version");
    const arrived = arrivals().filter((element) => !before.has(element.id));
    for (const element of arrived) element.classList.add("is-new");
    if (arrived.length) announce(arrived.map((element) => element.dataset.arrival).join(", "));
    return !isOver;
  }

  function replace(part, content) {
    const open = [...part.querySelectorAll("details[open][id]")].map((details) => details.id);
    const focused = part.contains(document.activeElement) ? document.activeElement.closest("[id]")?.id : undefined;
    const checked = new Set([...part.querySelectorAll("input:checked")].map((input) => input.value));
    part.replaceChildren(content);
    for (const input of part.querySelectorAll("input[type=checkbox]")) input.checked = checked.has(input.value);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.querySelector("summary")?.focus();
  }

  function arrivals() {
    return [...root.querySelectorAll("[data-arrival]")];
  }

  const every = Number(root.dataset.liveEvery);
  poll(url, show, { wait: every || 600, next: () => every || 2_000 });
}

document.querySelectorAll("[data-live-url]").forEach(watch);
