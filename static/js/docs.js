// The documentation: pages are copied as Markdown, and the navigation shows the current page.
import { announce } from "./announce.js";
import "./site.js";

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
