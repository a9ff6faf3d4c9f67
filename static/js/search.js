// The search box (<div id="search" popover>): "/" and Control+K open it, results are listed while one types, arrows move
// through them, and Enter opens the first. Before one types it has what this person opened from it lately, kept in this browser
// until somebody else signs in or the person signs out, and what they may do. Without this script its form leads to a page of results.
import { announce } from "./announce.js";

const WAIT = 150; // ms after the last key
const box = document.getElementById("search");
const input = box?.querySelector("input");
const list = box?.querySelector("[data-found]");
const RECENT = "search-recent"; // {person, rows}, the newest first
const MOST = 5; // of these
let timer;
let asked = 0;
let person;

async function ask() {
  const query = input.value.trim();
  const mine = ++asked;
  try {
    const answer = await fetch(`${box.dataset.url}&${new URLSearchParams({ q: query, at: location.pathname })}`);
    if (answer.redirected || !answer.ok) throw new Error(answer.statusText);
    const html = await answer.text();
    if (mine !== asked) return;
    list.innerHTML = html;
    person = list.querySelector("[data-person]")?.dataset.person ?? person;
    if (!query) return list.querySelector("ul")?.prepend(...recents().map(rowOf));
    const count = links().length;
    announce(count === 1 ? "1 result" : `${count} results`);
  } catch {
    if (mine === asked) list.replaceChildren(); // Enter still leads to the page of results
  }
}

function recents() {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT));
    if (kept?.person === person) return kept.rows;
  } catch {
    // the browser keeps nothing, or something else wrote it
  }
  forget();
  return [];
}

function forget() {
  try {
    localStorage.removeItem(RECENT);
  } catch {
    // it keeps nothing
  }
}

function remember(link) {
  const at = new URL(link.href);
  if (!person || !/^https?:$/.test(at.protocol)) return;
  const row = {
    url: link.href,
    icon: link.querySelector("use").getAttribute("href"),
    title: link.querySelector("bdi").textContent,
    detail: link.querySelector(".name .small")?.textContent ?? "",
  };
  const rows = [row, ...recents().filter((each) => each.url !== row.url)].slice(0, MOST);
  try {
    localStorage.setItem(RECENT, JSON.stringify({ person, rows }));
  } catch {
    // it keeps nothing
  }
}

function rowOf({ url, icon, title, detail }) {
  const row = document.createElement("li");
  row.innerHTML = `<a class="item"><svg class="icon" aria-hidden="true"><use></use></svg><span class="name"><bdi></bdi>
    <span class="faint small" dir="auto"></span></span> <span class="kind">Recent</span></a>`;
  if (/^https?:/.test(url)) row.querySelector("a").href = url;
  row.querySelector("use").setAttribute("href", icon);
  row.querySelector("bdi").textContent = title;
  row.querySelector(".small").textContent = detail;
  return row;
}

function links() {
  return [...list.querySelectorAll("a")];
}

function isTyping({ target }) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function onKey(event) {
  const isShortcut = (event.ctrlKey || event.metaKey) && event.key === "k";
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
  if (event.defaultPrevented || !(isShortcut || isSlash)) return;
  event.preventDefault();
  box.showPopover();
  input.select();
}

function onKeyInBox(event) {
  const places = [input, ...links()];
  const here = places.indexOf(document.activeElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    places[(here + step + places.length) % places.length].focus();
  } else if (event.key === "Enter" && here === 0 && places.length > 1 && input.value.trim()) {
    event.preventDefault();
    places[1].click();
  }
}

document.querySelector("[data-signs-out]")?.addEventListener("submit", forget);

if (box) {
  box.addEventListener("toggle", ({ newState }) => newState === "open" && !list.childElementCount && ask());
  list.addEventListener("click", ({ target }) => {
    const link = target.closest("a");
    if (link) remember(link);
  });
  document.addEventListener("keydown", onKey);
  box.addEventListener("keydown", onKeyInBox);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    asked++; // what is on its way is no longer wanted, so Enter can't open a result of earlier words
    list.replaceChildren();
    timer = setTimeout(ask, WAIT);
  });
}
