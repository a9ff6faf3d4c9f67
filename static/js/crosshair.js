// <svg data-plot>: one crosshair over all plots of a page, which says what each has at that day or hour. Points are its <g> and
// <a>, with their words in <title>. A finger's first touch shows it, and only the second follows the link of a point.
// <button data-tables> in [data-plots]: shows the tables of all plots there, or hides them.

const SVG = "http://www.w3.org/2000/svg";
let shown; // the words that the crosshair is at: "27 Nov"
let touched; // the point that a finger showed just now

function points(plot) {
  return [...plot.querySelectorAll(":scope > :is(a, g)")];
}

function words(point) {
  const title = point.querySelector("title");
  if (title) {
    point.dataset.said = title.textContent;
    title.remove(); // or the browser says it too
  }
  const [, name, said] = point.dataset.said.match(/^(.*?): (.*)$/s);
  return { name, said };
}

function hide() {
  for (const each of document.querySelectorAll(".cross, .cross-said")) each.remove();
  shown = undefined;
}

function draw(plot, place, { name, said }, count) {
  const middle = (100 * (place + 0.5)) / count;
  const line = document.createElementNS(SVG, "line");
  for (const [key, value] of Object.entries({ class: "cross", x1: `${middle}%`, x2: `${middle}%`, y2: "100%" }))
    line.setAttribute(key, value);
  plot.append(line);
  const box = document.createElement("div");
  box.className = "cross-said";
  const strong = document.createElement("strong");
  strong.textContent = name;
  box.append(strong, said);
  plot.after(box);
  const start = plot.getBoundingClientRect().left - plot.parentElement.getBoundingClientRect().left;
  const at = start + (plot.clientWidth * middle) / 100;
  const isLate = middle > 50;
  box.style.insetInlineStart = `${isLate ? at - box.offsetWidth - 8 : at + 8}px`;
}

function show(name) {
  if (name === shown) return;
  hide();
  shown = name;
  for (const plot of document.querySelectorAll("[data-plot]")) {
    const all = points(plot);
    const place = all.findIndex((point) => words(point).name === name);
    if (place >= 0) draw(plot, place, words(all[place]), all.length);
  }
}

function pointOf(event) {
  const plot = event.target.closest?.("[data-plot]");
  return plot && points(plot).find((point) => point.contains(event.target));
}

document.addEventListener("pointermove", (event) => {
  const point = pointOf(event);
  if (point) show(words(point).name);
  else if (shown && event.pointerType === "mouse" && !event.target.closest?.("[data-plot]")) hide();
});

document.addEventListener("pointerdown", (event) => {
  if (event.pointerType === "mouse") return;
  const point = pointOf(event);
  touched = point && words(point).name !== shown ? point : undefined;
  if (point) show(words(point).name);
  else hide();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown) hide();
});

document.addEventListener("click", (event) => {
  if (touched?.contains(event.target)) event.preventDefault();
  touched = undefined;
  const button = event.target.closest("[data-tables]");
  if (!button) return;
  const tables = [...button.closest("[data-plots]").querySelectorAll("details.more")];
  const isShown = tables.some((table) => table.open);
  for (const table of tables) table.open = !isShown;
});
