// What the app does: one function for each event and each hook. The compiler knows their data and answers.

import { ApiError, HookRouter, WebhookRouter } from "extension-platform-node";

import { clientOf, forget } from "./installations.js";

export const webhooks = new WebhookRouter()
  .on("order.created", async (event) => {
    // The event has the order's number, the app API the rest. If this throws, the platform sends the event again.
    const order = await (await clientOf(event))?.order(event.data.orderId).catch(noneIfGone);
    if (!order) return;
    const items = order.items.map((line) => `${line.quantity} x ${line.name}`).join(", ");
    console.log(`New order ${order.orderNumber}: ${items}`);
  })
  .on("business.data_erasure", async (event) => {
    // 48 hours after a store uninstalled the app: delete everything about it.
    await forget(event.businessId);
    console.log(`Erased the data of ${event.businessId}`);
  })
  .on("customer.data_erasure", (event) => {
    // A store erased one of its customers: delete what you keep of these orders and reviews. This app keeps none.
    const count = event.data.orderIds.length + event.data.reviewIds.length;
    console.log(`Erased a customer of ${event.businessId} with ${count} records`);
  });

// 10% off orders of 20.00 and more. Amounts are in minor units: 2000 is 20.00.
export const hooks = new HookRouter().on("order.calculate_discounts", ({ data }) =>
  data.subtotal < 2000
    ? { discount: 0 }
    : { discount: Math.floor(data.subtotal / 10), reason: "10% off orders of 20.00 and more" },
);

// 401: the store removed the app. 404: the order is gone. Then there is nothing to do.
function noneIfGone(error: unknown): undefined {
  if (error instanceof ApiError && [401, 404].includes(error.statusCode)) return undefined;
  throw error;
}
