// Keeps the page fresh: asks every second whether the front page would look different by now, and then takes over
// what changed. (A store's page isn't asked for: making it calls the platform.) Rows stay the elements they are, so that an opened one stays open. Without this, a reload does the same.

const list = document.getElementById("received");
const live = document.getElementById("live");
let version = `"${list.dataset.version}"`;

async function look() {
  const response = await fetch("/", { headers: { "If-None-Match": version } });
  if (response.status === 200) {
    merge(new DOMParser().parseFromString(await response.text(), "text/html"));
    version = response.headers.get("ETag");
  }
  say(response.ok || response.status === 304 ? "New ones appear by themselves." : "The app has a problem.");
}

function merge(page) {
  for (const id of list.dataset.webhook ? [] : ["stores", "empty"]) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (!old.isEqualNode(fresh)) old.replaceWith(fresh);
  }
  const token = page.querySelector("[name=csrf]").value;
  for (const field of document.querySelectorAll("[name=csrf]")) field.value = token;
  mergeRows([...page.getElementById("received").children].filter(belongs));
}

// A store's page shows the calls of its webhook only.
function belongs(row) {
  return !list.dataset.webhook || row.dataset.webhook === list.dataset.webhook;
}

function mergeRows(rows) {
  const ids = new Set(rows.map((row) => row.id));
  for (const row of [...list.children]) if (!ids.has(row.id)) row.remove();
  const newest = list.firstElementChild;
  for (const row of rows) {
    if (document.getElementById(row.id)) continue;
    row.classList.add("new");
    list.insertBefore(row, newest);
  }
  document.getElementById("empty").hidden = list.children.length > 0;
}

function say(text) {
  if (live.textContent !== text) live.textContent = text;
}

async function keepLooking() {
  try {
    await look();
  } catch {
    say("The app does not answer. Trying again…");
  }
  setTimeout(keepLooking, 1000);
}

keepLooking();
