// Opens pictures in a dialog with previous and next. Without this script, their links open the picture.
const list = document.querySelector("[data-lightbox]");
if (list) {
  const dialog = document.getElementById(list.dataset.lightbox);
  const links = [...list.querySelectorAll("a")];
  const shown = dialog.querySelector("img");
  const position = dialog.querySelector(".place");
  const steps = [...dialog.querySelectorAll("[data-step]")];
  let current = 0;

  function show(index) {
    current = (index + links.length) % links.length;
    shown.src = links[current].href;
    shown.alt = links[current].querySelector("img").alt;
    position.textContent = `${current + 1} of ${links.length}`;
  }

  links.forEach((link, index) => {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opens a new tab or window
      event.preventDefault();
      show(index);
      dialog.showModal();
    });
  });

  for (const step of steps) {
    step.hidden = links.length < 2;
    step.addEventListener("click", () => show(current + Number(step.dataset.step)));
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") show(current - 1);
    if (event.key === "ArrowRight") show(current + 1);
  });

  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // outside the picture
  });

  dialog.addEventListener("close", () => links[current].focus());
}
