// The same app as app.py, with the SDK for Node of a release, which SDK in the environment leads to.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";

const folder = process.env.SDK;
const sdk = await import(`${folder}/index.js`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const line = async () => (await lines.next()).value;
const given = JSON.parse(await line());
assert.equal(JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).version, given.version);

const got = [];
const secrets = new Map();
const router = new sdk.WebhookRouter();
router.on("webhook.test", (event) => got.push(event.event));
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const answer = await router.handle(request.headers, Buffer.concat(parts), (id) => secrets.get(id) ?? null);
  response.writeHead(answer.status).end(answer.body);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const address = `http://127.0.0.1:${server.address().port}/webhooks`;
const fails = (promise, status) => assert.rejects(promise, (error) => error.statusCode === status);

// Installing

const oauth = new sdk.OAuthClient({
  baseUrl: given.url, clientId: given.clientId, clientSecret: given.clientSecret, redirectUri: given.redirectUrl,
});
const begun = await oauth.begin();
console.log(begun.url);
const callback = Object.fromEntries(new URL(await line()).searchParams);
const code = sdk.readCallback(callback, { state: begun.state });
const installed = await oauth.exchange(code, { codeVerifier: begun.codeVerifier });
await assert.rejects(oauth.exchange("of-nobody"), (error) => error.error === "invalid_grant");

// Calling

const client = new sdk.AppClient({ baseUrl: given.url, accessToken: installed.accessToken });
assert.equal((await client.installation()).installationId, installed.installationId);
assert.equal((await client.business()).id, installed.businessId);
const [product] = (await client.products({ isAvailable: true, search: "espresso" })).data;
assert.equal((await client.product(product.id)).price, 12.5);
assert.equal((await client.productBySlug(product.slug)).id, product.id);

const wanted = {
  items: [{ productId: product.id, quantity: 2 }],
  customer: { name: "Kim", email: "kim@example.com" },
  deliveryMethod: "PICKUP",
  paymentMethod: "CASH",
};
const order = await client.createOrder(wanted, { idempotencyKey: "first" });
assert.equal((await client.createOrder(wanted, { idempotencyKey: "first" })).id, order.id);
assert.deepEqual([order.status, order.amount], ["PENDING", 25]);
assert.equal((await client.orders({ status: "PENDING" })).total, 1);
for await (const each of client.every("orders", { limit: 50 })) assert.equal(each.id, order.id);
assert.equal((await client.setOrderStatus(order.id, "CONFIRMED")).status, "CONFIRMED");
assert.equal((await client.order(order.id)).customer.name, "Kim");
assert.deepEqual((await client.paymentMethods()).slice(0, 2).map((each) => each.id), ["CASH", "CARD"]);
await fails(client.settlePayment(order.id, "COMPLETED", { reference: "r-1" }), 403);
assert.equal((await client.reviews({ productId: product.id })).data[0].comment, "Just right.");
assert.equal((await client.reviewStats()).total, 1);
assert.equal((await client.dashboard({ days: 7 })).totalOrders, 1);
assert.equal((await client.pages()).data[0].slug, "about");
assert.match((await client.pageBySlug("about")).content, /We roast/);

console.log("feed"); // which shows events a moment after they were written
await line();
const feed = await client.events({ limit: 1 });
assert.deepEqual(feed.data.map((each) => each.event), ["order.created"]);
const statuses = [];
for await (const each of client.reconcile(feed.nextCursor, { only: ["order.status_changed"] })) statuses.push(each.data.status);
assert.deepEqual(statuses, ["CONFIRMED"]);
const requested = await client.createExport("orders");
assert.ok(["PENDING", "RUNNING", "READY"].includes((await client.export(requested.id)).status));

// Webhooks

const made = await client.createWebhook({ url: address, events: ["order.created"], description: "Mine" });
secrets.set(made.id, made.secret);
assert.equal((await client.webhooks()).data[0].id, made.id);
assert.equal((await client.webhook(made.id)).description, "Mine");
assert.equal((await client.updateWebhook(made.id, { events: ["order.cancelled"] })).events[0], "order.cancelled");
const tried = await client.testWebhook(made.id);
assert.deepEqual([tried.success, tried.httpStatus, got], [true, 200, ["webhook.test"]]);
await client.setOrderStatus(order.id, "CANCELLED");
const [delivery] = (await client.deliveries(made.id, { status: "PENDING" })).data;
assert.deepEqual((await client.delivery(made.id, delivery.id)).attempts, []);
assert.equal((await client.redeliver(made.id, delivery.id)).id, delivery.id);
assert.equal(await client.recover(made.id, { since: new Date(Date.now() - 3_600_000).toISOString() }), 0);
await client.deleteWebhook(made.id);

// Errors, and the end

await fails(client.product("nothing"), 404);
await fails(client.orders({ page: 0 }), 400);
await oauth.revoke(installed.accessToken);
await fails(client.installation(), 401);
console.log("done");
process.exit(0);
