// The JSON object around the data of a delivery or a hook call, and what it comes in.

import { isAnyArrayBuffer } from "node:util/types";

/** An object with these texts, `timestamp` and `data`; other keys are ignored. Throws an Error that says what is wrong. */
export function readEnvelope(body, ...names) {
  let found;
  try {
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new Error("the body is not JSON");
  }
  if (!isObject(found)) throw new Error("the body is not a JSON object");
  for (const name of [...names, "timestamp"]) {
    if (typeof found[name] !== "string" || !found[name]) throw new Error(`${name} is missing or not a string`);
  }
  if (!isObject(found.data)) throw new Error("data is missing or not an object");
  const timestamp = new Date(found.timestamp);
  if (Number.isNaN(timestamp.getTime())) throw new Error("timestamp is not an ISO 8601 time");
  return { ...Object.fromEntries(names.map((name) => [name, found[name]])), timestamp, data: found.data };
}

/** Headers by lower-case name, from node's `request.headers`, a Headers object, or any object. Lists are joined as HTTP does. */
export function lowerCased(headers) {
  const pairs = typeof headers?.entries === "function" ? [...headers.entries()] : Object.entries(headers ?? {});
  const given = pairs.filter(([, value]) => value != null);
  return Object.fromEntries(given.map(([name, value]) => [String(name).toLowerCase(), [value].flat().join(", ")]));
}

/**
 * The IDs for the app's own log and calls. A traceparent that is malformed is null: it isn't under the signature, and goes into
 * requests of the app (https://www.w3.org/TR/trace-context/#traceparent-header, of any version).
 */
export function tracing(headers) {
  const { "x-request-id": requestId = null, traceparent = "" } = headers;
  const isValid = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]{0,200})?$/.test(traceparent);
  return { requestId, traceparent: isValid ? traceparent : null };
}

/** The person that a hook call or a token names; null for anything else than an object with a key. */
export function readShopper(given) {
  if (!isObject(given) || typeof given.key !== "string") return null;
  return { key: given.key, proven: given.proven === true };
}

/** The bytes that were signed; null for what a parser made of them. A text stands for its UTF-8. */
export function rawBytes(body) {
  if (typeof body === "string" || isAnyArrayBuffer(body)) return Buffer.from(body);
  return ArrayBuffer.isView(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : null;
}

export const PARSED = "the body was parsed before; mount this route before express.json()";

export function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
