// The calls of the store API, and what else needs nothing of the shop.

const { createHash, createHmac, timingSafeEqual } = require("node:crypto");

/** No answer (`status` 0), or one that is an error. `retryAfter` is in seconds, `details` as the platform's errors have them. */
class PlatformError extends Error {
  constructor(status, message, { retryAfter = 0, details = [] } = {}) {
    super(`${status}: ${message}`);
    Object.assign(this, { status, retryAfter, details });
  }
}

class Platform {
  constructor({ url, key, store }) {
    Object.assign(this, { base: `${url}/store-api/stores/${store}`, key });
  }

  /** The answer's JSON and headers; null for a 304. `timeout` is in milliseconds, of the whole call. */
  async send(method, path, body, { timeout = 30_000, etag } = {}) {
    const headers = { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" };
    if (etag) headers["If-None-Match"] = etag;
    const signal = AbortSignal.timeout(timeout);
    let response, text;
    try {
      response = await fetch(this.base + path, { method, headers, body: toJson(body), redirect: "error", signal });
      text = await response.text();
    } catch (error) {
      throw new PlatformError(0, error.cause?.code ?? error.name);
    }
    const read = parsed(text);
    if (response.status === 304) return { json: null, headers: response.headers };
    if (!response.ok) {
      const retryAfter = Number(response.headers.get("Retry-After")) || 0;
      throw new PlatformError(response.status, read?.message ?? "no message", { retryAfter, details: read?.details });
    }
    return { json: read, headers: response.headers };
  }

  async call(...request) {
    return (await this.send(...request)).json;
  }

  /** The URL that signs a person in; `about` is `{person, role}`. A `next` that the platform doesn't take leads to the apps. */
  async ticket(about, next) {
    try {
      return (await this.call("POST", "/tickets", { ...about, next })).url;
    } catch (error) {
      if (!next || error.details?.[0]?.field !== "next") throw error;
      return (await this.call("POST", "/tickets", about)).url;
    }
  }
}

/** Whether the platform signed this body within the last five minutes. */
function isSigned(secret, headers, body) {
  const time = headers["x-webhook-timestamp"] ?? "";
  const signed = `sha256=${createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex")}`;
  const given = Buffer.from(headers["x-webhook-signature"] ?? "");
  const isOurs = given.length === signed.length && timingSafeEqual(given, Buffer.from(signed));
  return isOurs && /^\d{1,12}$/.test(time) && Math.abs(Date.now() / 1000 - Number(time)) <= 300;
}

/** With sorted keys, so that equal values have equal texts. */
function toJson(value) {
  const sorted = (each) => Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(value, (_, each) => (each?.constructor === Object ? sorted(each) : each));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const digestOf = (value) => createHash("sha256").update(toJson(value)).digest("hex");

module.exports = { Platform, PlatformError, isSigned, parsed, digestOf };
