// What the app answers when the checkout asks it: the five hook points. A shopper waits for each.

import { HookRouter } from "extension-platform-node";

/** `rules` gives what the merchant set, `payments` makes and offers the payments. */
export function hooksOf(rules, payments) {
  return new HookRouter()
    .on("checkout.payment_methods", async () => ({ methods: (await rules.read()).bellPay ? [payments.method] : [] }))
    .on("checkout.create_payment", ({ data }) => payments.begin(data))
    .on("checkout.shipping_rates", async ({ data }) => {
      const { freeDeliveryFrom } = await rules.read(); // in minor units, as all amounts of a call
      const isFree = data.deliveryMethod === "DELIVERY" && freeDeliveryFrom > 0 && data.subtotal >= freeDeliveryFrom;
      return { fee: isFree ? 0 : data.builtInFee };
    })
    .on("order.validate", async ({ data }) => {
      const { mostOfOneProduct: most } = await rules.read();
      if (data.items.every((item) => item.quantity <= most)) return { valid: true };
      return { valid: false, reason: `At most ${most} pieces of one product in an order, please.` };
    })
    .on("order.calculate_discounts", async ({ data }) => {
      const { discountFromPieces: from, discountPercent: percent } = await rules.read();
      const pieces = data.items.reduce((sum, item) => sum + item.quantity, 0);
      const discount = pieces < from ? 0 : Math.floor(((data.subtotal - data.promoDiscount) * percent) / 100);
      return discount ? { discount, reason: `${percent}% off from ${from} pieces` } : { discount: 0 };
    });
}
