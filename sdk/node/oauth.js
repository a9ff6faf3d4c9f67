// Installing the app on a store: OAuth 2.0 with an authorization code, PKCE, and the metadata of RFC 8414.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

import { ApiError, errorFrom, jsonObject, OAuthError, StateMismatch, Unreachable } from "./errors.js";
import { cleanSecret } from "./transport.js";

const ENDPOINTS = ["issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint"];

export class OAuthClient {
  #metadata = null;

  constructor({ baseUrl, clientId, clientSecret, redirectUri, timeout = 10_000 }) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.clientId = cleanSecret(clientId, "The client ID");
    this.redirectUri = redirectUri;
    this.timeout = timeout;
    // RFC 6749 section 2.3.1: both are encoded as in a form before Basic joins them with a colon.
    const pair = [this.clientId, cleanSecret(clientSecret, "The client secret")].map(encodeURIComponent).join(":");
    this.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    Object.defineProperty(this, "authorization", { enumerable: false }); // kept out of logs
  }

  /** Where the platform's endpoints are; asked for once. */
  async metadata() {
    this.#metadata ??= await this.#discover();
    return this.#metadata;
  }

  /** The consent page's address, with a new state and PKCE. Keep `state` and `codeVerifier` with the browser's session. */
  async begin({ scope, businessId } = {}) {
    const [state, codeVerifier] = [randomBytes(32), randomBytes(48)].map((bytes) => bytes.toString("base64url"));
    const query = new URLSearchParams({
      response_type: "code",
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      state,
      code_challenge: codeChallenge(codeVerifier),
      code_challenge_method: "S256",
    });
    if (scope) query.set("scope", scope.join(" "));
    if (businessId) query.set("business_id", businessId);
    const { authorization_endpoint: endpoint } = await this.metadata();
    return { url: `${endpoint}?${query}`, state, codeVerifier };
  }

  /** Turn a code into the installation. Do it once for each code: a second use ends the token that the first gave. */
  async exchange(code, { codeVerifier } = {}) {
    const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: this.redirectUri });
    if (codeVerifier) form.set("code_verifier", codeVerifier);
    const response = await this.#post((await this.metadata()).token_endpoint, form);
    return installation(response.status, (await jsonObject(response)) ?? {});
  }

  /** Uninstall the app from the store of a token (RFC 7009). */
  async revoke(accessToken) {
    await this.#post((await this.metadata()).revocation_endpoint, new URLSearchParams({ token: accessToken }));
  }

  async #discover() {
    const response = await this.#send(`${this.baseUrl}/.well-known/oauth-authorization-server`);
    const record = (await jsonObject(response)) ?? {};
    if (ENDPOINTS.some((name) => typeof record[name] !== "string")) {
      throw new ApiError(response.status, "the metadata document lacks an endpoint");
    }
    if (record.issuer.replace(/\/+$/, "") !== this.baseUrl) {
      throw new ApiError(response.status, `the metadata document is of ${record.issuer}`);
    }
    return record;
  }

  #post(url, body) {
    return this.#send(url, { method: "POST", body, headers: { Authorization: this.authorization } });
  }

  async #send(url, options = {}) {
    let response;
    try {
      response = await fetch(url, {
        ...options,
        headers: { Accept: "application/json", ...options.headers },
        redirect: "manual", // no endpoint redirects, and the credentials go nowhere else
        signal: AbortSignal.timeout(this.timeout),
      });
    } catch (error) {
      throw new Unreachable(`no answer from ${this.baseUrl} (${error.name})`, { cause: error });
    }
    if (!response.ok) throw await oauthErrorFrom(response);
    return response;
  }
}

/** The code with which the browser came to the Redirect URL. `state` is what `begin` gave it, null if it began nothing. */
export function readCallback(query, { state }) {
  const given = query instanceof URLSearchParams ? Object.fromEntries(query) : query;
  const repeated = given.state != null && typeof given.state !== "string"; // a list or an object, by what reads queries
  if (repeated || !statesMatch(state, given.state)) {
    throw new StateMismatch("the state is not the one that this browser was sent away with");
  }
  if (given.error !== undefined) throw new OAuthError(String(given.error), String(given.error_description ?? ""));
  if (!given.code || typeof given.code !== "string")
    throw new OAuthError("invalid_request", "The answer holds neither a code nor an error.");
  return given.code;
}

/** In constant time. Nothing expected and nothing received is a match; an empty text never is. */
export function statesMatch(expected, received) {
  if (expected == null || received == null) return expected == null && received == null;
  const [first, second] = [expected, received].map((text) => createHash("sha256").update(text).digest());
  return expected !== "" && timingSafeEqual(first, second);
}

/** The S256 challenge of a verifier (RFC 7636 section 4.2). */
export function codeChallenge(codeVerifier) {
  return createHash("sha256").update(codeVerifier, "ascii").digest("base64url");
}

/** By RFC 6749 section 5.2 where the answer is one; the platform's own errors have `statusCode` as well. */
async function oauthErrorFrom(response) {
  const body = response.status === 429 ? null : await jsonObject(response.clone());
  if (body && body.statusCode === undefined && typeof body.error === "string") {
    const requestId = response.headers.get("X-Request-Id");
    return new OAuthError(body.error, String(body.error_description ?? ""), response.status, requestId);
  }
  return errorFrom(response);
}

function installation(status, record) {
  const names = ["access_token", "installationId", "webhookSecret", "businessId", "scope"];
  const missing = names.filter((name) => typeof record[name] !== "string");
  if (missing.length || String(record.token_type).toLowerCase() !== "bearer") {
    throw new ApiError(status, `the token answer lacks ${missing.join(", ") || "the token type Bearer"}`);
  }
  return {
    accessToken: record.access_token,
    installationId: record.installationId,
    webhookSecret: record.webhookSecret,
    businessId: record.businessId,
    isTestInstall: Boolean(record.isTestInstall),
    scopes: record.scope.split(" ").filter(Boolean),
  };
}
