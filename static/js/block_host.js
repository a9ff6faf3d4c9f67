// The store's side of blocks and floating widgets: every <iframe data-block> gets its settings when it asks, and the
// height that it asks for, at most 400 pixels. A message counts only if it comes from that very frame's window and from
// the origin of the app (data-origin); answers go to that origin alone.
//
// <iframe data-block="<blockId>" data-origin="https://app.example.com" data-settings="{…}">
//
// A classic script in the head, not a module: it has to listen before the first frame can speak. Others talk to it by
// events on the frame: "block:update" with the settings to show hands them on, "block:ready" says that the app spoke.
(() => {
  const MAX_HEIGHT = 400;

  function post(frame, type, settings) {
    const message = { type, blockId: frame.dataset.block, settings };
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

  // Before the app has spoken there is nobody to tell: it gets the frame's settings when it does.
  addEventListener("block:update", ({ target, detail }) => {
    target.dataset.settings = JSON.stringify(detail);
    if ("ready" in target.dataset) post(target, "SERVICE_BLOCK_UPDATE", detail);
  });
})();
