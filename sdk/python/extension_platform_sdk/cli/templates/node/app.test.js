// The app, from the platform's side: npm test

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { sign } from "extension-platform-node";

const [businessId, secret] = ["b-1", "whsec_test_example"];
Object.assign(process.env, { BUSINESS_ID: businessId, WEBHOOK_SECRET: secret });
const { app } = await import("./app.js");

let server;
before(() => new Promise((resolve) => (server = createServer(app)).listen(0, resolve)));
after(() => server.close());

const address = (path) => `http://127.0.0.1:${server.address().port}${path}`;

function post(path, content, { forged = "" } = {}) {
  const body = JSON.stringify({ businessId, timestamp: "2026-11-20T15:04:05.123Z", ...content });
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    "Content-Type": "application/json",
    "X-Webhook-Timestamp": String(timestamp),
    "X-Webhook-Signature": sign({ secret, timestamp, body: Buffer.from(body) }),
    "X-Webhook-Id": "w-1",
    "X-Webhook-Business-Id": businessId,
  };
  return fetch(address(path), { method: "POST", headers, body: body + forged });
}

const order = { event: "order.created", webhookId: "w-1", data: { orderNumber: 1042 } };

test("a webhook is received", async () => {
  assert.equal((await post("/webhooks", order)).status, 200);
});

test("a forged webhook is refused", async () => {
  assert.equal((await post("/webhooks", order, { forged: " " })).status, 401);
});

for (const [subtotal, discount] of [
  [1999, 0],
  [2000, 200],
]) {
  test(`the hook gives ${discount} on ${subtotal}`, async () => {
    const response = await post("/webhooks/hooks", { hookPoint: "order.calculate_discounts", data: { subtotal } });
    assert.equal(response.status, 200);
    assert.equal((await response.json()).discount, discount);
  });
}

test("the block may be framed", async () => {
  const response = await fetch(address("/block"));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-frame-options"), null);
});

test("the answer for another browser is refused", async () => {
  assert.equal((await fetch(address("/callback?code=abc&state=stolen"))).status, 400);
});
