// Erases a customer here, and at the platform and its apps. Vendure only hides a customer that is deleted.

const { Customer, Order, TransactionalConnection } = require("@vendure/core");

const NOTHING = "{}";

/** In one transaction with the mark that has the platform erase the same person. Nothing happens for somebody unknown here. */
async function erase(app, shop, email) {
  const work = async (ctx) => {
    const outbox = shop.outbox(ctx);
    await outbox.mark("erasures", [email]);
    const found = await outbox.query(`SELECT id, "userId" FROM customer WHERE lower("emailAddress") = lower($1)`, [
      email,
    ]);
    const [customers, users] = [found.map((row) => row.id), found.map((row) => row.userId).filter(Boolean)];
    const orders = `SELECT id FROM "order" WHERE "customerId" = ANY ($1)`;
    for (const statement of [
      `DELETE FROM history_entry WHERE "customerId" = ANY ($1) OR "orderId" IN (${orders})`,
      `DELETE FROM address WHERE "customerId" = ANY ($1)`,
      `UPDATE payment SET metadata = '${NOTHING}' WHERE "orderId" IN (${orders})`,
      `UPDATE session SET "activeOrderId" = NULL WHERE "activeOrderId" IN (${orders})`,
      `UPDATE "order" SET "shippingAddress" = '${NOTHING}', "billingAddress" = '${NOTHING}', "customerId" = NULL
       WHERE "customerId" = ANY ($1)`,
      `DELETE FROM customer WHERE id = ANY ($1)`,
    ]) {
      await outbox.query(statement, [customers]);
    }
    for (const table of ["session", "authentication_method", "user_roles_role"]) {
      await outbox.query(`DELETE FROM ${table} WHERE "userId" = ANY ($1)`, [users]);
    }
    await outbox.query(`DELETE FROM "user" WHERE id = ANY ($1)`, [users]);
  };
  await app.get(TransactionalConnection).withTransaction(await shop.context(), work);
}

module.exports = { erase };
