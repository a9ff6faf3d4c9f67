// The admin page. It knows nothing until the platform says who is looking, and believes none of that: the session token
// goes to this app's server, which answers with the store that the token is of.

import { connectAdminPage } from "./extension-platform.js";

const RENEWED = 10_000; // milliseconds
const at = (id) => document.getElementById(id);

let visit = 0;

async function begin(context) {
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
  const { session } = await answer.json();
  while (mine === visit && (await renew(session, businessId, locale))) {
    await new Promise((done) => setTimeout(done, RENEWED));
  }
}

async function renew(session, businessId, locale) {
  try {
    const answer = await fetch(`/admin/overview.json?businessId=${encodeURIComponent(businessId)}`, {
      headers: { Authorization: `Bearer ${session}` },
    });
    if (answer.status === 401) return end("This page was open for long. Reload it to go on.");
    draw(await answer.json(), locale);
  } catch {
    say("Order Bell does not answer. Trying again…");
  }
  return true;
}

function end(message) {
  at("overview").hidden = true;
  say(message);
  return false;
}

function say(text) {
  if (at("state").textContent !== text) at("state").textContent = text;
}

function draw({ businessName, today, problem, received, rings, rules }, locale) {
  say(businessName ? `${businessName}, renewed every ten seconds.` : "Renewed every ten seconds.");
  at("problem").hidden = !problem;
  at("problem").textContent = problem ?? "";
  at("total").textContent = today ? String(today.total) : "–";
  fill("today", today?.orders ?? [], "No order yet today.", (order) => [
    `Order ${order.orderNumber} · ${order.amount}`,
    [order.status, order.payment && `payment ${order.payment}`],
    order.orderedAt,
  ]);
  fill("received", received, "Nothing has arrived yet.", (call) => [
    call.summary || call.event,
    call.summary ? [call.event] : [],
    call.receivedAt,
  ]);
  fill("rings", rings, "No one has pressed it yet.", (moment) => ["Someone pressed the bell", [], moment]);
  fill("rules", rules, "", (rule) => [rule, [], null]);
  at("overview").hidden = false;

  function fill(id, records, empty, words) {
    const rows = records.map((record) => row(...words(record)));
    at(id).replaceChildren(...(rows.length ? rows : [row(empty, [], null)]));
  }

  function row(text, facts, moment) {
    const item = document.createElement("li");
    const said = document.createElement("span");
    said.textContent = text;
    const small = document.createElement("small");
    small.textContent = [...facts, moment && time(moment)].filter(Boolean).map(plain).join(" · ");
    item.append(said, small);
    return item;
  }

  function time(moment) {
    try {
      return new Date(moment).toLocaleTimeString(locale || undefined, { hour: "2-digit", minute: "2-digit" });
    } catch {
      return new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }
  }
}

// "IN_DELIVERY" as people write it; names of events stay as they are.
function plain(text) {
  return /^[A-Z_ a-z]+$/.test(text) && /[A-Z]{2}/.test(text) ? text.toLowerCase().replaceAll("_", " ") : text;
}

connectAdminPage({ platformOrigin: document.documentElement.dataset.platform, onInit: begin });
