// Signatures of webhook and hook calls: `sha256=` and the hex of HMAC-SHA256 over `<timestamp>.<rawBody>`, keyed with the
// whole secret, prefix included.

import { createHmac, timingSafeEqual } from "node:crypto";

import { PARSED, rawBytes } from "./envelope.js";

export const SIGNATURE_HEADER = "x-webhook-signature";
export const TIMESTAMP_HEADER = "x-webhook-timestamp";

/** Seconds that a timestamp may differ from the receiver's clock, in either direction. */
export const TOLERANCE = 300;

/** The call is not to be trusted; answer it with 401. The message is fit for a log. */
export class InvalidSignature extends Error {
  name = "InvalidSignature";
}

/** The value of X-Webhook-Signature for a call: for the tests of your own receiver. */
export function sign({ secret, timestamp, body }) {
  if (!secret) throw new TypeError("the webhook secret is empty");
  if (!rawBytes(body)) throw new TypeError(PARSED);
  const digest = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBytes(body)).digest("hex");
  return `sha256=${digest}`;
}

/** Returns if the call was signed with `secret` not long ago, and throws InvalidSignature otherwise. `now` is in seconds. */
export function verify({ secret, timestamp, signature, body, tolerance = TOLERANCE, now = Date.now() / 1000 }) {
  if (!timestamp) throw new InvalidSignature("X-Webhook-Timestamp is missing");
  if (!signature) throw new InvalidSignature("X-Webhook-Signature is missing");
  if (!/^[0-9]{1,12}$/.test(timestamp)) {
    throw new InvalidSignature("X-Webhook-Timestamp is not a Unix time in seconds");
  }
  if (!/^sha256=[0-9a-fA-F]{64}$/.test(signature)) {
    throw new InvalidSignature("X-Webhook-Signature is not sha256= and 64 hexadecimal digits");
  }
  const expected = Buffer.from(sign({ secret, timestamp, body }));
  if (!timingSafeEqual(expected, Buffer.from(String(signature).toLowerCase()))) {
    throw new InvalidSignature("the signature does not match the body");
  }
  const age = now - Number(timestamp);
  if (Math.abs(age) > tolerance) {
    const off = `${Math.round(Math.abs(age))} seconds ${age > 0 ? "old" : "ahead"}`;
    throw new InvalidSignature(`the timestamp is ${off}, ${tolerance} are allowed`);
  }
}
