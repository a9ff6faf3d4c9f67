// What the routers of webhooks and hooks share: handlers by name, behind the signature check.

import { lowerCased, PARSED, rawBytes } from "./envelope.js";
import { InvalidSignature, SIGNATURE_HEADER, TIMESTAMP_HEADER, TOLERANCE, verify } from "./signatures.js";

export class Router {
  #handlers = new Map();

  constructor({ tolerance = TOLERANCE } = {}) {
    this.tolerance = tolerance;
  }

  /** `on(name, …more, handler)`. Throws if a name has a handler already. */
  on(...args) {
    const handler = args.pop();
    for (const name of args) {
      if (this.#handlers.has(name)) throw new Error(`${name} has a handler already`);
      this.#handlers.set(name, handler);
    }
    return this;
  }

  handlerOf(name) {
    return this.#handlers.get(name);
  }

  /** Verify a call, run its handler, and say what to answer. Whatever is wrong, there is an answer. */
  async handle(headers, body, secret, { now } = {}) {
    const raw = rawBytes(body);
    if (!raw) return refuse(500, PARSED);
    try {
      return await this.receive(lowerCased(headers), raw, secret, now);
    } catch (error) {
      return refuse(500, "the secret or the store of handled deliveries failed", { error });
    }
  }

  /** The reason why the call is not to be trusted, or null. */
  async refusal(headers, body, findSecret, now) {
    try {
      verify({
        secret: await findSecret(),
        timestamp: headers[TIMESTAMP_HEADER],
        signature: headers[SIGNATURE_HEADER],
        body,
        tolerance: this.tolerance,
        now,
      });
      return null;
    } catch (error) {
      if (error instanceof InvalidSignature) return error.message;
      throw error;
    }
  }
}

export function refuse(status, reason, more = {}) {
  return { status, body: JSON.stringify({ message: reason }), reason, ...more };
}
