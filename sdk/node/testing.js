// Test your app on a store of the platform that one test has to itself, with node:test.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { AppClient } from "./client.js";
import { StoreListener } from "./store-listener.js";
import { Transport } from "./transport.js";

const { EXTENSION_PLATFORM_URL: URL_, EXTENSION_PLATFORM_TOKEN: TOKEN, EXTENSION_PLATFORM_APP: APP } = process.env;
const TIMEOUT = 60_000; // ms; a scenario takes up to half of it
const BUSY_FOR = 30; // seconds
const FILE = "extension-platform.json";
const UNITS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };

/** For `test(name, { skip }, …)`: false, or why tests on a store can't run. */
export const skip =
  URL_ && TOKEN ? false : "Set EXTENSION_PLATFORM_URL and EXTENSION_PLATFORM_TOKEN to test on a store of the platform.";

/**
 * A store with your app installed. Its events reach the app at this port of this machine. It is deleted after the test
 * `t`, and by the platform after `expiresIn` seconds in any case.
 */
export async function openStore(t, { port = Number(process.env.PORT || 3000), scenario, expiresIn } = {}) {
  if (skip) throw new Error(skip);
  const options = { baseUrl: encrypted(URL_), token: TOKEN, timeout: TIMEOUT };
  const api = new Transport({ ...options, waitOnRateLimit: true });
  const app = await findApp(api);
  const body = { scenario, expiresIn };
  const record = await api.record("POST", `/developer/apps/${app.id}/test-stores`, { body });
  // The listener says itself why it waits.
  const listener = new StoreListener(new Transport({ ...options, retries: 0 }), app.id, record.id, port);
  const store = new TestStore(api, app, record, listener);
  t.after(() => store.close());
  await store.listen();
  return store;
}

export class TestStore {
  #api;
  #app;
  #listener;
  #path;
  #webhookId;
  #known = new Set(); // deliveries that a test waited for

  constructor(api, app, record, listener) {
    this.#api = api;
    this.#app = app;
    this.#path = `/developer/test-stores/${record.id}`;
    this.#webhookId = record.webhookId;
    this.#listener = listener;
    this.id = record.id;
    this.businessId = record.businessId;
    this.url = record.storeUrl;
    this.expiresAt = new Date(record.expiresAt);
    this.#keep(record);
  }

  #keep({ accessToken, installationId, webhookSecret, businessId }) {
    const { scopes } = this.#app;
    this.installation = { accessToken, installationId, webhookSecret, businessId, isTestInstall: true, scopes };
    this.client = new AppClient({ baseUrl: this.#api.baseUrl, accessToken });
  }

  listen() {
    return this.#listener.start();
  }

  /** Delete the store. Should that fail, the platform does it at `expiresAt`. */
  async close() {
    try {
      await this.#listener.stop();
    } finally {
      await this.#api.send("DELETE", this.#path).catch(() => {});
    }
  }

  /** Of the app-defined webhook. An app without a Webhook URL gets it once the store is listened to. */
  async webhookId() {
    if (!this.#webhookId) {
      const stores = await this.#get(`/developer/apps/${this.#app.id}/test-stores`);
      this.#webhookId = stores.find((each) => each.id === this.id).webhookId;
    }
    return this.#webhookId;
  }

  /**
   * Place an order as a shopper does. Resolves to its event: `placed.data.orderId` is the order. `email` or `phone` says who orders,
   * `product` is the ID of what is ordered.
   */
  async placeOrder({ email, phone, name, product, quantity } = {}) {
    const order = {
      event: "order.created",
      customer: customerOf({ email, phone, name }),
      productId: product,
      quantity,
    };
    return (await this.change(order)).find((each) => each.event === order.event);
  }

  /**
   * Erase a customer of the store, as a merchant does, by `{ email }` or `{ phone }`. Their open orders are delivered first. Without one,
   * somebody else orders and is erased. Resolves to `customer.data_erasure`.
   */
  async erase(customer = {}) {
    const erasure = { event: "customer.data_erasure", customer: customerOf(customer) };
    return (await this.change(erasure)).find((each) => each.event === erasure.event);
  }

  /**
   * Cause an event, or those of `{ scenario }`, by a real change. `{ event: "installation.updated", settings }` saves these settings.
   * Resolves to the events with `eventId`, `data` and `deliveries`.
   */
  async change(wanted) {
    const body = typeof wanted === "string" ? { event: wanted } : wanted;
    const { steps } = await this.#patiently(() => this.#api.record("POST", `${this.#path}/changes`, { body }));
    for (const step of steps) assert.ok(!step.problem, step.problem);
    return steps.flatMap((step) => step.events);
  }

  /** Let the store's clock go on, by `{ hours: 3 }`. Everything that falls due by then is sent now, in its order. */
  advance(span) {
    const seconds = Object.entries(span).reduce((sum, [unit, count]) => sum + UNITS[unit] * count, 0);
    return this.#api.record("POST", `${this.#path}/advance`, { body: { seconds: Math.round(seconds) } });
  }

  /** While `work` runs, answer for your app with this status, as if its server were down. */
  async down(status, work) {
    this.#listener.downWith = status;
    try {
      return await work();
    } finally {
      this.#listener.downWith = null;
    }
  }

  /** Uninstall the app, as a merchant does. The data erasure follows 48 hours later by the store's clock. */
  uninstall() {
    return this.#api.record("POST", `${this.#path}/uninstall`);
  }

  /** Install the app again, which cancels an erasure that waits. Resolves to the new `installation`; `client` has its token. */
  async install() {
    this.#keep(await this.#api.record("POST", `${this.#path}/install`));
    this.#webhookId = null;
    return this.installation;
  }

  /**
   * Wait until your app has accepted a delivery of this event, and resolve to it with its attempts. The next call waits for the next
   * one. With `attempts`, wait for a delivery that had so many, successful or not. Rejects once there was no attempt for `timeout`
   * seconds.
   */
  async waitFor(event, { timeout = 10, attempts } = {}) {
    let [found, seen, end] = [undefined, this.#listener.attempts, Date.now() + timeout * 1000];
    while (!(found = this.#listener.find(event, attempts, this.#known)) && Date.now() < end) {
      const over = new AbortController();
      const time = sleep(end - Date.now(), undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([this.#listener.change(), time]);
      over.abort();
      if (this.#listener.attempts > seen) [seen, end] = [this.#listener.attempts, Date.now() + timeout * 1000];
    }
    const wanted = attempts ? `with ${attempts} attempts` : "that your app accepts";
    assert.ok(
      found,
      `Expected a delivery of ${event} ${wanted}. Nothing more arrived for ${timeout} s. ` +
        `Your app's responses, without those that an earlier wait returned:\n${this.#listener.came(this.#known)}`,
    );
    if (!attempts) this.#known.add(found);
    return (await this.deliveries()).find((each) => each.id === found);
  }

  /** The newest 100 deliveries of the store, newest first, with their attempts. */
  deliveries() {
    return this.#get(`${this.#path}/deliveries`);
  }
  /** The newest 100 calls of your app and of its hooks, newest first. They appear after about a second. */
  calls() {
    return this.#get(`${this.#path}/calls`);
  }

  /** Send a call again while the platform is too busy to begin with it, as it may be while many tests run. */
  async #patiently(call) {
    for (let left = BUSY_FOR; left; left -= 1, await sleep(1000)) {
      try {
        return await call();
      } catch (error) {
        if (error.code !== "too_many_waiting") throw error;
      }
    }
    return call();
  }

  async #get(url) {
    return (await this.#api.record("GET", url, { query: { limit: 100 } })).data;
  }
}

function customerOf(given) {
  return Object.values(given).some(Boolean) ? given : undefined;
}

/** The seconds between the attempts of a delivery, by the store's clock. */
export function waits({ attempts }) {
  return attempts.slice(1).map(({ dueAt }, index) => (new Date(dueAt) - new Date(attempts[index].dueAt)) / 1000);
}

/** The address of a platform that a token may be sent to. */
function encrypted(address) {
  const { protocol, hostname } = new URL(address);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname) || hostname.endsWith(".localhost");
  if (protocol === "https:" || (protocol === "http:" && isLocal)) return address;
  throw new Error(`${address} would send your token unencrypted. Use https; http is for this machine only.`);
}

/** By EXTENSION_PLATFORM_APP, by the file that `extension-platform new` wrote, or the only one. */
async function findApp(api) {
  const apps = [];
  for (let page = 1, more = true; more; page += 1) {
    const { data, total } = await api.record("GET", "/developer/apps", { query: { page, limit: 50 } });
    apps.push(...data);
    more = page * 50 < total;
  }
  const wanted = APP || (await appOfFolder(process.cwd()));
  const named = ["id", "slug", "name"].map((key) => apps.find((each) => each[key] === wanted)).find(Boolean);
  const found = wanted ? named : apps.length === 1 && apps[0];
  if (found) return found;
  const slugs = apps.map((each) => each.slug).join(", ") || "none yet";
  const problem = wanted ? `You have no app ${wanted}.` : "Set EXTENSION_PLATFORM_APP to the slug of an app.";
  throw new Error(`${problem} Your apps: ${slugs}.`);
}

/** The app that the file in the nearest folder names, from here upward. */
async function appOfFolder(folder) {
  const file = join(folder, FILE);
  try {
    return JSON.parse((await readFile(file, "utf8")).replace(/^\uFEFF/, "")).app;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} must be a JSON object with "app", the ID of your app.`);
    if (error.code !== "ENOENT") throw error;
  }
  return dirname(folder) === folder ? undefined : appOfFolder(dirname(folder));
}
