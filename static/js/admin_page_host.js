// The platform's side of an app's admin page: when the frame has loaded it is told who is looking, at the app's own
// origin and nowhere else. <iframe data-admin-page data-origin="https://app.example.com" data-init="{…}">
//
// A frame that loads again is told again. Its session token may be over by then, so a new one is asked for at data-token,
// an address of ours that answers {"sessionToken": "…"}.
//
// A classic script in the head, not a module: it has to listen before the frame can have loaded.
(() => {
  async function tell(frame) {
    const context = JSON.parse(frame.dataset.init);
    if ("told" in frame.dataset) {
      const answer = await fetch(frame.dataset.token, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      Object.assign(context, await answer.json());
    }
    frame.dataset.told = "";
    frame.contentWindow?.postMessage({ type: "service:init", ...context }, frame.dataset.origin);
  }

  // Load events don't bubble, but they can be caught on their way down.
  const heard = ({ target }) => target instanceof Element && target.matches("iframe[data-admin-page]") && tell(target);
  document.addEventListener("load", heard, true);
})();
