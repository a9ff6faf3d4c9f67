// The page editor around its canvas, which has a script of its own (canvas.js).

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
