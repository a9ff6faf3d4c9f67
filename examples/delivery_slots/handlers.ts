// What the app does: one function for each event and each hook. The compiler knows their data and answers.

import { HookRouter, WebhookRouter } from "extension-platform-node";

import { book, hold, release } from "./bookings.js";
import { clientOf, forget, keepSettings, rulesOf } from "./installations.js";
import { inWords, readSettings } from "./slots.js";
import { textsOf } from "./texts.js";

/** Of what the widget puts into the cart, and of what the shopper and the merchant read. */
export const SLOT = "slot";
export const SLOT_IN_WORDS = "public_delivery_slot";

export const webhooks = new WebhookRouter()
  .on("order.created", async ({ businessId, data, requestId, traceparent }) => {
    const [client, rules] = [await clientOf(businessId, traceparent), await rulesOf(businessId)];
    if (!client || !rules) return;
    const order = await client.order(data.orderId); // the event has no attributes, since it is the same for all apps
    const slot =
      order.deliveryMethod === "DELIVERY" && order.status !== "CANCELLED" ? order.attributes[SLOT] : undefined;
    await book(businessId, rules, data.orderId, slot, requestId);
    if (slot)
      await client.changeAttributes(data.orderId, {
        [SLOT_IN_WORDS]: inWords(slot, rules.locale),
      });
  })
  .on("order.cancelled", ({ businessId, data }) => release(businessId, [data.orderId]))
  .on("installation.updated", ({ businessId, data, timestamp }) =>
    keepSettings(businessId, readSettings(data.settings), timestamp),
  )
  .on("customer.data_erasure", ({ businessId, data }) => release(businessId, data.orderIds))
  .on("business.data_erasure", ({ businessId }) => forget(businessId));

// The attribute comes from the shopper's browser, so it may be anything: a slot that is full, past or never was.
export const hooks = new HookRouter().on("order.validate", async ({ businessId, data, attributes, requestId }) => {
  const rules = await rulesOf(businessId);
  if (!rules || data.deliveryMethod !== "DELIVERY") return { valid: true };
  const [slot, texts] = [attributes[SLOT], textsOf(rules.locale)];
  if (!slot) return rules.settings.required ? { valid: false, reason: texts.missing } : { valid: true };
  const answer = await hold(businessId, rules, slot, requestId ?? "");
  return answer === "free" ? { valid: true } : { valid: false, reason: texts[answer] };
});
