// Changes lists in settings forms without a page load. Without this script, a list's buttons submit the form.
import { announce } from "./announce.js";

const changing = new WeakSet();
const DONE = { add: "Added", remove: "Removed", up: "Moved up", down: "Moved down" };

// Never reads properties of the form that a setting's name can shadow, since a setting may be called "action".
// The server changes the list, this replaces only that list, and the focus stays on the pressed button.
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
  if (!response.ok || !fresh) throw new Error(`Could not load the list: ${response.status}`);
  const entry = button.closest(".entry");
  const index = entry ? [...entry.parentElement.children].indexOf(entry) : -1;
  list.replaceWith(document.importNode(fresh, true));
  focus(document.getElementById(list.id), button.dataset.act, index);
  announce(DONE[button.dataset.act]);
  document.getElementById(list.id).dispatchEvent(new Event("input", { bubbles: true }));
}

function focus(list, act, index) {
  const entries = [...(list.querySelector(":scope > .entries")?.children ?? [])];
  const add = list.querySelector(":scope > [data-act=add]");
  const tool = (entry, name) => entry?.querySelector(`:scope > .tools > [data-act=${name}]:enabled`);
  if (act === "add") {
    entries.at(-1)?.querySelector(":is(input:not([type=hidden]), select, textarea)")?.focus();
  } else if (act === "remove") {
    (tool(entries[Math.min(index, entries.length - 1)], "remove") ?? add)?.focus();
  } else {
    const moved = entries[act === "up" ? index - 1 : index + 1];
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
    .catch(() => HTMLFormElement.prototype.requestSubmit.call(form, button)) // fall back to submitting the form
    .finally(() => changing.delete(form));
});

// Shows a color as text beside its picker. Picking a color unchecks "None".
document.addEventListener("input", ({ target }) => {
  if (target.type !== "color") return;
  const shown = document.querySelector(`[data-color-of="${CSS.escape(target.id)}"]`);
  if (shown) shown.textContent = target.value;
  const none = document.querySelector(`[data-none-of="${CSS.escape(target.id)}"]`);
  if (none) none.checked = false;
});
