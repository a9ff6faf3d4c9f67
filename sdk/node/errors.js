// What can go wrong when an app calls the platform.

export class PlatformError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came. Whether the call had an effect is unknown. A lost connection was tried three times, under one Idempotency-Key. */
export class Unreachable extends PlatformError {}

/** The platform answered with an error. `details` is empty unless the input was invalid. Name `requestId` to ask for help.
 * `code` is the stable name that /docs/errors/ explains, such as `missing_scope`; null if something in between answered.
 * `resourceMetadata` is where a 401 of the app API leads: the document that names its authorization server (RFC 9728). */
export class ApiError extends PlatformError {
  constructor(statusCode, message, error = "", details = [], requestId = null, code = null, resourceMetadata = null) {
    super(`${statusCode}: ${message}`);
    this.statusCode = statusCode;
    this.reason = message;
    this.error = error;
    this.details = details;
    this.requestId = requestId;
    this.code = code;
    this.resourceMetadata = resourceMetadata;
  }
}

/** 429. `retryAfter` is in seconds, null if the answer has none. */
export class RateLimited extends ApiError {
  constructor(message, error = "", retryAfter = null, requestId = null, code = null) {
    super(429, message, error, [], requestId, code);
    this.retryAfter = retryAfter;
  }
}

/** The authorization server refused (RFC 6749, sections 4.1.2.1 and 5.2). */
export class OAuthError extends PlatformError {
  constructor(error, description = "", statusCode = null, requestId = null) {
    super(description ? `${error}: ${description}` : error);
    this.error = error;
    this.description = description;
    this.statusCode = statusCode;
    this.requestId = requestId;
  }
}

/** The browser brought the answer to a request that it didn't make: use nothing of it. */
export class StateMismatch extends PlatformError {}

/** A response that isn't 2xx, as an error. It may come from a proxy in between, and not be JSON. */
export async function errorFrom(response) {
  const body = (await jsonObject(response)) ?? {};
  const message = String(body.message || response.statusText || "no message");
  const error = String(body.error || response.statusText || "");
  const requestId = response.headers.get("X-Request-Id");
  const code = response.headers.get("X-Error-Code");
  if (response.status === 429) {
    const wait = response.headers.get("Retry-After") ?? "";
    return new RateLimited(message, error, /^\d+$/.test(wait) ? Number(wait) : null, requestId, code);
  }
  const details = Array.isArray(body.details) ? body.details : [];
  const challenge = response.headers.get("WWW-Authenticate") ?? "";
  const resourceMetadata = /\bresource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? null;
  return new ApiError(response.status, message, error, details, requestId, code, resourceMetadata);
}

/** The JSON object of a response, or null. */
export async function jsonObject(response) {
  try {
    const found = await response.json();
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}
