// The app, from the platform's side: npm test

import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";

import { sign } from "extension-platform-node";

const [businessId, secret] = ["b-1", "whsec_test_example"];
Object.assign(process.env, { BUSINESS_ID: businessId, WEBHOOK_SECRET: secret, ACCESS_TOKEN: "fbat_test_example" });
process.env.INSTALLATIONS = `${await mkdtemp(`${tmpdir()}/app-`)}/installations.json`;
const [{ app }, { keep }] = [await import("./app.js"), await import("./installations.js")];

const traceparent = "00-01932d1c7a407cc39d6f0d2f4c1f8a01-00f067aa0ba902b7-01";
const asked = []; // of the app API, which this test answers for
const platform = createServer((request, response) => {
  asked.push([request.url, request.headers.traceparent]);
  response.end(JSON.stringify({ orderNumber: "1042", items: [{ quantity: 2, name: "Espresso" }] }));
});
const server = createServer(app);
before(async () => {
  for (const each of [platform, server]) await new Promise((resolve) => each.listen(0, resolve));
  process.env.PLATFORM_URL = `http://127.0.0.1:${platform.address().port}`;
});
after(() => [platform, server].forEach((each) => each.close()));

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
    traceparent,
  };
  return fetch(address(path), { method: "POST", headers, body: body + forged });
}

const order = { event: "order.created", webhookId: "w-1", data: { orderId: "o-1" } };

test("a webhook is received", async () => {
  assert.equal((await post("/webhooks", order)).status, 200);
  assert.deepEqual(asked, [["/app-api/orders/o-1", traceparent]]);
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

test("the merchant is led back to the dashboard", async () => {
  await keep({ businessId, installationId: "i-1", webhookSecret: secret });
  const page = await (await fetch(address(`/welcome?business=${businessId}`))).text();
  assert.ok(page.includes(`href="${process.env.PLATFORM_URL}/merchant/apps/i-1/"`));
  assert.equal((await fetch(address("/welcome?business=b-2"))).status, 404);
});

test("the answer for another browser is refused", async () => {
  assert.equal((await fetch(address("/callback?code=abc&state=stolen"))).status, 400);
});
