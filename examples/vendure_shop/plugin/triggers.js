// SPDX-License-Identifier: GPL-3.0-or-later
// What marks rows: changes of Vendure's tables. Its events would miss imports, and all that is changed with SQL.

const VARIANT = `SELECT id FROM product_variant WHERE`;
const ORDER = `SELECT code FROM "order" WHERE "orderPlacedAt" IS NOT NULL AND`;

/** For `Outbox.create`. Vendure's ids are integers, unless the shop has another `EntityIdStrategy`. */
const TRIGGERS = [
  ["product", "products", `${VARIANT} "productId" = ($1->>'id')::int`],
  ["product_translation", "products", `${VARIANT} "productId" = ($1->>'baseId')::int`],
  ["product_variant", "products", `SELECT $1->>'id'`],
  ["product_variant_translation", "products", `SELECT $1->>'baseId'`],
  ["product_variant_price", "products", `SELECT $1->>'variantId'`],
  ["stock_level", "products", `SELECT $1->>'productVariantId'`],
  ["order", "orders", `${ORDER} id = ($1->>'id')::int`],
  ["order_line", "orders", `${ORDER} id = ($1->>'orderId')::int`],
  ["payment", "orders", `${ORDER} id = ($1->>'orderId')::int`],
  ["refund", "orders", `${ORDER} id = (SELECT "orderId" FROM payment WHERE id = ($1->>'paymentId')::int)`],
  ["administrator", "people", `SELECT $1->>'userId' WHERE $1->>'deletedAt' IS NOT NULL`],
];

module.exports = { TRIGGERS };
