// <form data-live="address" data-for="blockId">: while somebody types, its block on the canvas shows what the settings
// would be. The server reads the form, as it does on Save, and nothing is kept before that.
const PAUSE = 150; // ms
const LATE = 8000; // ms

const form = document.querySelector("form[data-live]");
if (form) {
  const frame = document.querySelector(`iframe[data-block="${form.dataset.for}"]`);
  const unsaved = form.querySelector("[data-unsaved]");
  let timer;
  let asked = 0;

  const show = async () => {
    const number = ++asked;
    const answer = await fetch(form.dataset.live, { method: "POST", body: new FormData(form) });
    // A later answer may have come first; a value that can't be kept is not shown either.
    if (number !== asked || !answer.ok) return;
    const { settings } = await answer.json();
    frame.dispatchEvent(new CustomEvent("block:update", { detail: settings, bubbles: true }));
  };

  form.addEventListener("input", () => {
    if (unsaved) unsaved.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });
}

// A block that says nothing for eight seconds is said to be late; it may still come.
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
