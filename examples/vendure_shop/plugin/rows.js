// SPDX-License-Identifier: GPL-3.0-or-later
// The shop as the platform reads it: Vendure's default channel, in its currency.

const core = require("@vendure/core");
const { IsNull, MoreThanOrEqual } = require("typeorm");
const { Money } = require("../client/money");

/** Of Vendure's orders, and what apps read. Orders that aren't placed are carts, and no rows. */
const STATUSES = {
  ...{ ArrangingPayment: "PENDING", PaymentAuthorized: "PENDING" },
  ...{ PaymentSettled: "CONFIRMED", Modifying: "CONFIRMED", ArrangingAdditionalPayment: "CONFIRMED" },
  ...{ PartiallyShipped: "IN_DELIVERY", Shipped: "IN_DELIVERY", PartiallyDelivered: "IN_DELIVERY" },
  ...{ Delivered: "DELIVERED", Cancelled: "CANCELLED" },
};
const PAYMENTS = { Settled: "COMPLETED", Declined: "FAILED", Error: "FAILED", Cancelled: "FAILED" };
const RELATIONS = ["customer.user", "lines.productVariant", "shippingLines", "surcharges", "payments.refunds"];

const sum = (list, value) => list.reduce((total, each) => total + value(each), 0);
const subtotalOf = (lines) => sum(lines, (line) => line.linePriceWithTax);
const chargedFor = (lines) => sum(lines, (line) => line.proratedLinePriceWithTax);

class Rows {
  /** `pages` has those on which merchants may place blocks, by id; `statuses` is for states that the shop has added. */
  constructor(shop, { pages = {}, statuses = {} }) {
    Object.assign(this, { shop, pages, statuses: { ...STATUSES, ...statuses } });
  }

  money(currency) {
    return new Money(currency, this.shop.get(core.ConfigService).entityOptions.moneyStrategy.precision);
  }

  async ids(resource, since) {
    if (resource === "pages") return Object.keys(this.pages);
    const { defaultCurrencyCode: currencyCode } = await this.shop.get(core.ChannelService).getDefaultChannel();
    const isProduct = resource === "products";
    const where = isProduct
      ? { deletedAt: IsNull(), product: { deletedAt: IsNull() } }
      : { currencyCode, orderPlacedAt: MoreThanOrEqual(new Date(since ?? 0)) };
    const found = await this.shop.repository(isProduct ? core.ProductVariant : core.Order).find({ where });
    return found.map((each) => String(isProduct ? each.id : each.code));
  }

  /** The rows by id. One that is left out isn't in the shop, or isn't to be seen by apps. */
  async read(resource, ids, inTransaction) {
    const ctx = inTransaction ?? (await this.shop.context());
    const rows = new Map();
    if (resource === "pages") ids.forEach((id) => this.pages[id] && rows.set(id, this.pages[id]));
    if (resource === "products") {
      const variants = await this.shop.get(core.ProductVariantService).findByIds(ctx, ids);
      const productIds = variants.map((variant) => variant.productId);
      const found = await this.shop.get(core.ProductService).findByIds(ctx, productIds);
      const products = new Map(found.map((product) => [product.id, product]));
      for (const variant of variants.filter((each) => !each.deletedAt && products.has(each.productId))) {
        rows.set(String(variant.id), await this.product(ctx, variant, products.get(variant.productId)));
      }
    }
    for (const code of resource === "orders" ? ids : []) {
      const order = await this.shop.get(core.OrderService).findOneByCode(ctx, code, RELATIONS);
      const isOurs = order?.orderPlacedAt && order.currencyCode === ctx.channel.defaultCurrencyCode;
      if (isOurs) rows.set(code, this.order(order));
    }
    return rows;
  }

  async product(ctx, variant, product) {
    const stock = await this.shop.get(core.ProductVariantService).getSaleableStockLevel(ctx, variant);
    return {
      name: variant.name,
      price: this.money(ctx.channel.defaultCurrencyCode).toMajor(variant.priceWithTax),
      description: product.description,
      stock: stock === Number.MAX_SAFE_INTEGER ? null : Math.max(0, stock),
      isAvailable: variant.enabled && product.enabled,
      groupId: String(variant.productId),
      createdAt: variant.createdAt.toISOString(),
    };
  }

  order(order) {
    // A cancelled line has no pieces left: apps go on to read what was ordered.
    if (order.state === "Cancelled") order.lines.forEach((line) => (line.quantity = line.orderPlacedQuantity));
    const { toMajor } = this.money(order.currencyCode);
    const lines = order.lines.filter((line) => line.quantity > 0);
    const [subtotal, charged] = [subtotalOf(lines), chargedFor(lines)];
    const other = sum(order.surcharges, (each) => each.priceWithTax);
    const { customer, shippingAddress: to } = order;
    const place = [to.streetLine1, to.streetLine2, to.city, to.province, to.postalCode, to.countryCode];
    const payment = order.payments.at(-1);
    const refunds = order.payments.flatMap((each) => each.refunds).filter((each) => each.state === "Settled");
    return {
      orderNumber: order.code,
      status: this.status(order.state),
      items: lines.map((line) => ({
        productId: String(line.productVariantId),
        name: line.productVariant.name,
        quantity: line.quantity,
        price: toMajor(line.unitPriceWithTax),
      })),
      subtotal: toMajor(subtotal),
      discount: toMajor(subtotal - charged),
      deliveryFee: toMajor(order.shippingWithTax),
      otherCharges: toMajor(other),
      amount: toMajor(charged + order.shippingWithTax + other),
      refunded: toMajor(sum(refunds, (each) => each.total)),
      deliveryMethod: to.streetLine1 ? "DELIVERY" : "PICKUP",
      address: place.filter(Boolean).join(", ") || null,
      paymentMethod: payment?.method ?? null,
      payment: payment ? { status: PAYMENTS[payment.state] ?? "PENDING" } : null,
      customer: customer && {
        name: to.fullName || `${customer.firstName} ${customer.lastName}`,
        email: customer.emailAddress,
        phone: to.phoneNumber || customer.phoneNumber || null,
      },
      isGuest: !customer?.user,
      createdAt: order.orderPlacedAt.toISOString(),
    };
  }

  status(state) {
    if (this.statuses[state]) return this.statuses[state];
    throw new Error(`No status of apps is known for the state ${state}.`);
  }
}

module.exports = { Rows, subtotalOf, chargedFor };
