// The block: what was ordered last, drawn as the merchant set it up, and renewed while somebody looks.

import { connectBlock, followHeight, wear } from "./extension-platform.js";

const RENEWED = 20_000; // milliseconds
const businessId = new URLSearchParams(location.search).get("businessId") ?? "";
const locale = new URLSearchParams(location.search).get("locale") || undefined;
const texts = JSON.parse(document.documentElement.dataset.texts); // of the store's language, by the English ones
const t = (text) => texts[text] ?? text;
const at = (id) => document.getElementById(id);

let settings = null;
let orders = [];

function draw() {
  if (!settings) return;
  at("title").textContent = t(settings.title || "Just ordered");
  if (settings.color) document.documentElement.style.setProperty("--accent", settings.color);
  const since = Date.parse(settings.since) || 0;
  const shown = orders.filter((each) => Date.parse(each.orderedAt) >= since).slice(0, settings.entries ?? 4);
  at("orders").replaceChildren(...shown.map(row));
  at("empty").hidden = shown.length > 0;
  drawLink();
  at("block").hidden = false;
}

function drawLink() {
  const isWeb = /^https?:\/\//i.test(settings.link ?? "");
  at("more").hidden = !isWeb;
  if (!isWeb) return;
  at("link").href = settings.link;
  at("link").textContent = t(settings.linkText || "See more");
}

function row({ goods, orderedAt }) {
  const item = document.createElement("li");
  const what = document.createElement("span");
  const [first, ...others] = goods;
  const more = others.length ? t(" and {number} more").replace("{number}", others.length) : "";
  what.textContent = `${first.name}${first.quantity > 1 ? ` × ${first.quantity}` : ""}${more}`;
  const when = document.createElement("time");
  when.dateTime = orderedAt;
  when.textContent = ago(Date.parse(orderedAt));
  item.append(what, when);
  return item;
}

function ago(moment) {
  const minutes = Math.round((moment - Date.now()) / 60_000);
  const words = new Intl.RelativeTimeFormat(knownLocale(), { numeric: "auto" });
  if (minutes > -60) return words.format(Math.min(0, minutes), "minute");
  if (minutes > -60 * 24) return words.format(Math.round(minutes / 60), "hour");
  return words.format(Math.round(minutes / 60 / 24), "day");
}

function knownLocale() {
  try {
    return Intl.getCanonicalLocales(locale)[0];
  } catch {
    return undefined;
  }
}

async function renew() {
  try {
    const answer = await fetch(`/block/recent-orders.json?businessId=${encodeURIComponent(businessId)}`);
    if (answer.ok) orders = (await answer.json()).orders;
    draw();
  } catch {
    // what is shown stays
  }
  setTimeout(renew, RENEWED);
}

const block = connectBlock({
  platformOrigin: document.documentElement.dataset.platform,
  storesOrigin: document.documentElement.dataset.stores,
  onSettings(given, _blockId, theme) {
    settings = given;
    wear(theme);
    draw();
  },
});
followHeight(block, document.querySelector("main"));
renew();
