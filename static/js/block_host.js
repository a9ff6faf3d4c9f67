// Blocks and widgets on our own pages: frame_host.js with the session tokens of the frames' apps (data-app), from data-tokens around the
// frames, our URL that answers {"tokens": {app: "…"}}.
//
// A classic script in the head, not a module, because it must listen before the first frame can send a message.
import { hostFrames } from "./frame_host.js";

(() => {
  const SHARED = 10_000; // ms for which the tokens of one request go to more frames
  const REST = 1000; // ms between two requests
  const LONGEST = 1000; // ms for which an order waits for attributes
  const PATIENCE = 3000; // ms: settings don't wait any longer for a token

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

  // The page editor has no cart.
  async function save(frame, attributes) {
    const address = document.querySelector("[data-attributes]")?.dataset.attributes;
    if (!address) return;
    const answer = await fetch(address, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify({ app: frame.dataset.app, attributes }),
    });
    return answer.ok ? (await answer.json()).attributes : undefined;
  }

  const saved = hostFrames(tokenOf, save);

  // An order has what its buyer has just chosen in a frame: placing it waits for that, but not for long.
  let isWaited = false;
  addEventListener(
    "submit",
    (event) => {
      const { target, submitter } = event;
      if (isWaited || !submitter?.matches("form.checkout [data-place]")) return;
      const work = saved();
      if (!work) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      isWaited = true;
      const patience = new Promise((done) => setTimeout(done, LONGEST));
      Promise.race([work, patience]).then(() => {
        target.requestSubmit(submitter);
        isWaited = false;
      });
    },
    true,
  );

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
})();
