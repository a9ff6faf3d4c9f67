// While the page has an element [data-live-state], asks for the page again and reloads it once that element's value has changed:
// every 2 seconds at first, slower while nothing happens. [data-live-text] is kept up to date.
import { poll, slower } from "./poll.js";

const content = document.querySelector("main .content") ?? document.createElement("div");
const state = (root) => root.querySelector("[data-live-state]")?.dataset.liveState;

async function show(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (state(page) !== state(content)) return location.reload(); // a new page, because scripts have looked for their elements in this one
  for (const text of content.querySelectorAll("[data-live-text]")) {
    const fresh = page.querySelector(`[data-live-text="${text.dataset.liveText}"]`);
    if (fresh && fresh.textContent !== text.textContent) text.textContent = fresh.textContent;
  }
}

for (const link of content.querySelectorAll("[data-live-reload]")) link.hidden = true;
if (content.querySelector("[data-live-state]")) poll(() => location.href, show, { wait: 2_000, next: slower });
