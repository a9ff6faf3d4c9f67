// One call to the platform with a token.

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

export class Transport {
  #token;

  constructor({ baseUrl, token, timeout, waitOnRateLimit }) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.timeout = timeout;
    this.waitOnRateLimit = waitOnRateLimit;
    this.#token = cleanSecret(token, "The access token");
  }

  /** The JSON object of a 2xx answer. */
  async record(method, url, options) {
    const response = await this.send(method, url, options);
    const record = await jsonObject(response);
    if (!record) throw new ApiError(response.status, "the answer is not a JSON object");
    return record;
  }

  /** The 2xx answer. One 429 is waited out where that was asked for. */
  async send(method, url, options) {
    try {
      return await this.#once(method, url, options);
    } catch (error) {
      if (!(this.waitOnRateLimit && error instanceof RateLimited && error.retryAfter !== null)) throw error;
      await sleep(error.retryAfter * 1000);
      return this.#once(method, url, options);
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
