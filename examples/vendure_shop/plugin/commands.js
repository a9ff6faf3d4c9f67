// SPDX-License-Identifier: GPL-3.0-or-later
// What apps may do to orders here.

const { isGraphQlErrorResult, OrderService } = require("@vendure/core");
const { Refused } = require("../client/commands");

const BY = "By an app";

/** Vendure returns refusals. */
function taken(result) {
  if (isGraphQlErrorResult(result)) throw new Refused(result.transitionError || result.message);
  return result;
}

/** By the status that an app asks for, what it is here. */
const MOVES = {
  async CONFIRMED(orders, ctx, order) {
    for (const { id } of order.payments) taken(await orders.settlePayment(ctx, id));
  },
  async IN_DELIVERY(orders, ctx, order) {
    const lines = order.lines.map((line) => ({ orderLineId: line.id, quantity: line.quantity }));
    const handler = { code: "manual-fulfillment", arguments: [{ name: "method", value: BY }] };
    const { id } = taken(await orders.createFulfillment(ctx, { lines, handler }));
    taken(await orders.transitionFulfillmentToState(ctx, id, "Shipped"));
  },
  async DELIVERED(orders, ctx, order) {
    if (order.state === "PaymentSettled") await MOVES.IN_DELIVERY(orders, ctx, order);
    for (const { id } of await orders.getOrderFulfillments(ctx, order)) {
      taken(await orders.transitionFulfillmentToState(ctx, id, "Delivered"));
    }
  },
  async CANCELLED(orders, ctx, order) {
    taken(await orders.cancelOrder(ctx, { orderId: order.id, reason: BY, cancelShipping: true }));
  },
};

const handlersOf = (shop) => ({
  async "order.set_status"(ctx, { orderId, status }) {
    const orders = shop.get(OrderService);
    const order = await orders.findOneByCode(ctx, orderId, ["lines", "payments"]);
    if (!order?.orderPlacedAt) throw new Refused("There is no such order.", 404);
    if (!Object.hasOwn(MOVES, status)) throw new Refused("This shop has no such status.", 422);
    await MOVES[status](orders, ctx, order);
    const { state } = await orders.findOne(ctx, order.id, []);
    if (shop.rows.status(state) !== status) throw new Refused(`An order that is ${state} can't move there.`);
    return orderId;
  },
});

module.exports = { handlersOf };
