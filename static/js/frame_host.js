// The page's side of blocks and floating widgets, in our stores and editor and on the pages of shops: every <iframe data-block> gets
// its settings on request, and the height it requests, at most 400 pixels. Only messages from the frame's own window and the app's
// origin (data-origin) count, and replies go to that origin alone.
//
// <iframe data-block="<blockId>" data-origin="https://app.example.com" data-settings="{…}">
//
// With the settings goes the look of the page (frame_theme.js), and again when it turns dark or light. `tokenOf(frame)` may give a
// session token for the first message.
//
// Other scripts use events on the frame: "block:update" passes on new settings, "block:ready" fires when the app is ready.
import { frameTheme } from "./frame_theme.js";

// What an app puts into the cart goes to `save(frame, attributes)`, at most twice a second: earlier ones wait, and the last text of a key
// wins. It gives what the app has there then, which is the answer, or nothing. Returned is a function that gives a promise of what
// is under way, or nothing.
export const hostFrames = (tokenOf, save) => {
  const MAX_HEIGHT = 400;
  const REST = 500; // ms between two messages of attributes that count

  function post(frame, type, settings, more) {
    const message = { type, blockId: frame.dataset.block, settings, theme: frameTheme(frame), ...more };
    frame.contentWindow?.postMessage(message, frame.dataset.origin);
  }

  async function init(frame) {
    const sessionToken = await tokenOf?.(frame);
    frame.dataset.ready = "";
    post(frame, "SERVICE_BLOCK_INIT", JSON.parse(frame.dataset.settings), sessionToken && { sessionToken });
    frame.dispatchEvent(new CustomEvent("block:ready", { bubbles: true }));
  }

  function resize(frame, height) {
    if (typeof height !== "number" || !Number.isFinite(height)) return;
    frame.height = Math.round(Math.min(MAX_HEIGHT, Math.max(0, height)));
  }

  const carts = new Map(); // by frame: what waits, and the saving of it

  function collect(frame, attributes) {
    if (!save || typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) return;
    const cart = carts.get(frame) ?? { at: -Infinity };
    carts.set(frame, cart);
    cart.waiting = { ...cart.waiting, ...attributes };
    cart.work ??= send(frame, cart).finally(() => (cart.work = undefined));
  }

  async function send(frame, cart) {
    while (cart.waiting) {
      const rest = cart.at + REST - performance.now();
      if (rest > 0) await new Promise((done) => (setTimeout(done, rest), (cart.hurry = done)));
      const { waiting } = cart;
      cart.waiting = undefined;
      cart.at = performance.now();
      const attributes = await save(frame, waiting).catch(() => {});
      const message = { type: "SERVICE_CART_ATTRIBUTES_SAVED", attributes };
      if (attributes) frame.contentWindow?.postMessage(message, frame.dataset.origin);
    }
  }

  addEventListener("message", ({ data, source, origin }) => {
    if (typeof data !== "object" || data === null) return;
    for (const frame of document.querySelectorAll("iframe[data-block]")) {
      if (source !== frame.contentWindow || origin !== frame.dataset.origin) continue;
      if (data.type === "SERVICE_BLOCK_READY") init(frame);
      else if (data.type === "SERVICE_BLOCK_RESIZE") resize(frame, data.height);
      else if (data.type === "SERVICE_CART_ATTRIBUTES") collect(frame, data.attributes);
    }
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const frame of document.querySelectorAll("iframe[data-block][data-ready]"))
      post(frame, "SERVICE_BLOCK_UPDATE", JSON.parse(frame.dataset.settings));
  });

  // Before the app's first message nothing listens in the frame. The app then gets the latest settings.
  addEventListener("block:update", ({ target, detail }) => {
    target.dataset.settings = JSON.stringify(detail);
    if ("ready" in target.dataset) post(target, "SERVICE_BLOCK_UPDATE", detail);
  });

  return () => {
    const underWay = [...carts.values()].filter(({ work }) => work);
    for (const { hurry } of underWay) hurry?.();
    return underWay.length ? Promise.all(underWay.map(({ work }) => work)) : undefined;
  };
};
