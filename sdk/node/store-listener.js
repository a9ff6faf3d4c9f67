// Brings what happens in a test store to the app on this machine, and remembers the attempts.

import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, RateLimited } from "./errors.js";

const WAIT = 20; // seconds that the platform waits for something to come
const ROOM = 10; // deliveries at a time
const DEADLINE = 10_000; // ms that an app has for a delivery
const KEPT = 4096; // bytes of the answer to a delivery, and of that to a hook call
const KEPT_OF_CALLS = 64 * 1024;
const PAUSE = 250; // ms between two tries to reach the platform
const REPORTED_WITHIN = 10_000; // ms

export class StoreListener {
  #api;
  #path;
  #storeId;
  #port;
  #id;
  #failure = null;
  #busy = new Set();
  #working = new Set();
  #reported = []; // {event, delivery, succeeded}
  #over = new AbortController();
  #waiting = [];

  /** A status that is answered instead of the app's. */
  downWith = null;

  constructor(api, appId, storeId, port) {
    this.#api = api;
    this.#path = `/developer/apps/${appId}/listener`;
    this.#storeId = storeId;
    this.#port = port;
  }

  /** Resolves once the platform knows of it. */
  async start() {
    await this.#attach();
    this.#run().catch((error) => {
      this.#failure = error;
      this.#notify();
    });
  }

  /** Wait for what the app is answering, and give the rest back to the platform. */
  async stop() {
    await Promise.allSettled(this.#working);
    this.#over.abort();
    if (this.#id) await this.#api.send("DELETE", `${this.#path}/${this.#id}`).catch(() => {});
  }

  /** How many the platform knows of. */
  get attempts() {
    return this.#reported.length;
  }

  /** Resolves with the next report. */
  change() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The delivery of an event that has succeeded, or that had so many attempts. */
  find(event, attempts, known) {
    if (this.#failure) throw new Error("This test doesn't listen to its store any more.", { cause: this.#failure });
    const tried = new Map();
    for (const each of this.#reported) {
      if (each.event !== event || known.has(each.delivery)) continue;
      tried.set(each.delivery, (tried.get(each.delivery) ?? 0) + 1);
      if (attempts ? tried.get(each.delivery) >= attempts : each.succeeded) return each.delivery;
    }
    return undefined;
  }

  /** The attempts at this event, for a message. */
  seen(event) {
    const tried = this.#reported.filter((each) => each.event === event);
    const others = [...new Set(this.#reported.map((each) => each.event).filter((name) => name !== event))].sort();
    const succeeded = tried.filter((each) => each.succeeded).length;
    const counts = `${tried.length} attempts reached your app, ${succeeded} succeeded`;
    return `${counts}. Other events: ${others.join(", ") || "none"}.`;
  }

  async #attach() {
    const body = { testStoreId: this.#storeId };
    this.#id = (await this.#api.record("POST", this.#path, { body })).listenerId;
  }

  async #run() {
    while (!this.#over.signal.aborted) {
      const room = Math.max(0, ROOM - this.#busy.size);
      const work = await this.#ask({ busy: [...this.#busy], room, wait: room ? WAIT : 1 });
      for (const delivery of work?.deliveries ?? []) {
        this.#busy.add(delivery.lease);
        this.#begin(this.#deliver(delivery));
      }
      for (const call of work?.hookCalls ?? []) this.#begin(this.#call(call));
      if (work && (!room || work.pauseMs)) await sleep(work.pauseMs);
    }
  }

  /** Nothing if there was no answer, and it may be asked again. */
  async #ask(body) {
    try {
      return await this.#api.record("POST", `${this.#path}/${this.#id}/work`, { body, signal: this.#over.signal });
    } catch (error) {
      if (this.#over.signal.aborted) return null;
      const status = error instanceof ApiError ? error.statusCode : 503;
      if (status === 404) await this.#attach();
      else if (status < 500 && !(error instanceof RateLimited)) throw error;
      await sleep(error.retryAfter ? error.retryAfter * 1000 : PAUSE);
      return null;
    }
  }

  #begin(work) {
    this.#working.add(work);
    work.finally(() => this.#working.delete(work));
  }

  async #deliver({ lease, id, event, ...sent }) {
    const answer = await this.#forward(sent, DEADLINE, KEPT);
    if (await this.#report({ deliveries: [{ lease, ...answer }] })) {
      const succeeded = answer.httpStatus >= 200 && answer.httpStatus < 300;
      this.#reported.push({ event, delivery: id, succeeded });
    }
    this.#busy.delete(lease);
    this.#notify();
  }

  async #call({ id, timeoutMs, ...sent }) {
    await this.#report({ hookCalls: [{ id, ...(await this.#forward(sent, timeoutMs, KEPT_OF_CALLS)) }] });
  }

  /** Whether the platform has it. What can't be reported in time, it resends. */
  async #report(body) {
    for (const end = Date.now() + REPORTED_WITHIN; Date.now() < end; await sleep(PAUSE)) {
      try {
        await this.#api.send("POST", `${this.#path}/${this.#id}/answers`, { body });
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.statusCode < 500) return false;
      }
    }
    return false;
  }

  async #forward({ url, headers, body }, timeout, most) {
    const began = performance.now();
    const answer =
      this.downWith === null
        ? await post(this.#port, url, headers, body, timeout, most)
        : { httpStatus: this.downWith };
    return { ...answer, durationMs: Math.round(performance.now() - began) };
  }

  #notify() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Post the same bytes and headers to the app. Never rejects. */
function post(port, url, headers, text, timeout, most) {
  const { pathname, search } = new URL(url);
  const body = Buffer.from(text);
  const options = { host: "127.0.0.1", port, path: pathname + search, method: "POST", agent: false };
  return new Promise((resolve) => {
    const fail = (error) => resolve({ httpStatus: null, error });
    const sent = request({ ...options, headers: { ...headers, "Content-Length": body.length } }, (response) => {
      const parts = [];
      const { "retry-after": retryAfter } = response.headers;
      const end = (whole) => {
        const received = Buffer.concat(parts);
        resolve({
          httpStatus: response.statusCode,
          body: received.subarray(0, most).toString("base64"),
          truncated: !whole || received.length > most,
          ...(retryAfter && { retryAfter: retryAfter.slice(0, 100) }),
        });
      };
      let size = 0;
      response.on("data", (part) => {
        if (size <= most) parts.push(part);
        size += part.length;
      });
      response.on("end", () => end(true)).on("error", () => end(false));
    });
    sent.on("error", ({ code }) => fail(code === "ECONNREFUSED" ? "refused" : "reset"));
    const timer = setTimeout(() => (fail("timeout_response"), sent.destroy()), timeout);
    sent.on("close", () => clearTimeout(timer));
    sent.end(body);
  });
}
