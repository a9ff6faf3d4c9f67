// `store.js` on a page of a shop that isn't ours: scripts, widgets and blocks of the store's apps, as our own stores have them.
//
// <script async src="https://platform.example/store.js" data-store="<Business ID>" data-page="<slug>" data-locale="en"></script>
//
// Nothing of an app becomes markup, and styles are set by scripts alone, which a policy without 'unsafe-inline' allows. Without an
// answer the page stays as it is. However many copies of this script a page has, the first one mounts.
import { hostFrames } from "./frame_host.js";

const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups";
const PATIENCE = 10_000; // ms
// In a layer, so that the shop's own rules win.
const LOOK = `@layer extension-platform {
.extension-block, .extension-widget { display: block; border: 0; inline-size: 100%; color-scheme: light; }
.extension-block + .extension-block { margin-block-start: 24px; }
.extension-widgets {
position: fixed; inset-block-end: max(16px, env(safe-area-inset-bottom)); z-index: 1000;
display: flex; flex-direction: column; gap: 8px; inline-size: min(320px, calc(100vw - 32px)); }
.extension-widgets[data-corner=bottom_right] { inset-inline-end: max(16px, env(safe-area-inset-right)); }
.extension-widgets[data-corner=bottom_left] { inset-inline-start: max(16px, env(safe-area-inset-left)); }
}`;

const own = document.currentScript ?? document.querySelector("script[data-store]");
const parsed = new Promise((done) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", done);
  else done();
});

// Browsers ignore the nonce of a script with an attribute in which one seems to begin (CSP, "Is element nonceable?").
const asJson = (settings) => JSON.stringify(settings).replaceAll("<", "\\u003c");

async function placements() {
  const { store, page = "", locale = "" } = own.dataset;
  const address = new URL(`placements/${encodeURIComponent(store)}`, own.src);
  address.search = new URLSearchParams({ page, locale });
  const answer = await fetch(address, { credentials: "omit", signal: AbortSignal.timeout(PATIENCE) });
  return answer.ok ? answer.json() : null;
}

function mountScript({ src, integrity, app, settings }, place) {
  const script = document.createElement("script");
  script.async = true;
  if (integrity) {
    script.integrity = integrity;
    script.crossOrigin = "anonymous";
  }
  if (own.nonce) script.nonce = own.nonce;
  Object.assign(script.dataset, {
    app: app.slug,
    businessId: own.dataset.store,
    settings: asJson(settings),
  });
  script.src = src;
  place.append(script);
}

function mountFrame({ id, src, app, settings }, className, height, place) {
  const frame = document.createElement("iframe");
  frame.className = className;
  frame.title = app.name;
  frame.height = height;
  frame.setAttribute("sandbox", SANDBOX);
  frame.referrerPolicy = "strict-origin";
  Object.assign(frame.dataset, {
    app: app.slug,
    block: id,
    origin: new URL(src).origin,
    settings: asJson(settings),
  });
  frame.src = src;
  place.append(frame);
}

function mountWidgets(widgets) {
  for (const corner of new Set(widgets.map(({ position }) => position))) {
    const aside = document.createElement("div");
    aside.className = "extension-widgets";
    aside.dataset.corner = corner;
    for (const each of widgets) if (each.position === corner) mountFrame(each, "extension-widget", 80, aside);
    document.body.append(aside);
  }
}

// What an app has put into the cart, by its slug. The shop keeps it, and may say what it has kept in data-attributes.
const carts = JSON.parse(own?.dataset.attributes || "{}");

const isAttribute = ([key, text]) =>
  /^[a-z0-9_]{1,40}$/.test(key) &&
  (text === null ||
    (typeof text === "string" &&
      [...text].length <= 500 &&
      !/[\0-\x09\x0b-\x1f\x7f-\x9f]/.test(text) &&
      text.isWellFormed()));

async function save({ dataset: { app } }, sent) {
  const kept = Object.entries({ ...carts[app], ...Object.fromEntries(Object.entries(sent).filter(isAttribute)) });
  const attributes = Object.fromEntries(kept.filter(([, text]) => text !== null).slice(0, 20));
  carts[app] = attributes;
  const detail = { app, attributes: { ...attributes } };
  document.dispatchEvent(new CustomEvent("extension-platform:attributes", { detail }));
  return attributes;
}

function addLook() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(LOOK);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

async function mount() {
  const found = await placements();
  if (!found) return;
  const { scripts, widgets, blocks } = found;
  for (const each of scripts) if (each.position === "head") mountScript(each, document.head);
  await parsed;
  if (widgets.length || blocks.length) addLook();
  const place = document.querySelector("[data-extension-blocks]");
  if (place) for (const each of blocks) mountFrame(each, "extension-block", 200, place);
  mountWidgets(widgets);
  for (const each of scripts) if (each.position !== "head") mountScript(each, document.body);
}

if (own?.dataset.store && !document.documentElement.dataset.extensionPlatform) {
  document.documentElement.dataset.extensionPlatform = "mounted";
  hostFrames(undefined, save);
  mount().catch(() => {});
}
