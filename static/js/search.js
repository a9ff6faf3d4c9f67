// The search box (<div id="search" popover>): "/" and Control+K open it, results are listed while one types, arrows move
// through them, and Enter opens the first. Without this script its form leads to a page of results.
import { announce } from "./announce.js";

const WAIT = 150; // ms after the last key
const box = document.getElementById("search");
const input = box?.querySelector("input");
const list = box?.querySelector("[data-found]");
let timer;
let asked = 0;

async function ask() {
  const query = input.value.trim();
  const mine = ++asked;
  if (!query) return list.replaceChildren();
  try {
    const answer = await fetch(`${box.dataset.url}&${new URLSearchParams({ q: query })}`);
    if (answer.redirected || !answer.ok) throw new Error(answer.statusText);
    const html = await answer.text();
    if (mine !== asked) return;
    list.innerHTML = html;
    const count = links().length;
    announce(count === 1 ? "1 result" : `${count} results`);
  } catch {
    if (mine === asked) list.replaceChildren(); // Enter still leads to the page of results
  }
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
  } else if (event.key === "Enter" && here === 0 && places.length > 1) {
    event.preventDefault();
    places[1].click();
  }
}

if (box) {
  document.addEventListener("keydown", onKey);
  box.addEventListener("keydown", onKeyInBox);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    asked++; // what is on its way is no longer wanted, so Enter can't open a result of earlier words
    list.replaceChildren();
    timer = setTimeout(ask, WAIT);
  });
}
