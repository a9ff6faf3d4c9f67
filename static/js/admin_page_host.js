// The platform's side of an app's admin page: sends the user's context to the frame once it has loaded, at the app's
// origin only. <iframe data-admin-page data-origin="https://app.example.com" data-init="{…}">
//
// A frame that reloads gets the context again. The first session token may have expired by then, so a new one is fetched
// from data-token, our URL that answers {"sessionToken": "…"}.
//
// A classic script in the head, not a module, because it must listen before the frame can load.
import { frameTheme } from "./frame_theme.js";

(() => {
  async function sendContext(frame) {
    const context = JSON.parse(frame.dataset.init);
    if ("initialized" in frame.dataset) {
      const answer = await fetch(frame.dataset.token, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      Object.assign(context, await answer.json());
    }
    frame.dataset.initialized = "";
    const message = { type: "service:init", ...context, theme: frameTheme(frame) };
    frame.contentWindow?.postMessage(message, frame.dataset.origin);
  }

  // Load events don't bubble, but capturing listeners receive them.
  const onLoad = ({ target }) =>
    target instanceof Element && target.matches("iframe[data-admin-page]") && sendContext(target);
  document.addEventListener("load", onLoad, true);
})();
