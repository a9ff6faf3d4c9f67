// <p data-news="URL" hidden>…<span data-count>: asks for the number of new items and shows a link to them, so that the
// list doesn't jump. With `data-title`, the number is also in the window's title: "(2) Orders". Asks every 5 seconds at first, slower while there is nothing new.
import { announce } from "./announce.js";
import { poll, slower } from "./poll.js";

const MOST = 100; // that are counted

function watch(notice) {
  const steady = Number(notice.dataset.every); // `data-every`: as often as this, in ms, without slowing down
  const wait = steady || 5_000;
  const title = document.title;

  async function show(answer) {
    const { count } = await answer.json();
    if (!count || notice.shown === count) return;
    pace.wait = wait;
    const text = count >= MOST ? `${MOST} or more new` : `${count} new`;
    if (!notice.shown) announce(text);
    notice.shown = count;
    notice.querySelector("[data-count]").textContent = text;
    notice.hidden = false;
    if (notice.dataset.title !== undefined) document.title = `(${count}) ${title}`;
    return count < MOST;
  }

  const pace = poll(() => notice.dataset.news, show, {
    wait,
    next: (last) => steady || slower(last),
    accept: "application/json",
  });
}

document.querySelectorAll("[data-news]").forEach(watch);
