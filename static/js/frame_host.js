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

export const hostFrames = (tokenOf) => {
  const MAX_HEIGHT = 400;

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

  addEventListener("message", ({ data, source, origin }) => {
    if (typeof data !== "object" || data === null) return;
    for (const frame of document.querySelectorAll("iframe[data-block]")) {
      if (source !== frame.contentWindow || origin !== frame.dataset.origin) continue;
      if (data.type === "SERVICE_BLOCK_READY") init(frame);
      else if (data.type === "SERVICE_BLOCK_RESIZE") resize(frame, data.height);
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
};
