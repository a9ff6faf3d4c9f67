// While the page has an element [data-live], asks for the page again and reloads it once that element's value has changed:
// every 2 seconds at first, slower while nothing happens, and never on a hidden page. [data-live-text] is kept up to date.
const FIRST = 2_000; // ms
const SLOWEST = 30_000;

const content = document.querySelector("main .content");
let wait = FIRST;
let timer;

async function ask() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected || answer.status === 404 || answer.status === 403) return; // signed out, or gone
    if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // offline: try again later
  }
  wait = Math.min(wait * 1.25, SLOWEST);
  plan();
}

function show(page) {
  const state = (root) => root.querySelector("[data-live]")?.dataset.live;
  if (state(page) === state(content)) {
    for (const text of content.querySelectorAll("[data-live-text]")) {
      const fresh = page.querySelector(`[data-live-text="${text.dataset.liveText}"]`);
      if (fresh && fresh.textContent !== text.textContent) text.textContent = fresh.textContent;
    }
    return;
  }
  location.reload(); // a new page, because scripts have looked for their elements in this one
}

function plan() {
  clearTimeout(timer);
  if (!document.hidden && content.querySelector("[data-live]")) timer = setTimeout(ask, wait);
}

document.addEventListener("visibilitychange", () => {
  wait = FIRST;
  plan();
});
for (const link of content.querySelectorAll("[data-live-reload]")) link.hidden = true;
plan();
