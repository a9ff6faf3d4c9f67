// The app on a store of the platform: the merchant's settings, slots that fill, and the slot with the order.

import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { test } from "node:test";

import { ApiError } from "extension-platform-node";
import { openStore, skip } from "extension-platform-node/testing";

const FILE = (process.env.INSTALLATIONS = `${await mkdtemp(`${tmpdir()}/app-`)}/installations.json`);
const [{ app }, { keep, rulesOf, bookingsOf }, { offered }] = [
  await import("./app.js"),
  await import("./installations.js"),
  await import("./bookings.js"),
];

test("a slot from the merchant's settings to the erasure", { skip }, async (t) => {
  const server = createServer(app).listen(0);
  t.after(() => server.close());
  const store = await openStore(t, {
    port: (server.address() as AddressInfo).port,
  });
  await keep(store.installation);
  await store.change({
    event: "installation.updated",
    settings: { capacity: 1, days: 2, closedOn: [] },
  });
  await store.waitFor("installation.updated");
  const rules = await rulesOf(store.businessId);
  assert.ok(rules);
  assert.deepEqual([rules.settings.capacity, rules.settings.hours], [1, 3]);
  const [slot] = await offered(store.businessId, rules);
  assert.equal(slot?.left, 1);

  const sample = await store.placeOrder(); // without a slot, for pickup
  await store.waitFor("order.created");
  const productId = (await store.client.order(String(sample.data?.orderId))).items[0]?.productId;
  assert.ok(productId);
  const order = (email: string) =>
    store.client.createOrder({
      items: [{ productId, quantity: 1 }],
      customer: { name: "Kim", email },
      deliveryMethod: "DELIVERY",
      address: "1 Quay Street",
      paymentMethod: "CASH",
      attributes: { slot: slot.slot },
    });
  const placed = await order("kim@example.com");
  await store.waitFor("order.created");
  const kept = await store.client.order(placed.id);
  assert.equal(kept.attributes.slot, slot.slot);
  assert.match(kept.attributes.public_delivery_slot ?? "", /, 09:00–12:00$/);
  assert.deepEqual((await bookingsOf(store.businessId)).booked, {
    [placed.id]: slot.slot,
  });

  await assert.rejects(order("ada@example.com"), (error) => error instanceof ApiError && error.statusCode === 422);
  await store.client.setOrderStatus(placed.id, "CANCELLED");
  await store.waitFor("order.cancelled");
  await order("ada@example.com");
  await store.waitFor("order.created");

  await store.erase({ email: "ada@example.com" });
  await store.waitFor("customer.data_erasure");
  assert.deepEqual((await bookingsOf(store.businessId)).booked, {});
  await store.uninstall();
  await store.advance({ days: 2 });
  await store.waitFor("business.data_erasure");
  assert.ok(!(await readFile(FILE, "utf8")).includes(store.installation.accessToken));
});
