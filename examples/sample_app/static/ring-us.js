// The widget: a bell that shoppers press, and the merchant sees on the app's page.

import { connectBlock, followHeight, wear } from "./extension-platform.js";

const businessId = new URLSearchParams(location.search).get("businessId") ?? "";
const at = (id) => document.getElementById(id);

const texts = JSON.parse(document.documentElement.dataset.texts); // of the store's language, by the English ones
const t = (text) => texts[text] ?? text;

const SHOWN = 15_000; // milliseconds

let settings = {};
let silence = 0;

function draw() {
  at("label").textContent = t(settings.label || "Ring us");
  if (settings.color) at("ring").style.setProperty("--accent", settings.color);
  at("widget").hidden = false;
}

async function ring() {
  at("ring").disabled = true;
  try {
    const answer = await fetch("/widget/rings", { method: "POST", body: JSON.stringify({ businessId }) });
    say(t(answer.ok ? settings.answer || "We heard the bell." : "The bell is out of order."), answer.ok);
  } catch {
    say(t("The bell is out of order."), false);
  }
  setTimeout(() => {
    at("ring").disabled = false;
  }, 2000);
}

function say(text, isHeard) {
  const parts = [document.createTextNode(text)];
  if (settings.phone && isHeard) {
    const call = document.createElement("a");
    call.href = `tel:${settings.phone.replace(/[^0-9+]/g, "")}`;
    call.textContent = settings.phone;
    parts.push(document.createTextNode(t(" Or call ")), call, document.createTextNode("."));
  }
  at("answer").replaceChildren(...parts);
  clearTimeout(silence);
  silence = setTimeout(() => at("answer").replaceChildren(), SHOWN); // it covers a part of the page
}

at("ring").addEventListener("click", ring);
const block = connectBlock({
  platformOrigin: document.documentElement.dataset.platform,
  storesOrigin: document.documentElement.dataset.stores,
  onSettings(given, _blockId, theme) {
    settings = given;
    for (const each of ["ring", "answer"]) wear(theme, at(each));
    draw();
  },
});
followHeight(block, document.querySelector("main"));
