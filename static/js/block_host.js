// The store's side of blocks and floating widgets: every <iframe data-block> gets its settings on request, and the height
// it requests, at most 400 pixels. Only messages from the frame's own window and the app's origin (data-origin) count, and
// replies go to that origin alone.
//
// <iframe data-block="<blockId>" data-origin="https://app.example.com" data-settings="{…}">
//
// With the settings goes the look of the page (frame_theme.js), and again when it turns dark or light.
//
// A classic script in the head, not a module, because it must listen before the first frame can send a message. Other
// scripts use events on the frame: "block:update" passes on new settings, "block:ready" fires when the app is ready.
(() => {
  const MAX_HEIGHT = 400;

  function post(frame, type, settings) {
    const message = { type, blockId: frame.dataset.block, settings, theme: frameTheme(frame) };
    frame.contentWindow?.postMessage(message, frame.dataset.origin);
  }

  function init(frame) {
    frame.dataset.ready = "";
    post(frame, "SERVICE_BLOCK_INIT", JSON.parse(frame.dataset.settings));
    frame.dispatchEvent(new CustomEvent("block:ready", { bubbles: true }));
  }

  function resize(frame, height) {
    if (typeof height !== "number" || !Number.isFinite(height)) return;
    frame.height = Math.round(Math.min(MAX_HEIGHT, Math.max(0, height)));
  }

  addEventListener("message", ({ data, source, origin }) => {
    if (typeof data !== "object" || data === null) return;
    for (const frame of document.querySelectorAll("iframe[data-block]")) {
      if (source !== frame.contentWindow || origin !== frame.dataset.origin) continue;
      if (data.type === "SERVICE_BLOCK_READY") init(frame);
      else if (data.type === "SERVICE_BLOCK_RESIZE") resize(frame, data.height);
    }
  });

  // Scripts of apps may put something before the skip link, which has to be the first that the keyboard reaches.
  function keepFirst(link) {
    new MutationObserver(() => {
      if (document.body.firstElementChild !== link) document.body.prepend(link);
    }).observe(document.body, { childList: true });
  }
  addEventListener("DOMContentLoaded", () => {
    const link = document.querySelector("body > .skip-link");
    if (link) keepFirst(link);
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
})();
