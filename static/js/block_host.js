// The store's side of blocks and floating widgets: every <iframe data-block> gets its settings on request, and the height
// it requests, at most 400 pixels. Only messages from the frame's own window and the app's origin (data-origin) count, and
// replies go to that origin alone.
//
// <iframe data-block="<blockId>" data-origin="https://app.example.com" data-settings="{…}">
//
// With the settings goes the look of the page (frame_theme.js), and again when it turns dark or light. The first message also has a
// session token of the frame's app (data-app), from data-tokens around the frames, our URL that answers {"tokens": {app: "…"}}.
//
// A classic script in the head, not a module, because it must listen before the first frame can send a message. Other
// scripts use events on the frame: "block:update" passes on new settings, "block:ready" fires when the app is ready.
(() => {
  const MAX_HEIGHT = 400;
  const SHARED = 10_000; // ms for which the tokens of one request go to more frames
  const REST = 1000; // ms between two requests
  const PATIENCE = 3000; // ms: settings don't wait any longer for a token

  function post(frame, type, settings, more) {
    const message = { type, blockId: frame.dataset.block, settings, theme: frameTheme(frame), ...more };
    frame.contentWindow?.postMessage(message, frame.dataset.origin);
  }

  const parsed = new Promise((done) => addEventListener("DOMContentLoaded", done));

  async function requestTokens() {
    if (document.readyState === "loading") await parsed; // more frames may follow
    const address = document.querySelector("[data-tokens]")?.dataset.tokens;
    if (!address) return {};
    const apps = new Set([...document.querySelectorAll("iframe[data-block]")].map((frame) => frame.dataset.app));
    const query = new URLSearchParams([...apps].map((app) => ["app", app]));
    const options = { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE) };
    const answer = await fetch(`${address}?${query}`, options);
    return answer.ok ? (await answer.json()).tokens : {};
  }

  let request = { at: -Infinity };

  // One request serves all frames of the page. A frame that asks again, as when it has reloaded, gets a newer token.
  async function tokenOf(frame) {
    const age = performance.now() - request.at;
    if (age >= SHARED || (age >= REST && request.served.has(frame)))
      request = { at: performance.now(), served: new WeakSet(), tokens: requestTokens().catch(() => ({})) };
    request.served.add(frame);
    return (await request.tokens)[frame.dataset.app];
  }

  async function init(frame) {
    const sessionToken = await tokenOf(frame);
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
