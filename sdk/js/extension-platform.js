// The iframe's side of an app's blocks, widgets and admin pages.
//
// Every function takes `platformOrigin`, such as "https://platform.example.com", and those of blocks and widgets
// `storesOrigin`, such as "https://*.stores.example.com", where `*` stands for the store. A connected store has pages of its own: name
// their origins as well, in a list or separated by spaces. Messages of other origins and of other windows than the one around this
// page are ignored.

const READY = "SERVICE_BLOCK_READY";
const INIT = "SERVICE_BLOCK_INIT";
const UPDATE = "SERVICE_BLOCK_UPDATE";
const RESIZE = "SERVICE_BLOCK_RESIZE";
const ATTRIBUTES = "SERVICE_CART_ATTRIBUTES";
const SAVED = "SERVICE_CART_ATTRIBUTES_SAVED";
const ADMIN_INIT = "service:init";

/** The most that the store gives a block, in CSS pixels. */
export const MAX_HEIGHT = 400;

/**
 * Ask the store for this block's settings, or this widget's, and learn of every change.
 *
 * `onSettings(settings, blockId, theme)` is called at first, and again while the merchant edits: show what is not saved
 * yet, too. `theme` is the look of the store, and `wear(theme)` puts it on. `onSession(sessionToken)` is called once, if
 * the store could make a token: your server reads from it which store this is. `onAttributes(attributes)` is called with all that your app
 * has in the cart, each time that some were kept. Returns `{resize(height), setAttributes(attributes), stop()}`: `resize` asks for a height
 * in pixels, of which the store gives at most 400. `setAttributes` puts texts into the cart, which your hooks and the order get; null removes
 * a key. The page editor has no cart and doesn't answer.
 */
export function connectBlock({ platformOrigin, storesOrigin, onSettings, onSession, onAttributes }) {
  if (!storesOrigin)
    console.warn("connectBlock without storesOrigin: only the page editor's settings arrive, no store's.");
  const stores = [storesOrigin ?? []].flat().flatMap((each) => each.split(" "));
  const stop = listen([platformOrigin, ...stores], (message) => {
    if (message.type === SAVED) onAttributes?.(message.attributes);
    if (message.type !== INIT && message.type !== UPDATE) return;
    onSettings(message.settings, message.blockId, message.theme);
    if (message.sessionToken) onSession?.(message.sessionToken);
  });
  send({ type: READY });
  return {
    resize(height) {
      if (Number.isFinite(height)) send({ type: RESIZE, height });
    },
    setAttributes(attributes) {
      send({ type: ATTRIBUTES, attributes });
    },
    stop,
  };
}

/**
 * Give this page the look of the store around it: colors, font and whether controls are light or dark, and the custom
 * properties `--accent` and `--radius` for your style sheet. Does nothing without a theme.
 */
export function wear(theme, element = document.documentElement) {
  if (!theme) return;
  element.style.colorScheme = theme.mode;
  element.style.color = theme.text;
  element.style.backgroundColor = theme.background;
  element.style.fontFamily = theme.font;
  element.style.setProperty("--accent", theme.accent);
  element.style.setProperty("--radius", theme.radius);
}

/**
 * Keep a block as high as its content: `resize` of what `connectBlock` returned, whenever `element` grows or shrinks.
 * Returns a function that ends this.
 */
export function followHeight(block, element = document.documentElement) {
  const observer = new ResizeObserver(() => block.resize(Math.ceil(element.getBoundingClientRect().height)));
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Wait for the host of an admin page to say who is looking.
 *
 * `onInit` gets `{businessId, businessName, role, locale, sessionToken, theme}`. All but `sessionToken` is for display:
 * have your server read the token before it answers with anything of the store. Returns a function that ends the waiting.
 */
export function connectAdminPage({ platformOrigin, onInit }) {
  return listen([platformOrigin], (message) => {
    if (message.type !== ADMIN_INIT) return;
    const { type, ...context } = message;
    onInit(context);
  });
}

function listen(origins, onMessage) {
  const receive = (event) => {
    if (event.source !== window.parent || !origins.some((each) => covers(each, event.origin))) return;
    if (typeof event.data !== "object" || event.data === null) return;
    onMessage(event.data);
  };
  window.addEventListener("message", receive);
  return () => window.removeEventListener("message", receive);
}

// Whether an origin is the expected one; `*` stands for one part of the host.
function covers(expected, origin) {
  if (!expected) return false;
  const [before, after] = expected.split("*");
  if (after === undefined) return origin === expected;
  const store = origin.slice(before.length, -after.length);
  return origin === before + store + after && /^[a-z0-9-]+$/.test(store);
}

// Messages of blocks are no secrets, and blocks need not know the store around them: a message may go to any.
function send(message) {
  window.parent.postMessage(message, "*");
}
