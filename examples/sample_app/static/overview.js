// The admin page. It knows nothing until the platform says who is looking, and believes none of that: the session token
// goes to this app's server, which answers with the store that the token is of.

import { connectAdminPage, wear } from "./extension-platform.js";

const RENEWED = 10_000; // milliseconds
const state = document.getElementById("state");
const overview = document.getElementById("overview");

let visit = 0;

async function begin(context) {
  wear(context.theme);
  try {
    await show(context);
  } catch {
    say("Order Bell does not answer. Reload this page to try again.");
  }
}

async function show({ sessionToken, businessId, locale }) {
  const mine = ++visit; // the platform speaks again when the frame loads again
  const answer = await fetch("/admin/session", {
    method: "POST",
    headers: { Authorization: `Bearer ${sessionToken}` },
    body: JSON.stringify({ businessId }),
  });
  if (!answer.ok) return end((await answer.json()).message);
  const { session, businessName } = await answer.json();
  while (mine === visit && (await renew(session, businessName, locale))) {
    await new Promise((done) => setTimeout(done, RENEWED));
  }
}

async function renew(session, businessName, locale) {
  try {
    const answer = await fetch("/admin/overview/content", { headers: { Authorization: `Bearer ${session}` } });
    if (answer.status === 401) return end((await answer.json()).message);
    if (!answer.ok) throw new Error(answer.statusText);
    overview.innerHTML = await answer.text();
    for (const time of overview.querySelectorAll("time")) time.textContent = clock(time.dateTime, locale);
    overview.hidden = false;
    say(businessName ? `${businessName}, renewed every ten seconds.` : "Renewed every ten seconds.");
  } catch {
    say("Order Bell does not answer. Trying again…");
  }
  return true;
}

function end(message) {
  overview.hidden = true;
  say(message);
  return false;
}

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function clock(moment, locale) {
  const parts = { hour: "2-digit", minute: "2-digit" };
  try {
    return new Date(moment).toLocaleTimeString(locale || undefined, parts);
  } catch {
    return new Date(moment).toLocaleTimeString([], parts);
  }
}

connectAdminPage({ platformOrigin: document.documentElement.dataset.platform, onInit: begin });
