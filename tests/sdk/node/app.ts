import { test } from "node:test";
import {
  AppClient,
  HookRouter,
  listener,
  readSessionToken,
  readStorefrontToken,
  WebhookRouter,
  type WebhookEvent,
  type types,
} from "extension-platform-node";
import { openStore, skip, waits } from "extension-platform-node/testing";

const webhooks = new WebhookRouter();
const hooks = new HookRouter();
const client = new AppClient({ baseUrl: "https://platform.example.com", accessToken: "fbat_x" });

webhooks.on("order.created", (event) => {
  console.log(event.data.orderNumber.toUpperCase(), event.businessId);
  event.data.number; // mistake: another name
  event.data.orderNumber * 2; // mistake: a text
  event.delivery; // mistake: another name
});
webhooks.on("product.updated", "product.created", (event) => console.log(event.data["anything"]));
webhooks.on("order.create", () => {}); // mistake: no such event
webhooks.on("order.cancelled", (event: WebhookEvent<types.ProductUpdated>) => event); // mistake: another event's data
webhooks.on("review.deleted", (event) => event.data.rating); // mistake: not in the data

hooks.on("checkout.shipping_rates", (call) => ({ fee: call.data.subtotal > 5000 ? 0 : call.data.builtInFee }));
hooks.on("checkout.shipping_rates", (call) => ({ fee: call.data.total })); // mistake: another name
hooks.on("checkout.shipping_rates", () => ({ price: 0 })); // mistake: another name
hooks.on("checkout.shipping_rates", () => ({ fee: "free" })); // mistake: a number
hooks.on("checkout.shipping_rates", () => ({})); // mistake: no answer
hooks.on("order.validate", () => {}); // mistake: forgotten answer
hooks.on("order.validate", async () => ({ valid: true }));
hooks.on("order.validate", (call) => ({ valid: call.data.items.every((item) => item.sku) })); // mistake: another name
hooks.on("order.calculate_discounts", () => ({ valid: true })); // mistake: another hook's answer
hooks.on("order.discounts", () => ({ discount: 0 })); // mistake: no such hook
listener(hooks, "whsec_x");
listener(webhooks, (id) => id);

export async function work(): Promise<types.Order> {
  for await (const product of client.every("products", { isAvailable: true })) {
    console.log(product.price * 2, product.stock ?? 0);
    product.stock + 1; // mistake: may be null
    product.prize; // mistake: another name
  }
  await client.orders({ status: "READY", limit: 10 });
  await client.orders({ status: "DONE" }); // mistake: no such status
  await client.products({ updatedSince: "yesterday" }); // mistake: a time
  await client.products({ colour: "red" }); // mistake: no such filter
  await client.createWebhook({ url: "https://app.example.com", events: ["orders"] }); // mistake: no such event
  await client.updateWebhook("1", { filter: { all: [{ field: "amount", op: "in", value: [1, "2", true] }] } });
  await client.updateWebhook("1", { filter: { some: [] } }); // mistake: all or any
  const body: types.OrderBody = {
    items: [{ productId: "1", quantity: 1 }],
    customer: { name: "Kim" },
    deliveryMethod: "PICKUP",
    paymentMethod: "CASH",
  };
  const order = await client.createOrder(body, { idempotencyKey: "1" });
  await client.settlePayment(order.id, "PAID"); // mistake: no such status
  for await (const happened of client.reconcile("cursor", { only: ["order.created"] })) console.log(happened.cursor);
  return order;
}

test("on a store", { skip }, async (t) => {
  const store = await openStore(t, { port: 3000 });
  await store.advance({ hours: 3 });
  await store.advance({ weeks: 3 }); // mistake
  const delivery = await store.waitFor("order.created", { attempts: 5 });
  const first: string | undefined = delivery.attempts[0]?.dueAt;
  const seconds: number[] = waits(delivery);
  console.log(first, seconds, delivery.tries); // mistake
});

export async function look(token: string) {
  const baseUrl = "https://platform.example.com";
  const person = await readSessionToken(token, { clientId: "c", baseUrl });
  const store = await readStorefrontToken(token, { clientId: "c", secret: (id) => (id ? "whsec_x" : null), baseUrl });
  await readSessionToken(token, { clientId: "c" }); // mistake: neither a secret nor an address
  return [person.userId, store.businessId, store.userId]; // mistake: it names nobody
}
