// <form data-live="URL" data-for="blockId">: while the merchant types, the block on the canvas shows the new settings.
// The server reads the form as it does on Save, but stores nothing.
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
    // Ignore outdated responses, and values that can't be saved.
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
