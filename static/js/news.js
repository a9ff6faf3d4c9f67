// <p data-news="URL" hidden>…<span data-count>: asks how much is new and shows a link, so that no list jumps.
// Asks every 5 seconds at first, slower while nothing comes, and not at all while the page is hidden.
import { announce } from "./announce.js";

const FIRST = 5_000; // ms
const SLOWEST = 30_000;

function watch(place) {
  let wait = FIRST;
  let timer;

  async function ask() {
    try {
      const answer = await fetch(place.dataset.news, { headers: { Accept: "application/json" } });
      if (answer.redirected || answer.status === 404 || answer.status === 403) return; // signed out, or gone
      if (answer.ok) show((await answer.json()).count);
    } catch {
      // offline: the next time will tell
    }
    wait = Math.min(wait * 1.25, SLOWEST);
    plan();
  }

  function show(count) {
    if (!count || place.shown === count) return;
    wait = FIRST;
    const words = count >= 100 ? "100 or more new" : `${count} new`;
    if (!place.shown) announce(words);
    place.shown = count;
    place.querySelector("[data-count]").textContent = words;
    place.hidden = false;
  }

  function plan() {
    clearTimeout(timer);
    if (!document.hidden && place.shown !== 100) timer = setTimeout(ask, wait);
  }

  document.addEventListener("visibilitychange", () => {
    wait = FIRST;
    plan();
  });
  plan();
}

document.querySelectorAll("[data-news]").forEach(watch);
