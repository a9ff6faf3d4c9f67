// One call to the platform with a token.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, errorFrom, jsonObject, RateLimited, Unreachable } from "./errors.js";

/**
 * A token or secret as it was issued: without white space and a byte order mark around it, as files and shells add. Throws for one
 * that can't be sent, without showing it.
 */
export function cleanSecret(text, name) {
  const cleaned = String(text).trim();
  if (!/^[!-~]*$/.test(cleaned)) {
    throw new TypeError(`${name} has a space, a quotation mark or another character that no token has. Copy it again.`);
  }
  return cleaned;
}

const SAFE = ["GET", "HEAD", "OPTIONS"];
const FIRST_PAUSE = 250; // milliseconds before a call is retried; twice as long before the next

export class Transport {
  #token;

  constructor({ baseUrl, token, timeout, waitOnRateLimit, retries = 2, traceparent }) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.timeout = timeout;
    this.waitOnRateLimit = waitOnRateLimit;
    this.retries = retries;
    this.traceparent = traceparent;
    this.#token = cleanSecret(token, "The access token");
  }

  /** The JSON object of a 2xx answer. */
  async record(method, url, options) {
    const response = await this.send(method, url, options);
    const record = await jsonObject(response);
    if (!record) throw new ApiError(response.status, "the answer is not a JSON object");
    return record;
  }

  /**
   * The 2xx answer. A call whose connection is lost is retried, `retries` times. All that change something have an
   * Idempotency-Key, so the platform carries them out once. One 429 is waited out where that was asked for.
   */
  async send(method, url, options = {}) {
    const key = SAFE.includes(method) ? {} : { "Idempotency-Key": randomUUID() };
    const call = () => this.#once(method, url, { ...options, headers: { ...key, ...options.headers } });
    for (let left = this.retries, pause = FIRST_PAUSE; ; left -= 1, pause *= 2) {
      try {
        return await call();
      } catch (error) {
        if (error instanceof RateLimited && this.waitOnRateLimit && error.retryAfter !== null) {
          await sleep(error.retryAfter * 1000);
          return call();
        }
        if (left < 1 || !mayPass(error)) throw error;
        await sleep(pause);
      }
    }
  }

  async #once(method, url, { query = {}, body, headers = {}, signal } = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const address = new URL(this.baseUrl + url);
    for (const [name, value] of given) {
      address.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    const timeout = AbortSignal.timeout(this.timeout);
    let response;
    try {
      response = await fetch(address, {
        method,
        headers: {
          Accept: "application/json",
          Authorization: `Bearer ${this.#token}`,
          ...(this.traceparent && { traceparent: this.traceparent }),
          ...(body && { "Content-Type": "application/json" }),
          ...headers,
        },
        body: body && JSON.stringify(body),
        redirect: "manual", // no endpoint redirects, and the token goes nowhere else
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
    } catch (error) {
      throw new Unreachable(`no answer from ${this.baseUrl} (${error.name})`, { cause: error });
    }
    if (!response.ok) throw await errorFrom(response);
    return response;
  }
}

/** A connection that was refused or ended, or a first call that still runs. A platform that takes too long isn't asked again. */
function mayPass(error) {
  if (error instanceof ApiError) return error.code === "idempotency_key_in_progress";
  return error instanceof Unreachable && error.cause instanceof TypeError;
}
