// <button data-copy="ID">: copies the field or element with that ID. If the ID is empty, copies the surrounding code block.
import { announce } from "./announce.js";

const SHOWN = 2000; // ms

function source(button) {
  const id = button.dataset.copy;
  return id ? document.getElementById(id) : button.closest("[data-code]").querySelector("code");
}

function select(element) {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    element.focus();
    element.select();
  } else {
    getSelection().selectAllChildren(element);
  }
}

async function copy(button) {
  const element = source(button);
  try {
    await navigator.clipboard.writeText(element.value ?? element.textContent);
  } catch {
    select(element); // the browser refused: select the text, ready for Ctrl+C
    announce("Selected. Press Control and C to copy.");
    return;
  }
  button.dataset.done = "";
  announce("Copied");
  clearTimeout(button.timer);
  button.timer = setTimeout(() => delete button.dataset.done, SHOWN);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
