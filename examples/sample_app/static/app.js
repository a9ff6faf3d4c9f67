// Shows a store's new webhooks as they arrive: asks every second for the rows behind the newest one. Without it, a reload does the same.

const list = document.getElementById("received");
const live = document.getElementById("live");

async function look() {
  const newest = list.firstElementChild?.dataset.number ?? 0;
  const response = await fetch(`${location.pathname}/received?after=${newest}`);
  if (response.status === 404) return say("This store is no longer shown here.");
  if (response.status === 200) add(await response.text());
  say(response.ok ? "New ones appear by themselves." : "The app has a problem.");
}

function add(html) {
  const rows = document.createRange().createContextualFragment(html);
  for (const row of rows.children) row.classList.add("new");
  list.prepend(rows);
  document.getElementById("empty").hidden = true;
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
