// The platform's public keys, which verify session tokens of apps with `sessionTokenAlg: "EdDSA"` (RFC 7517, RFC 8037).

import { createPublicKey } from "node:crypto";

import { errorFrom, jsonObject, Unreachable } from "./errors.js";

const KEPT = 600_000; // milliseconds for which fetched keys are kept
const REST = 10_000; // milliseconds between two requests for a key that isn't among them
const RETRY = 1000; // milliseconds after a request that failed
const TIMEOUT = 5000; // milliseconds

/**
 * The keys at one address: fetched at the first token, then kept. They are fetched again for a key that isn't among them, since the
 * platform may have a new one. Keys that are known stay good while the platform can't be reached.
 */
export class PlatformKeys {
  #baseUrl;
  #keys = new Map();
  #keptUntil = 0;
  #restsUntil = 0;
  #hasFailed = false;
  #underWay = null;

  constructor(baseUrl) {
    this.#baseUrl = baseUrl;
  }

  /** The key of that name, or undefined. Throws Unreachable or ApiError where it isn't known and can't be asked for. */
  async find(kid) {
    const known = this.#keys.has(kid);
    if (known && performance.now() < this.#keptUntil) return this.#keys.get(kid);
    if (this.#underWay || performance.now() >= this.#restsUntil) {
      this.#underWay ??= this.#fetch().finally(() => (this.#underWay = null));
      try {
        await this.#underWay;
      } catch (error) {
        if (!known) throw error;
      }
    }
    if (!this.#keys.has(kid) && this.#hasFailed) throw new Unreachable(`no keys from ${this.#baseUrl}`);
    return this.#keys.get(kid);
  }

  async #fetch() {
    this.#hasFailed = true;
    this.#restsUntil = performance.now() + RETRY;
    const options = {
      headers: { Accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    };
    let response;
    try {
      response = await fetch(`${this.#baseUrl}/.well-known/jwks.json`, options);
    } catch (error) {
      throw new Unreachable(`no answer from ${this.#baseUrl} (${error.name})`, { cause: error });
    }
    if (!response.ok) throw await errorFrom(response);
    this.#keys = keysIn(await jsonObject(response));
    this.#hasFailed = false;
    this.#keptUntil = performance.now() + KEPT;
    this.#restsUntil = performance.now() + REST;
  }
}

const platforms = new Map();

/** One for each platform, so that all tokens share what was fetched. */
export function keysOf(baseUrl) {
  if (!platforms.has(baseUrl)) platforms.set(baseUrl, new PlatformKeys(baseUrl));
  return platforms.get(baseUrl);
}

/** By `kid`. Keys of other kinds are left out. */
function keysIn(set) {
  try {
    const wanted = set.keys.filter(({ kty, crv }) => kty === "OKP" && crv === "Ed25519");
    return new Map(wanted.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: "jwk" })]));
  } catch (error) {
    throw new Unreachable("the platform's keys are not a JWK Set", { cause: error });
  }
}
