// Settings forms, smoother. Without this, a list's buttons send the form and the page comes back with the list changed.
import { announce } from "./announce.js";

const changing = new WeakSet();
const SAID = { add: "Added", remove: "Removed", up: "Moved up", down: "Moved down" };

// Of a form only what no setting's name can hide is used: a setting may be called "action".
// The server changes the list; only that list is put in place, and the focus stays with what was pressed.
async function change(button) {
  const { form } = button;
  const list = button.closest("[data-list]");
  const response = await fetch(form.getAttribute("action") ?? location.href, {
    method: "POST",
    body: new FormData(form, button),
    headers: { accept: "text/html" },
  });
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = answer.getElementById(list.id);
  if (!response.ok || !fresh) throw new Error(`The list has not come: ${response.status}`);
  const entry = button.closest(".entry");
  const place = entry ? [...entry.parentElement.children].indexOf(entry) : -1;
  list.replaceWith(document.importNode(fresh, true));
  focus(document.getElementById(list.id), button.dataset.act, place);
  announce(SAID[button.dataset.act]);
  document.getElementById(list.id).dispatchEvent(new Event("input", { bubbles: true }));
}

function focus(list, act, place) {
  const entries = [...(list.querySelector(":scope > .entries")?.children ?? [])];
  const add = list.querySelector(":scope > [data-act=add]");
  const tool = (entry, name) => entry?.querySelector(`:scope > .tools > [data-act=${name}]:enabled`);
  if (act === "add") {
    entries.at(-1)?.querySelector(":is(input:not([type=hidden]), select, textarea)")?.focus();
  } else if (act === "remove") {
    (tool(entries[Math.min(place, entries.length - 1)], "remove") ?? add)?.focus();
  } else {
    const moved = entries[act === "up" ? place - 1 : place + 1];
    (tool(moved, act) ?? tool(moved, act === "up" ? "down" : "up"))?.focus();
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-list] button[data-act]");
  if (!button || event.defaultPrevented) return;
  event.preventDefault();
  const { form } = button;
  if (changing.has(form)) return;
  changing.add(form);
  change(button)
    .catch(() => HTMLFormElement.prototype.requestSubmit.call(form, button)) // the way that always works
    .finally(() => changing.delete(form));
});

// A color is shown as text beside its picker; picking one means that there is one.
document.addEventListener("input", ({ target }) => {
  if (target.type !== "color") return;
  const shown = document.querySelector(`[data-color-of="${CSS.escape(target.id)}"]`);
  if (shown) shown.textContent = target.value;
  const none = document.querySelector(`[data-none-of="${CSS.escape(target.id)}"]`);
  if (none) none.checked = false;
});
