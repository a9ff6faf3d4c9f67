// <p data-news="URL" hidden>…<span data-count>: asks for the number of new items and shows a link to them, so that the
// list doesn't jump. With `data-title`, the number is also in the window's title: "(2) Orders". Asks every 5 seconds at first, slower while there is nothing new, and never on a hidden page.
import { announce } from "./announce.js";

const FIRST = 5_000; // ms
const SLOWEST = 30_000;

function watch(notice) {
  const steady = Number(notice.dataset.every); // `data-every`: as often as this, in ms, without slowing down
  const first = steady || FIRST;
  let wait = first;
  const title = document.title;
  let timer;

  async function ask() {
    try {
      const answer = await fetch(notice.dataset.news, { headers: { Accept: "application/json" } });
      if (answer.redirected || answer.status === 404 || answer.status === 403) return; // signed out, or gone
      if (answer.ok) show((await answer.json()).count);
    } catch {
      // offline: try again later
    }
    wait = steady || Math.min(wait * 1.25, SLOWEST);
    plan();
  }

  function show(count) {
    if (!count || notice.shown === count) return;
    wait = first;
    const text = count >= 100 ? "100 or more new" : `${count} new`;
    if (!notice.shown) announce(text);
    notice.shown = count;
    notice.querySelector("[data-count]").textContent = text;
    notice.hidden = false;
    if (notice.dataset.title !== undefined) document.title = `(${count}) ${title}`;
  }

  function plan() {
    clearTimeout(timer);
    if (!document.hidden && notice.shown !== 100) timer = setTimeout(ask, wait);
  }

  document.addEventListener("visibilitychange", () => {
    wait = first;
    plan();
  });
  plan();
}

document.querySelectorAll("[data-news]").forEach(watch);
