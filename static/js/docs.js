// The documentation: the search box lists results while one types, pages are copied as Markdown, and the navigation shows
// the current page. Without this script the search box leads to a page of results.
import { announce } from "./announce.js";
import "./site.js";

{
  // <form data-search="URL">: "/" focuses the field, arrows choose a result, Enter opens it, Escape closes the list.
  const WAIT = 120; // ms after the last key
  const form = document.querySelector("[data-search]");
  const input = form.querySelector("input");
  const list = form.querySelector("ul");
  let timer;
  let asked = 0;

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function open(chosen) {
    close();
    location.assign(chosen.dataset.url);
  }

  function part(name, className, html) {
    const made = document.createElement(name);
    made.className = className;
    made.innerHTML = html; // escaped by the server, with <mark> around the words that were found
    return made;
  }

  function option(result, number) {
    const item = document.createElement("li");
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.id = `docs-found-${number}`;
    item.dataset.url = result.url; // not a link: an option of a list box holds nothing that can be focused
    const trail = document.createElement("span");
    trail.className = "trail";
    trail.textContent = result.trail;
    item.append(part("span", "name", result.name), trail, part("span", "excerpt", result.excerpt));
    return item;
  }

  async function ask() {
    const query = input.value.trim();
    const mine = ++asked;
    if (!query) return close();
    try {
      const answer = await fetch(`${form.dataset.search}?${new URLSearchParams({ q: query })}`);
      const { results } = await answer.json();
      if (mine !== asked || document.activeElement !== input) return;
      list.replaceChildren(...results.map(option));
      list.hidden = results.length === 0;
      input.setAttribute("aria-expanded", String(results.length > 0));
      input.removeAttribute("aria-activedescendant");
      announce(results.length === 1 ? "1 result" : `${results.length} results`);
    } catch {
      close(); // Enter still leads to the page of results
    }
  }

  function choose(step) {
    const options = [...list.children];
    const current = options.findIndex((each) => each.getAttribute("aria-selected") === "true");
    const next = current < 0 ? (step > 0 ? 0 : options.length - 1) : (current + step + options.length) % options.length;
    options.forEach((each, number) => each.setAttribute("aria-selected", String(number === next)));
    options[next].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[next].id);
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  input.addEventListener("focus", () => {
    if (input.value.trim() && list.children.length) {
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
    }
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? 1 : -1);
    } else if (!list.hidden && event.key === "Enter") {
      const chosen = list.querySelector('[aria-selected="true"]');
      if (chosen) {
        event.preventDefault();
        open(chosen);
      }
    }
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) close();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus until the link is followed
  list.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-url]");
    if (chosen) open(chosen);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}

{
  // <button data-copy-page="URL">: copies the text at that URL.
  const SHOWN = 2000; // ms
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy-page]");
    if (!button) return;
    try {
      const answer = await fetch(button.dataset.copyPage);
      await navigator.clipboard.writeText(await answer.text());
    } catch {
      location.href = button.dataset.copyPage; // the browser refused: show the text instead
      return;
    }
    button.dataset.done = "";
    announce("Copied");
    clearTimeout(button.timer);
    button.timer = setTimeout(() => delete button.dataset.done, SHOWN);
  });
}

{
  // Scrolls the navigation, not the page, to the current entry.
  const current = document.querySelector(".side-nav [aria-current]");
  const nav = current?.closest(".side-nav");
  if (nav) {
    const show = () => {
      nav.scrollTop = current.offsetTop - nav.clientHeight / 2;
    };
    show();
    nav.addEventListener("toggle", show); // on a phone it is opened
  }
}

{
  // <fieldset data-choice="KIND">: a choice of a framework or language holds for all of its kind, and is remembered.
  const kept = (kind) => `docs-${kind}`;

  function choose(kind, value) {
    for (const set of document.querySelectorAll(`[data-choice="${kind}"]`)) {
      const same = [...set.elements].find((each) => each.value === value);
      if (same) same.checked = true;
    }
  }

  function remember(kind, value) {
    choose(kind, value);
    try {
      localStorage.setItem(kept(kind), value);
    } catch {
      // the browser keeps nothing
    }
  }

  for (const kind of ["framework", "language"]) {
    try {
      choose(kind, localStorage.getItem(kept(kind)));
    } catch {
      // as above
    }
  }
  document.addEventListener("change", ({ target }) => {
    const kind = target.closest("[data-choice]")?.dataset.choice;
    if (kind) remember(kind, target.value);
  });

  // An address that names a tab, or something in a fold, shows it.
  function show() {
    const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!named) return;
    if (named.matches(".tabbed > label")) named.control.checked = true;
    const fold = named.closest("details:not([open])");
    if (!fold) return;
    fold.open = true;
    named.scrollIntoView();
  }
  addEventListener("hashchange", show);
  show();
}
