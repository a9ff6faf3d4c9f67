// Session tokens: who looks at an admin page, and which store a block or widget is in. The frame's message could be forged in the browser;
// its session token can't.

import { createHmac, timingSafeEqual, verify } from "node:crypto";

import { isObject, readShopper } from "./envelope.js";
import { keysOf } from "./platform-keys.js";

const LEEWAY = 5; // seconds that the two clocks may differ
const STOREFRONT = "/storefront";

/** The session token is not to be trusted; answer with 401. The message is fit for a log. */
export class InvalidSession extends Error {
  name = "InvalidSession";
}

/**
 * Verify the token of an admin page. `secret` accepts those signed with the installation's webhook secret (HS256), and may be a function
 * of its id. `baseUrl`, the platform's address, accepts those signed with the platform's key (EdDSA), which is fetched from there and kept.
 */
export async function readSessionToken(token, { clientId, ...options }) {
  const claims = await verified(token, clientId, options);
  const { sub, businessId, installationId, staffRole } = texts(claims, "sub", "businessId", "installationId");
  return { userId: sub, businessId, installationId, expiresAt: claims.exp, staffRole: staffRole ?? null };
}

/** Verify the token of a block or a widget, as `readSessionToken` does that of an admin page. Neither takes the other's token. */
export async function readStorefrontToken(token, { clientId, ...options }) {
  const claims = await verified(token, clientId + STOREFRONT, options);
  const { businessId, installationId } = texts(claims, "businessId", "installationId");
  return { businessId, installationId, expiresAt: claims.exp, shopper: readShopper(claims.shopper) };
}

/** The claims of a token with a good signature, for this audience, that hasn't expired. */
async function verified(token, audience, { secret, baseUrl, now = Date.now() / 1000 }) {
  if (secret == null && baseUrl == null) throw new TypeError("give secret or baseUrl");
  const [header, payload, signature, ...more] = token.split(".");
  if (!signature || more.length) throw new InvalidSession("the token is not a JWT");
  const { alg, kid } = object(header);
  const claims = object(payload);
  const signed = { text: `${header}.${payload}`, signature: Buffer.from(signature, "base64url") };
  if (alg === "HS256" && secret != null) await checkSecret(signed, secret, claims);
  else if (alg === "EdDSA" && baseUrl != null) await checkKey(signed, kid, baseUrl.replace(/\/+$/, ""), claims);
  else {
    const accepted = [secret != null && "HS256", baseUrl != null && "EdDSA"].filter(Boolean);
    throw new InvalidSession(`the token is not signed with ${accepted.join(" or ")}`);
  }
  const { aud, exp } = claims;
  if (aud !== audience) throw new InvalidSession("the token is for another app, or for another kind of page");
  if (!Number.isInteger(exp) || exp + LEEWAY <= now) throw new InvalidSession("the token has expired");
  return claims;
}

async function checkSecret({ text, signature }, secret, claims) {
  const key = typeof secret === "string" ? secret : await secret(String(claims.installationId ?? ""));
  if (!key) throw new InvalidSession("the token names no installation known here");
  const expected = createHmac("sha256", key).update(text).digest();
  if (signature.length !== expected.length || !timingSafeEqual(expected, signature)) {
    throw new InvalidSession("the signature does not match");
  }
}

async function checkKey({ text, signature }, kid, baseUrl, claims) {
  const key = typeof kid === "string" ? await keysOf(baseUrl).find(kid) : undefined;
  if (!key) throw new InvalidSession("the platform has no such key");
  if (!verify(null, Buffer.from(text), key, signature)) throw new InvalidSession("the signature does not match");
  if (claims.iss !== baseUrl) throw new InvalidSession("the token is of another platform");
}

function texts(claims, ...names) {
  if (names.some((name) => typeof claims[name] !== "string")) {
    throw new InvalidSession("the token does not say who is looking");
  }
  return claims;
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
