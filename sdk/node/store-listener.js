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
const LIMITED = 15; // seconds to wait for a limit that doesn't say
const ATTACHED_WITHIN = 150_000; // ms
const FAREWELL = 2_000; // ms at the end for what the app is answering
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
  #reported = []; // {event, delivery, status, error}
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
    await this.#attach(Date.now() + ATTACHED_WITHIN);
    this.#run().catch((error) => {
      this.#failure = error;
      this.#notify();
    });
  }

  /** Wait a moment for what the app is answering, and give the rest back to the platform. */
  async stop() {
    const moment = new AbortController();
    await Promise.race([Promise.allSettled(this.#working), pause(FAREWELL, moment.signal)]);
    moment.abort();
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
    const cause = this.#failure;
    if (cause) throw new Error(`This test doesn't listen to its store any more: ${cause.message}`, { cause });
    const tried = new Map();
    for (const each of this.#reported) {
      if (each.event !== event || known.has(each.delivery)) continue;
      tried.set(each.delivery, (tried.get(each.delivery) ?? 0) + 1);
      const succeeded = each.status >= 200 && each.status < 300;
      if (attempts ? tried.get(each.delivery) >= attempts : succeeded) return each.delivery;
    }
    return undefined;
  }

  /** What has reached the app but these deliveries, for a message: a line for each event. */
  came(known) {
    const outcomes = new Map();
    for (const { event, delivery, status, error } of this.#reported) {
      if (known.has(delivery)) continue;
      outcomes.set(event, [...(outcomes.get(event) ?? []), status ?? `no answer (${error})`]);
    }
    const lines = [...outcomes].sort().map(([event, ofEvent]) => `  ${event}: ${ofEvent.join(", ")}`);
    return lines.join("\n") || "  none";
  }

  async #attach(until = Infinity) {
    const body = { testStoreId: this.#storeId };
    const call = (signal) => this.#api.record("POST", this.#path, { body, signal });
    this.#id = (await this.#call(call, until))?.listenerId;
  }

  async #run() {
    while (!this.#over.signal.aborted) {
      const room = Math.max(0, ROOM - this.#busy.size);
      const work = await this.#ask({ busy: [...this.#busy], room, wait: room ? WAIT : 1 });
      for (const delivery of work?.deliveries ?? []) {
        this.#busy.add(delivery.lease);
        this.#begin(this.#deliver(delivery));
      }
      for (const call of work?.hookCalls ?? []) this.#begin(this.#hookCall(call));
      if (work && (!room || work.pauseMs)) await pause(work.pauseMs, this.#over.signal);
    }
  }

  /** Nothing if it has to be asked again. */
  async #ask(body) {
    try {
      return await this.#call((signal) => this.#api.record("POST", `${this.#path}/${this.#id}/work`, { body, signal }));
    } catch (error) {
      if (error.statusCode !== 404) throw error;
      await this.#attach(); // it was silent for too long
      return null;
    }
  }

  /** Its answer, however long the platform can't be reached. Null once the listener is over. */
  async #call(send, until = Infinity) {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        return await send(signal);
      } catch (error) {
        if (signal.aborted) return null;
        const isLimited = error instanceof RateLimited;
        const passes = isLimited || !(error instanceof ApiError) || error.statusCode >= 500;
        const wait = isLimited ? (error.retryAfter ?? LIMITED) * 1000 : PAUSE;
        if (!passes || Date.now() + wait > until) throw error;
        if (isLimited) console.error(`${error.reason} Trying again in ${wait / 1000} s.`);
        await pause(wait, signal);
      }
    }
    return null;
  }

  #begin(work) {
    this.#working.add(work);
    work.finally(() => this.#working.delete(work));
  }

  async #deliver({ lease, id, event, ...sent }) {
    const answer = await this.#forward(sent, DEADLINE, KEPT);
    if (await this.#report({ deliveries: [{ lease, ...answer }] })) {
      this.#reported.push({ event, delivery: id, status: answer.httpStatus, error: answer.error });
    }
    this.#busy.delete(lease);
    this.#notify();
  }

  async #hookCall({ id, timeoutMs, ...sent }) {
    await this.#report({ hookCalls: [{ id, ...(await this.#forward(sent, timeoutMs, KEPT_OF_CALLS)) }] });
  }

  /** Whether the platform has it. It resends requests that can't be reported in time. */
  async #report(body) {
    const call = (signal) => this.#api.send("POST", `${this.#path}/${this.#id}/answers`, { body, signal });
    try {
      return (await this.#call(call, Date.now() + REPORTED_WITHIN)) !== null;
    } catch {
      return false;
    }
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

/** A sleep that ends early, without an error. */
const pause = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {});

/**
 * Post the same bytes and headers to the app. Never rejects. Once there is a status, that is the answer, however much of its body
 * comes in time.
 */
function post(port, url, headers, text, timeout, most) {
  const { pathname, search } = new URL(url);
  const body = Buffer.from(text);
  const options = { host: "127.0.0.1", port, path: pathname + search, method: "POST", agent: false };
  return new Promise((resolve) => {
    let end = (_, error) => resolve({ httpStatus: null, error });
    const sent = request({ ...options, headers: { ...headers, "Content-Length": body.length } }, (response) => {
      const parts = [];
      const { "retry-after": retryAfter } = response.headers;
      let size = 0;
      end = (isWhole) => {
        resolve({
          httpStatus: response.statusCode,
          body: Buffer.concat(parts).subarray(0, most).toString("base64"),
          truncated: !isWhole || size > most,
          ...(retryAfter && { retryAfter: retryAfter.slice(0, 100) }),
        });
        sent.destroy();
      };
      response.on("data", (part) => {
        parts.push(part);
        size += part.length;
        if (size > most) end(false);
      });
      response.on("end", () => end(true)).on("error", () => end(false));
    });
    const timer = setTimeout(() => (end(false, "timeout_response"), sent.destroy()), timeout);
    sent.on("error", ({ code }) => end(false, code === "ECONNREFUSED" ? "refused" : "reset"));
    sent.on("close", () => clearTimeout(timer));
    sent.end(body);
  });
}
