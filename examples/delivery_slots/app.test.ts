// The app, from the platform's side: npm test

import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { after, before, beforeEach, test } from "node:test";

import { sign } from "extension-platform-node";

const FILE = (process.env.INSTALLATIONS = `${await mkdtemp(`${tmpdir()}/app-`)}/installations.json`);
const [{ app }, { keep, dashboardOf }, { slotsOf, readSettings, inWords }] = [
  await import("./app.js"),
  await import("./installations.js"),
  await import("./slots.js"),
];

const secret = "whsec_test_example";
let businessId = "b-0"; // each test has a store of its own
let settings: Record<string, unknown> = {};
let orders: Record<
  string,
  {
    status: string;
    deliveryMethod: string;
    attributes: Record<string, string>;
  }
> = {};
let changed: unknown[] = [];

const platform = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const [, , kind, id] = (request.url ?? "").split("/");
  if (request.method === "PATCH") changed.push(JSON.parse(body));
  const answers: Record<string, unknown> = {
    installation: { settings },
    business: { timezone: "Pacific/Auckland", locale: "de-CH" },
    orders: orders[id ?? ""],
  };
  response.end(JSON.stringify(answers[kind ?? ""]));
});
const server = createServer(app);
before(async () => {
  for (const each of [platform, server]) await new Promise<void>((resolve) => each.listen(0, resolve));
  process.env.PLATFORM_URL = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
});
after(() => [platform, server].forEach((each) => each.close()));
beforeEach(async () => {
  businessId = `b-${Number(businessId.slice(2)) + 1}`;
  [settings, orders, changed] = [{ capacity: 1, closedOn: [] }, {}, []];
  const installationId = `i-${businessId}`;
  await keep({
    businessId,
    installationId,
    webhookSecret: secret,
    accessToken: "fbat_test_example",
    isTestInstall: true,
    scopes: [],
  });
});

const address = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

function post(
  path: string,
  content: object,
  { requestId = "r-1", at = "2026-11-20T15:04:05.123Z" } = {},
): Promise<Response> {
  const body = JSON.stringify({ businessId, timestamp: at, ...content });
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    "Content-Type": "application/json",
    "X-Webhook-Timestamp": String(timestamp),
    "X-Webhook-Signature": sign({
      secret,
      timestamp,
      body: Buffer.from(body),
    }),
    "X-Webhook-Id": "w-1",
    "X-Webhook-Business-Id": businessId,
    "X-Request-Id": requestId,
  };
  return fetch(address(path), { method: "POST", headers, body });
}

/** Whether the store may place this order. */
async function asked(
  slot: string | null,
  requestId = "r-1",
  deliveryMethod = "DELIVERY",
): Promise<{ valid: boolean; reason?: string }> {
  const data = { items: [], subtotal: 1200, deliveryMethod };
  const call = {
    hookPoint: "order.validate",
    data,
    attributes: slot === null ? {} : { slot },
  };
  return (await (await post("/webhooks/hooks", call, { requestId })).json()) as { valid: boolean; reason?: string };
}

async function tell(event: string, data: object, options?: Parameters<typeof post>[2]): Promise<void> {
  assert.equal((await post("/webhooks", { event, webhookId: "w-1", data }, options)).status, 200);
}

async function offered(locale = "en"): Promise<{ slot: string; words: string; left: number }[]> {
  const answer = await fetch(address(`/slots?businessId=${businessId}&locale=${locale}`));
  return (
    (await answer.json()) as {
      slots: { slot: string; words: string; left: number }[];
    }
  ).slots;
}

async function first(): Promise<string> {
  const [slot] = await offered();
  assert.ok(slot);
  return slot.slot;
}

test("slots are hours of the next days, by the store's clock", () => {
  const monday = new Date("2026-11-30T12:00:00Z"); // Tuesday in Auckland
  const rules = readSettings({
    opens: 9,
    closes: 16,
    hours: 3,
    days: 2,
    closedOn: ["Wed"],
  });
  assert.deepEqual(slotsOf(rules, "Pacific/Auckland", monday), ["2026-12-03 09-12", "2026-12-03 12-15"]);
  assert.deepEqual(slotsOf(rules, "UTC", monday), ["2026-12-01 09-12", "2026-12-01 12-15"]);
  assert.equal(inWords("2026-12-01 09-12", "fr"), "mardi 1 décembre, 09:00–12:00");
});

test("a slot that is full is refused, in the language of the store", async () => {
  const slot = await first();
  assert.deepEqual(await asked(slot, "r-1"), { valid: true });
  const refused = await asked(slot, "r-2");
  assert.deepEqual([refused.valid, /ausgebucht/.test(refused.reason ?? "")], [false, true]);
  assert.deepEqual(await asked(slot, "r-1"), { valid: true }); // the store asks again where prices have changed
  assert.deepEqual(await asked(slot, "r-3", "PICKUP"), { valid: true });
});

test("a slot that isn't offered is refused", async () => {
  for (const slot of ["2020-01-01 09-12", "2999-01-01 09-12", "whenever", "__proto__"]) {
    assert.equal((await asked(slot)).valid, false, slot);
  }
  assert.deepEqual(await asked(null), { valid: true });
});

test("an order keeps its slot, and gives it back when it is cancelled", async () => {
  const slot = await first();
  await asked(slot, "r-1");
  orders["o-1"] = {
    status: "PENDING",
    deliveryMethod: "DELIVERY",
    attributes: { slot },
  };
  await tell("order.created", { orderId: "o-1" }, { requestId: "r-1" });
  await tell("order.created", { orderId: "o-1" }, { requestId: "r-1" }); // said twice, it counts once
  assert.deepEqual((await offered())[0], {
    slot,
    words: inWords(slot, "en"),
    left: 0,
  });
  assert.deepEqual(changed[0], {
    attributes: { public_delivery_slot: inWords(slot, "de-CH") },
  });
  assert.equal((await asked(slot, "r-2")).valid, false);
  await tell("order.cancelled", { orderId: "o-1" });
  assert.deepEqual(await asked(slot, "r-2"), { valid: true });
});

test("settings apply as soon as they are told, the latest ones", async () => {
  const switches = { hooks: {}, embeds: {} };
  const saved = (capacity: number) => ({
    settings: { capacity, closedOn: [], required: true },
    changed: ["settings"],
    switches,
  });
  await tell("installation.updated", saved(7), {
    at: "2026-11-20T15:04:05.124Z",
  });
  await tell("installation.updated", saved(3), {
    at: "2026-11-20T15:04:05.123Z",
  }); // arrives late
  assert.equal((await offered())[0]?.left, 7);
  assert.equal((await asked(null)).valid, false);
});

test("an erased customer's orders are forgotten, and with the store everything", async () => {
  const slot = await first();
  orders["o-1"] = {
    status: "PENDING",
    deliveryMethod: "DELIVERY",
    attributes: { slot },
  };
  await tell("order.created", { orderId: "o-1" });
  assert.match(await readFile(FILE, "utf8"), /o-1/);
  await tell("customer.data_erasure", {
    orderIds: ["o-1"],
    reviewIds: [],
    customer: null,
  });
  assert.doesNotMatch(await readFile(FILE, "utf8"), /o-1/);
  await tell("business.data_erasure", { businessId });
  assert.equal(await dashboardOf(businessId), null);
  assert.deepEqual(JSON.parse(await readFile(FILE, "utf8"))[businessId], {
    webhookSecret: secret,
  });
  assert.equal((await fetch(address(`/slots?businessId=${businessId}`))).status, 404);
});

test("the widget speaks the language of the store, and may be framed", async () => {
  for (const [locale, text] of [
    ["en", "Delivery slot"],
    ["de-AT", "Lieferzeit"],
    ["fr", "Créneau"],
    ["constructor", "Delivery slot"],
  ]) {
    const response = await fetch(address(`/widget?locale=${locale}`));
    assert.ok((await response.text()).includes(`"label":"${text}`), locale);
    assert.equal(response.headers.get("x-frame-options"), null);
  }
});
