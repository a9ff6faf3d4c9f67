import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

import type * as types from "./types.js";

export type * as types from "./types.js";

/** As it was sent, before any parser: bytes, or the text that they are in UTF-8. */
type Body = Uint8Array | ArrayBuffer | string;
type RequestHeaders = Headers | IncomingHttpHeaders | Record<string, string | string[] | undefined>;
/** The secret itself, or for an app on several stores a function that finds it; null for an unknown id. */
type Secret = string | ((id: string) => string | null | undefined | Promise<string | null | undefined>);
/** The same for a webhook: by the webhook's id or the business's. */
type SecretOfWebhook =
  | string
  | ((webhookId: string, businessId: string) => string | null | undefined | Promise<string | null | undefined>);

// Signatures

/** The call is not to be trusted; answer it with 401. */
export class InvalidSignature extends Error {}
/** The value of X-Webhook-Signature for a call: for the tests of your own receiver. `timestamp` is in seconds. */
export function sign(call: { secret: string; timestamp: number | string; body: Body }): string;
/** Returns if the call was signed with `secret` in the last `tolerance` seconds (300). Throws InvalidSignature. */
export function verify(call: {
  secret: string;
  timestamp: string | undefined;
  signature: string | undefined;
  body: Body;
  tolerance?: number | undefined;
  now?: number | undefined;
}): void;

// Webhooks

export interface WebhookEvent<Data = Record<string, unknown>> {
  event: string;
  timestamp: Date;
  webhookId: string;
  businessId: string;
  data: Data;
  /** The same in every attempt of one delivery. */
  deliveryId: string | null;
  /** The event's, the same in all its deliveries and in the feed: do the work once for each. */
  id: string | null;
  /** A place in the feed, before this event: reading on from it misses nothing that came later. */
  cursor: string | null;
  /** Of the request that caused the event. Include it when you contact support. */
  requestId: string | null;
  /** For your own calls that follow: `client.following(event.traceparent)`. */
  traceparent: string | null;
}
/** What to answer the platform. The rest is for your own log. */
export interface Result {
  status: number;
  body: string;
  /** In plain words, for every status but 200. */
  reason?: string | undefined;
  /** What the handler threw. */
  error?: unknown;
}
export interface SeenStore {
  seen(key: string): Promise<boolean>;
  /** Called only once the handler has succeeded. */
  mark(key: string): Promise<void>;
}
/** The newest `size` keys (10,000), in the memory of this process. */
export class MemorySeen implements SeenStore {
  constructor(size?: number);
  seen(key: string): Promise<boolean>;
  mark(key: string): Promise<void>;
}
/** One handler per event, behind the signature check; a delivery that was handled is not handled again. */
export class WebhookRouter {
  constructor(options?: { seen?: SeenStore | undefined; tolerance?: number | undefined });
  on<Event extends types.EventName>(
    event: Event,
    handler: (event: WebhookEvent<types.Events[Event]>) => unknown,
  ): this;
  on(
    first: types.EventName,
    second: types.EventName,
    ...rest: [...types.EventName[], (event: WebhookEvent) => unknown]
  ): this;
  /** 200 handled, unknown or repeated; 400 no envelope; 401 not to be trusted; 500 your side failed. `now` is in seconds. */
  handle(
    headers: RequestHeaders,
    body: Body,
    secret: SecretOfWebhook,
    options?: { now?: number | undefined },
  ): Promise<Result & { event?: WebhookEvent | undefined; repeat?: boolean | undefined }>;
}

// Hooks

export interface HookCall<Data = Record<string, unknown>> {
  hookPoint: string;
  businessId: string;
  timestamp: Date;
  /** Money in it is in minor units. */
  data: Data;
  /** Of the request that asks. */
  requestId: string | null;
  /** For your own calls that follow, as in an event. */
  traceparent: string | null;
  /** What your app has put into the cart or the order. */
  attributes: Record<string, string>;
  /** Who orders; null for somebody unknown, where your installation may not read orders, and for `checkout.payment_methods`. */
  shopper: Shopper | null;
}
/** A person, by the key that your installation alone knows them by; orders have it as `customer.key`. */
export interface Shopper {
  key: string;
  /**
   * Whether this browser has shown that e-mails to this person reach it. If not, let the person earn, but never show or spend what they
   * have: anybody can type anybody's address.
   */
  proven: boolean;
}
/** One handler per hook point, behind the signature check. A shopper waits for the answer. */
export class HookRouter {
  constructor(options?: { tolerance?: number | undefined });
  on<Point extends types.HookPoint>(
    hookPoint: Point,
    handler: (
      call: HookCall<types.Hooks[Point]["data"]>,
    ) => types.Hooks[Point]["answer"] | Promise<types.Hooks[Point]["answer"]>,
  ): this;
  /** 200 answered; 400 no envelope; 401 not to be trusted; 404 no handler; 500 your side failed. */
  handle(
    headers: RequestHeaders,
    body: Body,
    secret: Secret,
    options?: { now?: number | undefined },
  ): Promise<Result & { call?: HookCall | undefined }>;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
/** A listener for `http.createServer`, or a route of Express before any parser. Without `onResult`, a 500 is logged. */
export function listener(
  router: WebhookRouter,
  secret: SecretOfWebhook,
  options?: { onResult?: ((result: Awaited<ReturnType<WebhookRouter["handle"]>>) => void) | undefined },
): Listener;
export function listener(
  router: HookRouter,
  secret: Secret,
  options?: { onResult?: ((result: Awaited<ReturnType<HookRouter["handle"]>>) => void) | undefined },
): Listener;

// Admin pages, blocks and widgets

/** The session token is not to be trusted; answer with 401. */
export class InvalidSession extends Error {}
export interface Session {
  userId: string;
  businessId: string;
  installationId: string;
  /** Unix seconds. */
  expiresAt: number;
  /** What the person may do in the store; null on a sandbox. */
  staffRole: "OWNER" | "MANAGER" | null;
}
export interface StorefrontSession {
  businessId: string;
  installationId: string;
  /** Unix seconds. */
  expiresAt: number;
  /** Who looks, where this browser has proven it and your installation may read orders; else null. */
  shopper: Shopper | null;
}
/** How tokens may be signed. Give both while you change from one to the other. */
type Signers =
  /** With the installation's webhook secret (HS256). */
  | { secret: Secret; baseUrl?: string | undefined }
  /** With the platform's key (EdDSA), which is fetched from its address and kept. */
  | { secret?: Secret | undefined; baseUrl: string };
type TokenOptions = Signers & { clientId: string; now?: number | undefined };
/**
 * Who looks at an admin page. A token lives for a minute. Throws InvalidSession; Unreachable or ApiError where the platform's keys are
 * needed and can't be fetched.
 */
export function readSessionToken(token: string, options: TokenOptions): Promise<Session>;
/** Which store a block or widget is in, as `readSessionToken` says it of admin pages. Neither takes the other's token. */
export function readStorefrontToken(token: string, options: TokenOptions): Promise<StorefrontSession>;

// Installing

export interface Installation {
  accessToken: string;
  installationId: string;
  webhookSecret: string;
  businessId: string;
  isTestInstall: boolean;
  scopes: string[];
}
export class OAuthClient {
  constructor(options: {
    baseUrl: string;
    clientId: string;
    clientSecret: string;
    redirectUri: string;
    /** Milliseconds; 10,000. */
    timeout?: number | undefined;
  });
  /** The consent page's address. Keep `state` and `codeVerifier` with the browser's session. */
  begin(options?: {
    scope?: types.Scope[] | undefined;
    businessId?: string | undefined;
  }): Promise<{ url: string; state: string; codeVerifier: string }>;
  /** Once for each code: a second use ends the token that the first gave. */
  exchange(code: string, options?: { codeVerifier?: string | undefined }): Promise<Installation>;
  /** Uninstalls the app from the store of the token. */
  revoke(accessToken: string): Promise<void>;
}
/** The code with which the browser came to the Redirect URL. `state` is null only for a query without `state`. */
export function readCallback(
  query: URLSearchParams | { readonly [name: string]: unknown },
  options: { state: string | null | undefined },
): string;
export function statesMatch(expected: string | null | undefined, received: string | null | undefined): boolean;
export function codeChallenge(codeVerifier: string): string;

// The app API

/** Events, and the place behind those that you have handled, which is there without any event, too. */
export interface Reconciled extends AsyncGenerator<types.FeedEvent, void> {
  readonly nextCursor: string | null;
}

export interface Page<Item> {
  data: Item[];
  total: number;
  page: number;
  limit: number;
}
interface Paging {
  page?: number | undefined;
  limit?: number | undefined;
}
interface ProductFilters {
  category?: string | undefined;
  isAvailable?: boolean | undefined;
  search?: string | undefined;
  updatedSince?: Date | undefined;
}
interface OrderFilters {
  status?: types.OrderStatus | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  updatedSince?: Date | undefined;
}
interface Lists {
  products: { filters: ProductFilters; item: types.Product };
  orders: { filters: OrderFilters; item: types.Order };
  reviews: { filters: { productId?: string | undefined }; item: types.Review };
  pages: { filters: object; item: types.Page };
  webhooks: { filters: object; item: types.Webhook };
}

/** The app API and the webhook endpoints, for one installation. Throws ApiError, RateLimited or Unreachable. */
export class AppClient {
  constructor(options: {
    baseUrl: string;
    accessToken: string;
    /** Milliseconds; 10,000. */
    timeout?: number | undefined;
    /** Wait once, as long as the platform asks, after a 429. */
    waitOnRateLimit?: boolean | undefined;
    /** How often a call whose connection is lost is retried; 2. It is carried out once. */
    retries?: number | undefined;
  });
  /** A client whose calls are in the thread of an event or a hook call. With null it is this client's equal. */
  following(traceparent: string | null): AppClient;
  installation(): Promise<types.Installation>;
  business(): Promise<types.Business>;
  products(query?: ProductFilters & Paging): Promise<Page<types.Product>>;
  product(id: string): Promise<types.Product>;
  productBySlug(slug: string): Promise<types.Product>;
  orders(query?: OrderFilters & Paging): Promise<Page<types.Order>>;
  order(id: string): Promise<types.Order>;
  createOrder(order: types.OrderBody, options?: { idempotencyKey?: string | undefined }): Promise<types.Order>;
  setOrderStatus(id: string, status: types.OrderStatus): Promise<types.Order>;
  paymentMethods(): Promise<types.PaymentMethod[]>;
  settlePayment(id: string, status: "COMPLETED" | "FAILED", options?: { reference?: string | undefined }): Promise<types.Order>;
  changeAttributes(id: string, attributes: Record<string, string | null>): Promise<types.Order>;
  reviews(query?: { productId?: string | undefined } & Paging): Promise<Page<types.Review>>;
  reviewStats(): Promise<types.ReviewStats>;
  dashboard(query?: { days?: number | undefined }): Promise<types.Dashboard>;
  pages(query?: Paging): Promise<Page<types.Page>>;
  pageBySlug(slug: string): Promise<types.Page>;
  events(query?: { after?: string | undefined; type?: string | undefined; limit?: number | undefined }): Promise<types.Feed>;
  /** Every event behind a cursor, oldest first. Start from the `cursor` of the last delivery that you handled. */
  reconcile(cursor?: string | null, options?: { only?: types.SentEvent[] | undefined }): Reconciled;
  createExport(resource: "products" | "orders"): Promise<types.RequestedExport>;
  export(id: string): Promise<types.Export>;
  /** Keep the `secret`: no other answer holds it. */
  createWebhook(webhook: types.WebhookBody): Promise<types.CreatedWebhook>;
  webhooks(query?: Paging): Promise<Page<types.Webhook>>;
  webhook(id: string): Promise<types.Webhook>;
  updateWebhook(id: string, changes: types.WebhookChanges): Promise<types.Webhook>;
  deleteWebhook(id: string): Promise<void>;
  testWebhook(id: string): Promise<types.WebhookTestResult>;
  deliveries(id: string, query?: { status?: types.DeliveryStatus | undefined } & Paging): Promise<Page<types.Delivery>>;
  delivery(id: string, deliveryId: string): Promise<types.DeliveryWithAttempts>;
  redeliver(id: string, deliveryId: string): Promise<types.Delivery>;
  /** Resend what was given up or held in a period; resolves to how many. */
  recover(id: string, period: { since: Date; until?: Date | undefined }): Promise<number>;
  /** Every record of a list, page after page. */
  every<List extends keyof Lists>(
    list: List,
    query?: Lists[List]["filters"],
  ): AsyncGenerator<Lists[List]["item"], void>;
}

// Errors

export class PlatformError extends Error {}
/** No answer came. Whether the call had an effect is unknown. */
export class Unreachable extends PlatformError {}
export class ApiError extends PlatformError {
  readonly statusCode: number;
  readonly reason: string;
  readonly error: string;
  readonly details: { field: string; message: string }[];
  /** Include it when you contact support. */
  readonly requestId: string | null;
  /** The stable name that /docs/errors/ explains; null if something in between answered. */
  readonly code: string | null;
  /** Of a 401 of the app API: the document that names its authorization server (RFC 9728). */
  readonly resourceMetadata: string | null;
}
export class RateLimited extends ApiError {
  /** Seconds. */
  readonly retryAfter: number | null;
}
export class OAuthError extends PlatformError {
  readonly error: string;
  readonly description: string;
  readonly statusCode: number | null;
  readonly requestId: string | null;
}
/** The browser brought the answer to a request that it didn't make. */
export class StateMismatch extends PlatformError {}

// Money

/** 12.5 USD is 1250. */
export function toMinor(amount: number, currency: string): number;
/** 1250 USD is 12.5. */
export function toMajor(minor: number, currency: string): number;
