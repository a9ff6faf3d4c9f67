// Measures what apps add to this page of the store, in one of four page views: for each app, the time in which its scripts,
// widgets and blocks were loading, and their bytes. It sends these sums when the shopper leaves the page, without cookies and
// without anything about the shopper or the page.
//
// <script type="module" src="…/app_cost.js" data-app-costs="URL to send to">
// Scripts and frames of apps have data-app="<slug>".
const SHARE = 0.25;

// Which app a resource belongs to: the tag's own address, and whatever else was loaded from an origin of only one app.
function owners() {
  const byAddress = new Map();
  const byOrigin = new Map();
  for (const tag of document.querySelectorAll(":is(script, iframe)[data-app][src]")) {
    const { href, origin } = new URL(tag.getAttribute("src"), location.href);
    byAddress.set(href, tag.dataset.app);
    byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), tag.dataset.app]);
  }
  return (address) => {
    const known = new Set(byOrigin.get(new URL(address).origin));
    return byAddress.get(address) ?? (known.size === 1 ? [...known][0] : undefined);
  };
}

// Milliseconds in which at least one was loading.
function loading(entries) {
  let total = 0;
  let until = 0;
  for (const { startTime, responseEnd } of entries.toSorted((a, b) => a.startTime - b.startTime)) {
    total += Math.max(0, responseEnd - Math.max(startTime, until));
    until = Math.max(until, responseEnd);
  }
  return Math.round(total);
}

// Other origins' sizes are 0 without their Timing-Allow-Origin. A resource from the cache has a size, but no transfer.
function size(entries) {
  const isShared = entries.every(({ transferSize, encodedBodySize }) => transferSize + encodedBodySize > 0);
  return isShared ? entries.reduce((sum, { transferSize }) => sum + transferSize, 0) : null;
}

function measured() {
  const ownerOf = owners();
  const entries = Map.groupBy(performance.getEntriesByType("resource"), ({ name }) => ownerOf(name));
  entries.delete(undefined);
  return [...entries].slice(0, 20).map(([slug, own]) => [slug, loading(own), size(own)]);
}

function send(address) {
  const apps = measured();
  if (!apps.length) return;
  fetch(address, {
    method: "POST",
    keepalive: true,
    credentials: "omit",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apps }),
  }).catch(() => {}); // a lost measurement doesn't matter
}

const tag = document.querySelector("script[data-app-costs]");
if (tag && Math.random() < SHARE) {
  const leave = () => {
    if (document.visibilityState !== "hidden") return;
    document.removeEventListener("visibilitychange", leave);
    send(tag.dataset.appCosts);
  };
  document.addEventListener("visibilitychange", leave);
}
