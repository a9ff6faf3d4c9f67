// SPDX-License-Identifier: GPL-3.0-or-later
// Apps at Vendure's checkout. It calculates prices in the transaction of the shopper's call, so the budget is also how long a
// connection to the database may be kept for apps.

const core = require("@vendure/core");
const { neutral } = require("../client/hooks");
const { chargedFor, subtotalOf } = require("./rows");

const CHANGED = "The total has changed. Please check it, and place the order again.";
const english = (value) => [{ languageCode: core.LanguageCode.en, value }];

class Checkout {
  constructor(shop) {
    this.shop = shop;
    this.turns = new WeakMap();
  }

  /** That of the shopper's call. With `isFresh` a new one, for the rest of the call. */
  turn(ctx, isFresh = false) {
    const call = ctx.req ?? ctx;
    if (isFresh || !this.turns.has(call)) this.turns.set(call, this.shop.hooks.turn(isFresh));
    return this.turns.get(call);
  }

  /** Ask about an order, and note what was answered, with the quote for its row. Of a placed one it is what was agreed. */
  async ask(ctx, order, point, data) {
    const outbox = this.shop.outbox(ctx);
    const note = (await outbox.noted(`quote:${order.code}`)) ?? {};
    if (order.orderPlacedAt) return note[point] ?? neutral(point, data);
    const { hookPoints = [] } = (await outbox.noted("wanted")) ?? {};
    const shopper = order.customer && { email: order.customer.emailAddress };
    const turn = this.turn(ctx);
    const isAsked = hookPoints.includes(point);
    const answer = isAsked ? await this.shop.hooks.ask(turn, point, { data, shopper }) : neutral(point, data);
    await outbox.note(`quote:${order.code}`, { ...note, [point]: answer, quote: turn.quote });
    return answer;
  }
}

const itemsOf = (order) =>
  order.lines
    .filter((line) => line.quantity > 0)
    .map((line) => ({ productId: String(line.productVariantId), quantity: line.quantity }));

/** Vendure's own ways to change prices and to refuse an order, which the shop's administrators then use. */
function extensionsOf(shop) {
  const checkout = new Checkout(shop);
  const isConnected = new core.PromotionCondition({
    code: "store-is-connected",
    description: english("The store is connected to the platform"),
    args: {},
    check: () => true,
  });
  const discount = new core.PromotionOrderAction({
    code: "discount-by-apps",
    description: english("Take off what apps say"),
    args: {},
    priorityValue: 10_000, // after the shop's own
    async execute(ctx, order) {
      const { toMinor, fromMinor } = shop.rows.money(order.currencyCode);
      const [subtotal, charged] = [subtotalOf(order.lines), chargedFor(order.lines)];
      const data = {
        items: itemsOf(order),
        subtotal: toMinor(subtotal),
        promoDiscount: toMinor(subtotal - charged),
        deliveryFee: toMinor(order.shippingWithTax),
      };
      const answer = await checkout.ask(ctx, order, "order.calculate_discounts", data);
      const amount = Math.min(fromMinor(answer.discount), charged);
      // Apps take off of what the shopper pays; Vendure of the kind of price that its lines have.
      return -amount * (order.lines[0]?.listPriceIncludesTax ? 1 : order.subTotal / order.subTotalWithTax || 0);
    },
  });
  const rate = new core.ShippingCalculator({
    code: "rate-by-apps",
    description: english("The shop's own rate, or the one that apps set"),
    args: { rate: { type: "int", ui: { component: "currency-form-input" } } },
    async calculate(ctx, order, args) {
      const { toMinor, fromMinor } = shop.rows.money(order.currencyCode);
      const data = {
        deliveryMethod: "DELIVERY",
        locality: order.shippingAddress?.city || undefined,
        subtotal: toMinor(subtotalOf(order.lines)),
        builtInFee: toMinor(args.rate),
      };
      const { fee } = await checkout.ask(ctx, order, "checkout.shipping_rates", data);
      return { price: fromMinor(fee), priceIncludesTax: true, taxRate: 0 };
    },
  });
  /** Where the shopper confirms: ask afresh, charge what was shown, and hear whether apps refuse. */
  const confirmation = {
    async onTransitionStart(from, to, { ctx, order }) {
      if (to !== "ArrangingPayment") return undefined;
      const shown = order.totalWithTax;
      checkout.turn(ctx, true);
      await shop.get(core.OrderService).applyPriceAdjustments(ctx, order);
      if (order.totalWithTax !== shown) return CHANGED;
      const subtotal = shop.rows.money(order.currencyCode).toMinor(subtotalOf(order.lines));
      const data = { items: itemsOf(order), subtotal, deliveryMethod: "DELIVERY" };
      const { valid, reason } = await checkout.ask(ctx, order, "order.validate", data);
      return valid ? undefined : reason || "This order can't be placed.";
    },
  };
  return { isConnected, discount, rate, confirmation };
}

module.exports = { extensionsOf };
