// The SDK for Node, against the vectors that the SDK for Python has to agree on, and against real HTTP servers.

import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign as signWith } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { test } from "node:test";

import {
  ApiError,
  AppClient,
  HookRouter,
  InvalidSession,
  InvalidSignature,
  listener,
  OAuthClient,
  OAuthError,
  RateLimited,
  readCallback,
  readSessionToken,
  readStorefrontToken,
  sign,
  StateMismatch,
  toMajor,
  toMinor,
  Unreachable,
  verify,
  WebhookRouter,
} from "../../../sdk/node/index.js";

const VECTORS = JSON.parse(readFileSync(new URL("../vectors.json", import.meta.url)));
const SECRET = VECTORS.secret;
const NOW = 1763650000;
const PARSED = "the body was parsed before; mount this route before express.json()";

async function serve(t, answer) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

function answering(asked, answers) {
  return async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    asked.push({ call: `${request.method} ${request.url}`, body, headers: request.headers });
    const [status, answer, headers = {}] = answers.length > 1 ? answers.shift() : answers[0];
    if (!status) return request.socket.destroy(); // the connection is lost
    response.writeHead(status, headers).end(JSON.stringify(answer));
  };
}

function signed(body, { webhookId, deliveryId, secret = SECRET } = {}) {
  const raw = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return [
    {
      "X-Webhook-Timestamp": String(NOW),
      "X-Webhook-Signature": sign({ secret, timestamp: NOW, body: raw }),
      ...(webhookId && { "X-Webhook-Id": webhookId }),
      ...(deliveryId && { "X-Service-Event-Id": deliveryId }),
    },
    raw,
  ];
}

const EVENT = {
  event: "order.created",
  timestamp: "2026-11-20T15:04:05.123Z",
  webhookId: "w",
  businessId: "b",
  data: { orderNumber: "1" },
};

for (const { name, change, refused } of VECTORS.calls) {
  test(`signature: ${name}`, () => {
    const { timestamp, signature, body, secret, now } = { ...VECTORS, now: NOW, ...change };
    const call = {
      secret,
      timestamp: timestamp ?? undefined,
      signature: signature ?? undefined,
      body: Buffer.from(body),
      now,
    };
    if (refused === null) verify(call);
    else
      assert.throws(
        () => verify(call),
        (error) => error instanceof InvalidSignature && error.message === refused,
      );
  });
}

test("money", () => {
  for (const { major, minor, currency } of VECTORS.money) assert.equal(toMinor(major, currency), minor);
  assert.equal(toMajor(1250, "USD"), 12.5);
  assert.equal(toMajor(1250, "JPY"), 1250);
});

test("a delivery is handled once, and again only if the handler failed", async () => {
  const numbers = [];
  let broken = true;
  const router = new WebhookRouter().on("order.created", (event) => {
    if (broken) throw new Error("not today");
    numbers.push(event.data.orderNumber);
  });
  const [headers, body] = signed(EVENT, { webhookId: "w", deliveryId: "d" });
  const handle = () => router.handle(headers, body, SECRET, { now: NOW });
  assert.equal((await handle()).status, 500);
  broken = false;
  assert.deepEqual([(await handle()).repeat, (await handle()).repeat, numbers], [false, true, ["1"]]);
  const other = signed({ ...EVENT, event: "review.created" }, { webhookId: "w", deliveryId: "e" });
  assert.equal((await router.handle(...other, SECRET, { now: NOW })).status, 200);
  assert.throws(() => router.on("order.created", () => {}), /has a handler already/);
});

test("a delivery that is not to be trusted", async () => {
  const router = new WebhookRouter();
  const [headers, body] = signed(EVENT, { webhookId: "w" });
  const refusal = async (secret, changed = {}, raw = body) =>
    (await router.handle({ ...headers, ...changed }, raw, secret, { now: NOW })).status;
  assert.equal(await refusal((id) => (id === "w" ? SECRET : null)), 200);
  assert.equal(await refusal(() => null), 401);
  assert.equal(await refusal("whsec_other"), 401);
  assert.equal(await refusal(SECRET, { "X-Webhook-Id": "other" }), 400);
  for (const text of ["[]", "{", '{"event": 1}', JSON.stringify({ ...EVENT, data: null })]) {
    assert.equal((await router.handle(...signed(text), SECRET, { now: NOW })).status, 400);
  }
});

for (const { headers, event } of VECTORS.ids) {
  test(`ids of an event: ${Object.keys(headers).length} headers`, async () => {
    const [signature, body] = signed(EVENT);
    const found = await new WebhookRouter().handle({ ...signature, ...headers }, body, SECRET, { now: NOW });
    const { deliveryId, id, cursor, requestId, traceparent } = found.event;
    assert.deepEqual({ deliveryId, id, cursor, requestId, traceparent }, event);
  });
}

test("a call that follows carries the trace of what it follows", async (t) => {
  const asked = [];
  const baseUrl = await serve(t, answering(asked, [[200, {}]]));
  const client = new AppClient({ baseUrl, accessToken: "fbat_test_abc" });
  const { traceparent, "X-Request-Id": requestId } = VECTORS.ids[0].headers;
  const hooks = new HookRouter().on("order.validate", async (call) => {
    assert.deepEqual([call.requestId, call.traceparent], [requestId, traceparent]);
    await client.following(call.traceparent).business();
    return { valid: true };
  });
  const [signature, body] = signed({ ...EVENT, hookPoint: "order.validate" });
  const headers = { ...signature, traceparent, "X-Request-Id": requestId };
  assert.equal((await hooks.handle(headers, body, SECRET, { now: NOW })).status, 200);
  await client.following(null).business();
  await client.business();
  assert.deepEqual(
    asked.map((each) => each.headers.traceparent),
    [traceparent, undefined, undefined],
  );
});

test("a body is taken as bytes or as the text that was signed", async () => {
  const router = new WebhookRouter();
  const [headers, raw] = signed({ ...EVENT, data: { note: "Grüße" } });
  const arrayBuffer = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length);
  for (const body of [raw, new Uint8Array(raw), raw.toString(), arrayBuffer]) {
    assert.equal((await router.handle(headers, body, SECRET, { now: NOW })).status, 200);
    verify({ secret: SECRET, timestamp: String(NOW), signature: headers["X-Webhook-Signature"], body, now: NOW });
  }
  for (const each of [router, new HookRouter()]) {
    for (const body of [EVENT, [], undefined, null, 1]) {
      const found = await each.handle(headers, body, SECRET, { now: NOW });
      assert.deepEqual([found.status, found.reason], [500, PARSED]);
    }
  }
  assert.throws(() => sign({ secret: SECRET, timestamp: NOW, body: EVENT }), { message: PARSED });
});

test("headers are taken as lists and pairs, and nonsense is refused", async () => {
  const router = new WebhookRouter();
  const [headers, raw] = signed(EVENT, { webhookId: "w" });
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
  const handle = (given) => router.handle(given, raw, () => SECRET, { now: NOW });
  for (const given of [headers, lists, new Headers(headers), new Map(Object.entries(headers))]) {
    assert.equal((await handle(given)).status, 200);
  }
  const twice = await handle({ ...lists, "x-webhook-signature": Array(2).fill(headers["X-Webhook-Signature"]) });
  assert.deepEqual([twice.status, twice.reason], [401, "X-Webhook-Signature is not sha256= and 64 hexadecimal digits"]);
  for (const given of [
    null,
    undefined,
    {},
    [],
    [["a", 1]],
    { "x-webhook-signature": 1, "x-webhook-timestamp": [NOW] },
  ]) {
    assert.equal((await handle(given)).status, 401);
  }
  assert.throws(
    () => verify({ secret: SECRET, timestamp: NOW, signature: [1, 2], body: raw, now: NOW }),
    InvalidSignature,
  );
});

test("what fails on the app's side is a 500 and never thrown", async () => {
  const [headers, raw] = signed({ ...EVENT, hookPoint: "order.validate" }, { webhookId: "w", deliveryId: "d" });
  const away = () => Promise.reject(new Error("the database is away"));
  for (const [router, secret] of [
    [new WebhookRouter(), away],
    [new WebhookRouter({ seen: { seen: away, mark: away } }), SECRET],
    [new WebhookRouter(), ""],
    [new HookRouter(), away],
  ]) {
    const found = await router.handle(headers, raw, secret, { now: NOW });
    assert.equal(found.status, 500);
    assert.ok(found.error instanceof Error);
  }
});

test("a hook call is answered", async () => {
  const router = new HookRouter()
    .on("checkout.shipping_rates", async (call) => ({ fee: call.data.builtInFee / 2 }))
    .on("order.validate", () => undefined);
  const call = {
    hookPoint: "checkout.shipping_rates",
    businessId: "b",
    timestamp: EVENT.timestamp,
    data: { builtInFee: 500 },
  };
  const answer = async (change, secret = (id) => (id === "b" ? SECRET : null)) => {
    const found = await router.handle(...signed({ ...call, ...change }), secret, { now: NOW });
    return [found.status, JSON.parse(found.body)];
  };
  assert.deepEqual(await answer({}), [200, { fee: 250 }]);
  assert.equal((await answer({ businessId: "stranger" }))[0], 401);
  assert.equal((await answer({ hookPoint: "order.calculate_discounts" }))[0], 404);
  assert.equal((await answer({ hookPoint: "order.validate" }))[0], 500); // it forgot its answer
});

test("the listener hands over the raw body", async (t) => {
  const seen = [];
  const router = new WebhookRouter().on("order.created", (event) => seen.push(event.data));
  const url = await serve(t, listener(router, SECRET));
  const raw = Buffer.from(JSON.stringify(EVENT, null, 3));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const post = (body) =>
    fetch(url, {
      method: "POST",
      body,
      headers: {
        "X-Webhook-Timestamp": timestamp,
        "X-Webhook-Signature": sign({ secret: SECRET, timestamp, body: raw }),
      },
    });
  assert.equal((await post(raw)).status, 200);
  assert.deepEqual(seen, [EVENT.data]);
  assert.equal((await post(Buffer.from(JSON.stringify(EVENT)))).status, 401);
  assert.equal((await post(Buffer.alloc(1024 * 1024 + 1))).status, 413);
});

test("the listener reads what a platform has kept, and lets go of what breaks off", async (t) => {
  const [results, errors] = [[], []];
  const router = new WebhookRouter();
  const answer = listener(router, SECRET, { onResult: (result) => results.push(result.reason ?? result.status) });
  let prepare;
  const url = await serve(t, async (request, response) => {
    await prepare(request);
    await answer(request, response).catch((error) => errors.push(error));
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const raw = JSON.stringify(EVENT);
  const signature = sign({ secret: SECRET, timestamp, body: raw });
  const post = () =>
    fetch(url, {
      method: "POST",
      body: raw,
      headers: { "X-Webhook-Timestamp": timestamp, "X-Webhook-Signature": signature },
    });
  const read = async (request) => {
    let text = "";
    for await (const part of request) text += part;
    return text;
  };
  for (prepare of [
    async (request) => (request.rawBody = Buffer.from(await read(request))), // and the parsed one beside it
    async (request) => Object.assign(request, { rawBody: await read(request), body: EVENT }),
    async (request) => (request.body = await read(request)),
    async (request) => (request.body = {}), // what older parsers leave of a body that isn't theirs
    async (request) => (request.body = JSON.parse(await read(request))),
    async (request) => void (await read(request)),
    async (request) => (request.body = (await read(request), null)),
  ])
    await post();
  assert.deepEqual(results, [200, 200, 200, 200, PARSED, PARSED, PARSED]);

  prepare = () => {};
  const socket = connect(new URL(url).port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1");
  await once(socket, "connect");
  setTimeout(() => socket.destroy(), 50);
  await once(socket, "close");
  await post();
  assert.deepEqual([results.length, errors], [8, []]);
});

test("session tokens", async () => {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const made = (claims, header = { alg: "HS256" }, secret = SECRET) => {
    const text = `${part(header)}.${part(claims)}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  };
  const claims = { aud: "client", exp: NOW + 60, sub: "u", businessId: "b", installationId: "i" };
  const read = (token) =>
    readSessionToken(token, { clientId: "client", secret: (id) => (id === "i" ? SECRET : null), now: NOW });
  assert.deepEqual(await read(made(claims)), {
    userId: "u",
    businessId: "b",
    installationId: "i",
    expiresAt: NOW + 60,
    staffRole: null,
  });
  for (const token of [
    made({ ...claims, exp: NOW - 5 }),
    made({ ...claims, exp: "soon" }),
    made({ ...claims, aud: "other" }),
    made({ ...claims, sub: 1 }),
    made({ ...claims, installationId: "other" }),
    made(claims, { alg: "none" }),
    made(claims, { alg: "HS256" }, "whsec_other"),
    `${part({ alg: "none" })}.${part(claims)}.`,
    "a.b.c",
    "",
    "x",
  ]) {
    await assert.rejects(read(token), InvalidSession, token);
  }
});

test("session tokens of the platform's key", async (t) => {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [known, later, strange] = ["known", "later", "strange"].map((kid) => ({
    kid,
    ...generateKeyPairSync("ed25519"),
  }));
  const state = { asked: 0, status: 200, published: [known] };
  const url = await serve(t, (request, response) => {
    state.asked += 1;
    assert.equal(request.url, "/.well-known/jwks.json");
    const keys = state.published.map(({ kid, publicKey }) => ({ kid, ...publicKey.export({ format: "jwk" }) }));
    response.writeHead(state.status).end(JSON.stringify({ keys: [{ kty: "RSA", kid: "rsa" }, ...keys] }));
  });
  const claims = { aud: "client", exp: NOW + 60, sub: "u", businessId: "b", installationId: "i", iss: url };
  const made = (key, changed = {}, header = { alg: "EdDSA", kid: key.kid }) => {
    const text = `${part(header)}.${part({ ...claims, ...changed })}`;
    return `${text}.${signWith(null, Buffer.from(text), key.privateKey).toString("base64url")}`;
  };
  const bySecret = () => {
    const text = `${part({ alg: "HS256" })}.${part(claims)}`;
    return `${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`;
  };
  const options = { clientId: "client", baseUrl: `${url}/`, now: NOW };
  const read = (token, more) => readSessionToken(token, { ...options, ...more });

  state.status = 503; // that it isn't known whether a token is good is no wrong token
  await assert.rejects(read(made(known)), ApiError);
  await assert.rejects(read(made(known)), Unreachable);
  assert.equal(state.asked, 1);
  state.status = 200;
  await new Promise((done) => setTimeout(done, 1050));
  const together = await Promise.all([1, 2, 3].map(() => read(made(known))));
  assert.deepEqual(
    together.map(({ userId, businessId }) => userId + businessId),
    ["ub", "ub", "ub"],
  );
  assert.equal(state.asked, 2);
  state.published = [later, known];
  for (const token of [made(later), made(strange), made(later)]) {
    await assert.rejects(read(token), InvalidSession); // a rest lies between two requests
  }
  assert.equal(state.asked, 2);

  for (const token of [
    bySecret(),
    made(strange, {}, { alg: "EdDSA", kid: "known" }),
    made(known, {}, { alg: "EdDSA" }),
    made(known, {}, { alg: "none", kid: "known" }),
    made(known, { aud: "other" }),
    made(known, { exp: NOW - 5 }),
    made(known, { iss: "https://platform.example" }),
    made(known, { sub: undefined }),
    `${made(known).slice(0, -4)}`,
  ]) {
    await assert.rejects(read(token), InvalidSession, token);
  }
  assert.equal((await read(bySecret(), { secret: SECRET })).userId, "u");
  assert.equal((await read(made(known), { secret: SECRET })).userId, "u");
  await assert.rejects(readSessionToken(made(known), { clientId: "client", secret: SECRET, now: NOW }), /HS256/);
  await assert.rejects(readSessionToken(made(known), { clientId: "client" }), TypeError);

  const ofBlock = made(known, { aud: "client/storefront", sub: undefined });
  const store = { businessId: "b", installationId: "i", expiresAt: NOW + 60, shopper: null };
  assert.deepEqual(await readStorefrontToken(ofBlock, options), store);
  const shopper = { key: "shp_1", proven: true };
  const ofShopper = made(known, { aud: "client/storefront", sub: undefined, shopper });
  assert.deepEqual(await readStorefrontToken(ofShopper, options), { ...store, shopper });
  await assert.rejects(read(ofBlock), /another kind of page/);
  await assert.rejects(readStorefrontToken(made(known), options), /another kind of page/);
});

test("the client asks as the contract says", async (t) => {
  const asked = [];
  const url = await serve(
    t,
    answering(asked, [[200, { data: [], total: 0, page: 1, limit: 50, methods: [], deliveries: 3 }]]),
  );
  const client = new AppClient({ baseUrl: `${url}/`, accessToken: "fbat_test_abc" });
  await client.product("a/b");
  await client.products({ isAvailable: true, updatedSince: new Date("2026-11-20T00:00:00Z"), search: undefined });
  await client.createOrder({ items: [] }, { idempotencyKey: "k" });
  await client.settlePayment("o", "COMPLETED");
  assert.equal(await client.recover("w", { since: new Date("2026-11-20T00:00:00Z") }), 3);
  assert.deepEqual(
    asked.map(({ call, body }) => [call, body]),
    [
      ["GET /app-api/products/a%2Fb", ""],
      ["GET /app-api/products?isAvailable=true&updatedSince=2026-11-20T00%3A00%3A00.000Z", ""],
      ["POST /app-api/orders", '{"items":[]}'],
      ["PATCH /app-api/orders/o/payment", '{"status":"COMPLETED"}'],
      ["POST /webhooks/w/recover", '{"since":"2026-11-20T00:00:00.000Z"}'],
    ],
  );
  assert.equal(asked[0].headers.authorization, "Bearer fbat_test_abc");
  assert.equal(asked[2].headers["idempotency-key"], "k");
});

test("every page of a list, and of the feed", async (t) => {
  const asked = [];
  const url = await serve(
    t,
    answering(asked, [
      [200, { data: [1, 2], total: 3, page: 1, limit: 2 }],
      [200, { data: [3], total: 3, page: 2, limit: 2 }],
      [200, { data: [{ cursor: "a" }], nextCursor: "2", hasMore: true }],
      [200, { data: [{ cursor: "b" }], nextCursor: "3", hasMore: false }],
      [200, { data: [], nextCursor: "4", hasMore: false }],
    ]),
  );
  const client = new AppClient({ baseUrl: url, accessToken: "fbat_x" });
  const [products, events] = [[], []];
  for await (const product of client.every("products")) products.push(product);
  const feed = client.reconcile("1", { only: ["order.created"] });
  for await (const event of feed) events.push([event, feed.nextCursor]);
  assert.equal(feed.nextCursor, "3");
  assert.deepEqual(
    [products, events],
    [
      [1, 2, 3],
      [
        [{ cursor: "a" }, "1"],
        [{ cursor: "b" }, "2"],
      ],
    ],
  );
  assert.equal(asked[3].call, "GET /app-api/events?after=2&type=order.created&limit=500");
  const empty = client.reconcile();
  for await (const event of empty) assert.fail(event);
  assert.deepEqual([asked[4].call, empty.nextCursor], ["GET /app-api/events?limit=500", "4"]);
});

test("errors of the API", async (t) => {
  const details = [{ field: "limit", message: "no" }];
  const url = await serve(
    t,
    answering(
      [],
      [
        [
          400,
          { statusCode: 400, message: "wrong", error: "Bad Request", details },
          { "X-Request-Id": "r-1", "X-Error-Code": "validation_failed" },
        ],
        [401, { message: "no" }, { "WWW-Authenticate": 'Bearer resource_metadata="https://p.example/.well-known/r"' }],
        [429, { message: "wait" }, { "Retry-After": "17" }],
        [429, { message: "wait" }, { "Retry-After": "0" }],
        [200, { id: "i" }],
        [302, {}, { Location: "http://127.0.0.1:9/" }],
      ],
    ),
  );
  const client = new AppClient({ baseUrl: url, accessToken: "fbat_secret" });
  await assert.rejects(
    client.business(),
    (error) =>
      error instanceof ApiError &&
      error.details[0].field === "limit" &&
      error.requestId === "r-1" &&
      error.code === "validation_failed",
  );
  await assert.rejects(client.business(), { statusCode: 401, resourceMetadata: "https://p.example/.well-known/r" });
  await assert.rejects(client.business(), (error) => error instanceof RateLimited && error.retryAfter === 17);
  const patient = new AppClient({ baseUrl: url, accessToken: "fbat_secret", waitOnRateLimit: true });
  assert.deepEqual(await patient.business(), { id: "i" });
  await assert.rejects(client.business(), (error) => error.statusCode === 302);
  const gone = new AppClient({ baseUrl: "http://127.0.0.1:9", accessToken: "fbat_secret" });
  await assert.rejects(
    gone.business(),
    (error) => error instanceof Unreachable && !error.message.includes("fbat_secret"),
  );
});

test("a lost answer is asked for again under one key", async (t) => {
  const asked = [];
  const answers = [
    [0],
    [409, { message: "runs" }, { "X-Error-Code": "idempotency_key_in_progress" }],
    [200, { id: "w" }],
    [200, { id: "w" }],
    [200, {}],
    [0],
  ];
  const url = await serve(t, answering(asked, answers));
  const client = new AppClient({ baseUrl: url, accessToken: "fbat_x" });
  assert.deepEqual(await client.updateWebhook("w", { isActive: true }), { id: "w" });
  await client.updateWebhook("w", { isActive: true });
  await client.business();
  const keys = asked.map((each) => each.headers["idempotency-key"]);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.notEqual(keys[3], keys[2]);
  assert.equal(keys[4], undefined);
  await assert.rejects(client.deleteWebhook("w"), Unreachable);
  assert.equal(asked.length, 5 + 3);
  await assert.rejects(
    new AppClient({ baseUrl: url, accessToken: "fbat_x", retries: 0 }).deleteWebhook("w"),
    Unreachable,
  );
  assert.equal(asked.length, 5 + 3 + 1);
});

test("installing", async (t) => {
  const asked = [];
  const answers = [];
  const url = await serve(t, answering(asked, answers));
  answers.push(
    [
      200,
      {
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/oauth/token`,
        revocation_endpoint: `${url}/oauth/revoke`,
      },
    ],
    [
      200,
      {
        access_token: "fbat_x",
        token_type: "Bearer",
        scope: "read_orders read_products",
        installationId: "i",
        webhookSecret: "whsec_x",
        businessId: "b",
        isTestInstall: false,
      },
    ],
    [400, { error: "invalid_grant", error_description: "used" }, { "X-Request-Id": "r-1" }],
  );
  const oauth = new OAuthClient({
    baseUrl: url,
    clientId: "id",
    clientSecret: "s:cret",
    redirectUri: "https://app.example.com/cb",
  });
  const begun = await oauth.begin({ scope: ["read_orders"] });
  const query = new URL(begun.url).searchParams;
  assert.equal(query.get("code_challenge_method"), "S256");
  const installed = await oauth.exchange("code", { codeVerifier: begun.codeVerifier });
  assert.deepEqual(installed.scopes, ["read_orders", "read_products"]);
  assert.equal(Buffer.from(asked[1].headers.authorization.slice(6), "base64").toString(), "id:s%3Acret");
  await assert.rejects(
    oauth.exchange("code"),
    (error) => error instanceof OAuthError && error.error === "invalid_grant" && error.requestId === "r-1",
  );
  assert.ok(!JSON.stringify(oauth).includes("cret"));

  assert.equal(readCallback({ code: "c", state: "s" }, { state: "s" }), "c");
  assert.equal(readCallback(new URLSearchParams("code=c"), { state: null }), "c");
  assert.throws(() => readCallback({ code: "c", state: "s" }, { state: null }), StateMismatch);
  assert.throws(() => readCallback({ code: "c", state: "" }, { state: "" }), StateMismatch);
  assert.throws(() => readCallback({ error: "access_denied", state: "s" }, { state: "s" }), OAuthError);
  // A parameter given twice is a list, and one with brackets an object, in Express.
  for (const state of [["s", "s"], ["s"], { s: "s" }]) {
    assert.throws(() => readCallback({ code: "c", state }, { state: "s" }), StateMismatch);
    assert.throws(() => readCallback({ code: "c", state }, { state: undefined }), StateMismatch);
  }
  for (const query of [
    { code: ["c", "d"] },
    { code: { a: "c" } },
    { error: ["a", "b"] },
    { error: "x", error_description: [] },
  ]) {
    assert.throws(() => readCallback(query, { state: undefined }), OAuthError);
  }
});

test("what isn't a token is shown in no error", async (t) => {
  const asked = [];
  const baseUrl = await serve(t, answering(asked, [[200, {}]]));
  await new AppClient({ baseUrl, accessToken: "\ufefffbat_secret\r\n" }).installation();
  assert.equal(asked[0].headers.authorization, "Bearer fbat_secret");
  for (const text of ["“fbat_secret”", "fbat_secret\nA=1"]) {
    const makers = [
      () => new AppClient({ baseUrl, accessToken: text }),
      () => new OAuthClient({ baseUrl, clientId: "id", clientSecret: text, redirectUri: "http://localhost/callback" }),
    ];
    for (const make of makers) {
      assert.throws(make, (error) => error instanceof TypeError && !error.stack.includes("fbat_"));
    }
  }
});
