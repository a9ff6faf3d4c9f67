// <p data-news="URL" hidden>…<span data-count>: asks for the number of new items and shows a link to them, so that the
// list doesn't jump, and after a press of it they have a tint. With `data-title`, the number is also in the window's title: "(2) Orders". Asks every 5 seconds at first, slower while there is nothing new.
import { announce } from "./announce.js";
import { poll, slower } from "./poll.js";

const MOST = 100; // that are counted
const ARRIVED = "arrived"; // how many were new when the link to them was pressed

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

  notice.querySelector("a").addEventListener("click", () => {
    try {
      sessionStorage.setItem(ARRIVED, String(notice.shown));
    } catch {
      // Without storage they arrive without a tint.
    }
  });

  const pace = poll(() => notice.dataset.news, show, {
    wait,
    next: (last) => steady || slower(last),
    accept: "application/json",
  });
}

document.querySelectorAll("[data-news]").forEach(watch);

try {
  const arrived = Number(sessionStorage.getItem(ARRIVED));
  sessionStorage.removeItem(ARRIVED);
  for (const row of [...document.querySelectorAll("main tbody tr:not(.day)")].slice(0, arrived))
    row.classList.add("is-new");
} catch {
  // the same
}
