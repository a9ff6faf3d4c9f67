// The app API and the webhook endpoints, for one installation. Records are the platform's JSON objects, unchanged.

import { Transport } from "./transport.js";

export class AppClient {
  #options;
  #transport;

  constructor(options) {
    const { accessToken: token, timeout = 10_000, waitOnRateLimit = false, retries = 2, ...rest } = options;
    this.#options = options;
    this.#transport = new Transport({ ...rest, token, timeout, waitOnRateLimit, retries });
  }

  /** A client whose calls are in the thread of an event or a hook call: `client.following(event.traceparent).order(id)`. */
  following(traceparent) {
    return new AppClient({ ...this.#options, traceparent });
  }

  installation() {
    return this.#get("/app-api/installation");
  }
  business() {
    return this.#get("/app-api/business");
  }

  products(query) {
    return this.#get("/app-api/products", query);
  }
  product(id) {
    return this.#get(path`/app-api/products/${id}`);
  }
  productBySlug(slug) {
    return this.#get(path`/app-api/products/slug/${slug}`);
  }

  orders(query) {
    return this.#get("/app-api/orders", query);
  }
  order(id) {
    return this.#get(path`/app-api/orders/${id}`);
  }
  /**
   * The same `idempotencyKey` and order within 24 hours give the first answer again instead of a second order, also after a restart
   * of yours. Without one, each call has its own.
   */
  createOrder(order, { idempotencyKey } = {}) {
    const headers = idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {};
    return this.#record("POST", "/app-api/orders", { body: order, headers });
  }
  setOrderStatus(id, status) {
    return this.#patch(path`/app-api/orders/${id}/status`, { status });
  }
  async paymentMethods() {
    return (await this.#get("/app-api/payment-methods")).methods;
  }
  settlePayment(id, status, { reference } = {}) {
    return this.#patch(path`/app-api/orders/${id}/payment`, { status, reference });
  }

  /** Texts by keys, which are merged; null removes one. */
  changeAttributes(id, attributes) {
    return this.#patch(path`/app-api/orders/${id}/attributes`, { attributes });
  }

  reviews(query) {
    return this.#get("/app-api/reviews", query);
  }
  reviewStats() {
    return this.#get("/app-api/reviews/stats");
  }
  dashboard(query) {
    return this.#get("/app-api/analytics/dashboard", query);
  }
  pages(query) {
    return this.#get("/app-api/pages", query);
  }
  pageBySlug(slug) {
    return this.#get(path`/app-api/pages/${slug}`);
  }

  events(query) {
    return this.#get("/app-api/events", query);
  }
  /** Every event behind a cursor, oldest first, until there is none left. Keep `nextCursor` of what it returned after the loop. */
  reconcile(cursor = null, { only = [] } = {}) {
    const place = { nextCursor: cursor };
    const events = this.#eventsFrom(place, only.join(",") || undefined);
    return Object.defineProperty(events, "nextCursor", { get: () => place.nextCursor });
  }
  createExport(resource) {
    return this.#record("POST", "/app-api/exports", { body: { resource } });
  }
  export(id) {
    return this.#get(path`/app-api/exports/${id}`);
  }

  createWebhook(webhook) {
    return this.#record("POST", "/webhooks", { body: webhook });
  }
  webhooks(query) {
    return this.#get("/webhooks", query);
  }
  webhook(id) {
    return this.#get(path`/webhooks/${id}`);
  }
  updateWebhook(id, changes) {
    return this.#patch(path`/webhooks/${id}`, changes);
  }
  async deleteWebhook(id) {
    await this.#transport.send("DELETE", path`/webhooks/${id}`);
  }
  testWebhook(id) {
    return this.#record("POST", path`/webhooks/${id}/test`);
  }
  deliveries(id, query) {
    return this.#get(path`/webhooks/${id}/deliveries`, query);
  }
  delivery(id, deliveryId) {
    return this.#get(path`/webhooks/${id}/deliveries/${deliveryId}`);
  }
  redeliver(id, deliveryId) {
    return this.#record("POST", path`/webhooks/${id}/deliveries/${deliveryId}/redeliver`);
  }
  async recover(id, { since, until }) {
    const answer = await this.#record("POST", path`/webhooks/${id}/recover`, { body: { since, until } });
    return answer.deliveries;
  }

  /** Every record of a list, page after page: `for await (const order of client.every("orders", { status: "READY" }))`. */
  async *every(list, query = {}) {
    for (let page = 1, more = true; more; page += 1) {
      const { data, total, limit } = await this[list]({ limit: 100, ...query, page });
      yield* data;
      more = data.length > 0 && page * limit < total;
    }
  }

  async *#eventsFrom(place, type) {
    for (let more = true; more;) {
      const page = await this.events({ after: place.nextCursor ?? undefined, type, limit: 500 });
      for (const event of page.data) {
        yield event;
        place.nextCursor = event.cursor;
      }
      ({ nextCursor: place.nextCursor, hasMore: more } = page);
    }
  }

  #get(url, query) {
    return this.#record("GET", url, { query });
  }
  #patch(url, body) {
    return this.#record("PATCH", url, { body });
  }
  #record(method, url, options) {
    return this.#transport.record(method, url, options);
  }
}

/** Each value is one segment of the path, whatever it holds. */
function path(texts, ...values) {
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent));
}
