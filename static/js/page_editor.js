// <form data-live="URL" data-for="blockId">: while the merchant types, the block on the canvas shows the new settings.
// The server reads the form as it does on Save, but stores nothing.
const PAUSE = 150; // ms
const LATE = 8000; // ms

/** Sends a form as it is to another address than its own, which only a script may. */
function send(form, url) {
  const headers = { "X-CSRFToken": form.querySelector("[name=csrfmiddlewaretoken]").value };
  return fetch(url, { method: "POST", body: new FormData(form), headers });
}

const form = document.querySelector("form[data-live]");
if (form) {
  const frame = document.querySelector(`iframe[data-block="${form.dataset.for}"]`);
  const unsaved = form.querySelector("[data-unsaved]");
  let timer;
  let asked = 0;

  const show = async () => {
    const number = ++asked;
    const answer = await send(form, form.dataset.live);
    // Ignore outdated responses, and values that can't be saved.
    if (number !== asked || !answer.ok) return;
    const { settings } = await answer.json();
    frame.dispatchEvent(new CustomEvent("block:update", { detail: settings, bubbles: true }));
  };

  // A button such as Reset changed the form on the server, which saved nothing.
  if ("changed" in form.dataset) {
    if (unsaved) unsaved.hidden = false;
    frame.addEventListener("block:ready", show);
  }

  form.addEventListener("input", () => {
    if (unsaved) unsaved.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });
}

// <form data-text-preview="URL">: the canvas shows the page's text while it is typed.
const writing = document.querySelector("form[data-text-preview]");
if (writing) {
  const text = document.querySelector("[data-text]");
  let timer;
  let asked = 0;
  const show = async () => {
    const number = ++asked;
    const answer = await send(writing, writing.dataset.textPreview);
    if (number === asked && answer.ok) text.innerHTML = await answer.text(); // cleaned by the server
  };
  writing.addEventListener("input", () => {
    writing.querySelector("[data-unsaved]").hidden = false;
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });
}

// The canvas as wide as a device.
const widths = document.querySelector("[data-widths]");
if (widths) {
  widths.hidden = false;
  widths.addEventListener("click", ({ target }) => {
    const chosen = target.closest("[data-choose]");
    if (!chosen) return;
    widths.parentElement.dataset.width = chosen.dataset.choose;
    for (const each of widths.querySelectorAll("[data-choose]")) {
      each.setAttribute("aria-pressed", String(each === chosen));
    }
  });
}

// Shows a notice beside a block that hasn't loaded within eight seconds. It may still load.
for (const notice of document.querySelectorAll("[data-late]")) {
  const frame = document.querySelector(`iframe[data-block="${notice.dataset.late}"]`);
  const wait = () =>
    setTimeout(() => {
      notice.hidden = "ready" in frame.dataset;
    }, LATE);
  frame.addEventListener("block:ready", () => {
    notice.hidden = true;
  });
  notice.querySelector("[data-retry]").addEventListener("click", () => {
    notice.hidden = true;
    frame.src = frame.getAttribute("src");
    wait();
  });
  wait();
}
