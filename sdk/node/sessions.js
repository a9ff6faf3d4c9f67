// The person who looks at an admin page. The page's message could be forged in the browser; its session token can't.

import { createHmac, timingSafeEqual } from "node:crypto";

import { isObject } from "./envelope.js";

const LEEWAY = 5; // seconds that the two clocks may differ

/** The session token is not to be trusted; answer with 401. The message is fit for a log. */
export class InvalidSession extends Error {
  name = "InvalidSession";
}

/** Verify a session token (HS256, keyed with the installation's webhook secret). `secret` may be a function of its id. */
export async function readSessionToken(token, { clientId, secret, now = Date.now() / 1000 }) {
  const [header, payload, signature, ...more] = token.split(".");
  if (!signature || more.length) throw new InvalidSession("the token is not a JWT");
  if (object(header).alg !== "HS256") throw new InvalidSession("the token is not signed with HS256");
  const claims = object(payload);
  const key = typeof secret === "string" ? secret : await secret(String(claims.installationId ?? ""));
  if (!key) throw new InvalidSession("the token names no installation known here");
  const expected = createHmac("sha256", key).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(expected, given)) {
    throw new InvalidSession("the signature does not match");
  }
  const { aud, exp, sub, businessId, installationId, staffRole } = claims;
  if (aud !== clientId) throw new InvalidSession("the token is for another app");
  if (!Number.isInteger(exp) || exp + LEEWAY <= now) throw new InvalidSession("the token has expired");
  if ([sub, businessId, installationId].some((value) => typeof value !== "string")) {
    throw new InvalidSession("the token does not say who is looking");
  }
  return { userId: sub, businessId, installationId, expiresAt: exp, staffRole: staffRole ?? null };
}

function object(part) {
  try {
    const found = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    if (isObject(found)) return found;
  } catch {
    // Refused below, like everything that isn't a JSON object.
  }
  throw new InvalidSession("the token is not a JWT");
}
