/**
 * Types of what an app sends and receives. Made by `python -m tools.sdk_types` from the OpenAPI document; don't edit.
 *
 * `Order`, `Product` and the like are records of the app API; `OrderCreated` is the `data` of the event `order.created`;
 * `OrderValidateData` and `OrderValidateAnswer` belong to the hook `order.validate`.
 */

export type EventName =
  | "business.data_erasure"
  | "customer.data_erasure"
  | "installation.updated"
  | "order.cancelled"
  | "order.created"
  | "order.delivered"
  | "order.refunded"
  | "order.status_changed"
  | "payment.completed"
  | "payment.expired"
  | "product.back_in_stock"
  | "product.created"
  | "product.deleted"
  | "product.low_stock"
  | "product.out_of_stock"
  | "product.updated"
  | "review.created"
  | "review.deleted"
  | "webhook.test";

export type HookPoint =
  | "checkout.payment_methods"
  | "checkout.create_payment"
  | "checkout.shipping_rates"
  | "order.validate"
  | "order.calculate_discounts";

export type OrderStatus =
  | "PENDING"
  | "CONFIRMED"
  | "PREPARING"
  | "READY"
  | "IN_DELIVERY"
  | "DELIVERED"
  | "CANCELLED";

export type SentEvent =
  | "order.created"
  | "order.status_changed"
  | "order.delivered"
  | "order.cancelled"
  | "order.refunded"
  | "payment.completed"
  | "payment.expired"
  | "product.created"
  | "product.updated"
  | "product.deleted"
  | "product.out_of_stock"
  | "product.low_stock"
  | "product.back_in_stock"
  | "review.created"
  | "review.deleted"
  | "installation.updated"
  | "business.data_erasure"
  | "customer.data_erasure";

export type Scope =
  | "read_products"
  | "read_orders"
  | "write_orders"
  | "read_reviews"
  | "read_analytics"
  | "read_business"
  | "read_pages";

export type FilterConditionOp =
  | "eq"
  | "ne"
  | "gt"
  | "gte"
  | "lt"
  | "lte"
  | "in"
  | "contains"
  | "exists";

export type DeliveryStatus =
  | "PENDING"
  | "RETRYING"
  | "SUCCEEDED"
  | "EXHAUSTED"
  | "HELD"
  | "CANCELLED";

export type AttemptErrorClass =
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "timeout_connect"
  | "timeout_response"
  | "blocked_address"
  | "redirect"
  | "protocol"
  | "http_4xx"
  | "http_5xx";

export interface Product {
  id: string;
  name: string;
  description: string;
  price: number;
  category: string;
  isAvailable: boolean;
  imageUrl: string;
  slug: string;
  status: "ACTIVE" | "ARCHIVED";
  stock: number | null;
  createdAt: string;
  updatedAt: string;
  externalId?: string;
  groupId?: string | null;
}

export interface ProductList {
  data: Product[];
  total: number;
  page: number;
  limit: number;
}

export interface OrderLine {
  productId: string | null;
  name: string;
  quantity: number;
  price: number;
}

export interface Payment {
  status: "PENDING" | "COMPLETED" | "FAILED" | "EXPIRED";
  paymentUrl: string | null;
  qrCode: string | null;
  invoiceId: string | null;
  expiresAt: string | null;
}

export interface Customer {
  name: string | null;
  email: string | null;
  phone: string | null;
  key: string | null;
}

export interface Order {
  id: string;
  orderNumber: string;
  status: OrderStatus;
  items: OrderLine[];
  subtotal: number;
  discount: number;
  deliveryFee: number;
  amount: number;
  refunded: number;
  currency: string;
  deliveryMethod: "DELIVERY" | "PICKUP";
  address: string | null;
  paymentMethod: string;
  payment: Payment | null;
  customer: Customer;
  note: string | null;
  isGuest: boolean;
  validation: "VALID" | "NOT_VALIDATED";
  createdAt: string;
  updatedAt: string;
  attributes: Record<string, string>;
  externalId?: string;
  otherCharges?: number;
}

export interface OrderList {
  data: Order[];
  total: number;
  page: number;
  limit: number;
}

export interface ItemBody {
  productId: string;
  quantity: number;
}

export interface CustomerBody {
  name: string;
  email?: string | null;
  phone?: string | null;
}

export interface OrderBody {
  items: ItemBody[];
  customer: CustomerBody;
  deliveryMethod: "DELIVERY" | "PICKUP";
  address?: string | null;
  paymentMethod: string;
  promoDiscount?: number | null;
  note?: string | null;
  attributes?: Record<string, string | null>;
}

export interface StatusBody {
  status: OrderStatus;
}

export interface PaymentBody {
  status: "COMPLETED" | "FAILED";
  reference?: string | null;
}

export interface AttributesBody {
  attributes: Record<string, string | null>;
}

export interface PaymentMethod {
  id: string;
  name: string;
  description: string | null;
  icon: string | null;
}

export interface PaymentMethods {
  methods: PaymentMethod[];
}

export interface Review {
  id: string;
  productId: string;
  rating: number;
  comment: string | null;
  authorName: string | null;
  createdAt: string;
  externalId?: string;
}

export interface ReviewList {
  data: Review[];
  total: number;
  page: number;
  limit: number;
}

export interface ReviewStats {
  total: number;
  averageRating: number | null;
  distribution: Record<string, number>;
}

export interface TopProduct {
  productId: string;
  name: string;
  quantity: number;
  revenue: number;
}

export interface SalesDay {
  date: string;
  orders: number;
  revenue: number;
}

export interface Dashboard {
  currency: string;
  days: number;
  totalOrders: number;
  totalRevenue: number;
  averageOrderValue: number | null;
  ordersByStatus: Record<string, number>;
  topProducts: TopProduct[];
  daily: SalesDay[];
}

export interface Business {
  id: string;
  slug: string;
  storefrontUrl: string | null;
  name: string;
  type: string;
  address: string;
  currency: string;
  locale: string;
  timezone: string;
  isSandbox: boolean;
  createdAt: string;
  externalId?: string;
  isConnected?: boolean;
}

export interface Page {
  id: string;
  slug: string;
  title: string;
  content: string;
  createdAt: string;
  updatedAt: string;
  externalId?: string;
}

export interface PageList {
  data: Page[];
  total: number;
  page: number;
  limit: number;
}

export interface FeedEvent {
  id: string;
  event: SentEvent;
  timestamp: string;
  data: Record<string, unknown>;
  cursor: string;
}

export interface Feed {
  data: FeedEvent[];
  nextCursor: string;
  hasMore: boolean;
}

export interface ExportBody {
  resource: "products" | "orders";
}

export interface RequestedExport {
  id: string;
  status: "PENDING" | "READY" | "FAILED";
}

export interface Export {
  id: string;
  resource: "products" | "orders";
  status: "PENDING" | "READY" | "FAILED";
  rows: number | null;
  url: string | null;
  feedCursor: string | null;
  expiresAt: string | null;
}

export interface Installation {
  installationId: string;
  businessId: string;
  isTestInstall: boolean;
  needsReConsent: boolean;
  scopes: Scope[];
  settings: Record<string, unknown>;
  installedAt: string;
}

export interface FilterCondition {
  field: string;
  op: FilterConditionOp;
  value?: string | number | boolean | Array<string | number | boolean>;
}

export interface WebhookFilter {
  all?: FilterCondition[];
  any?: FilterCondition[];
  changed?: string[];
}

export interface Webhook {
  id: string;
  url: string;
  events: SentEvent[];
  filter: WebhookFilter | null;
  description: string | null;
  isActive: boolean;
  isAppDefined: boolean;
  eventsWithoutScope: SentEvent[];
  disabledReason: string | null;
  disabledAt: string | null;
  createdAt: string;
}

export interface WebhookList {
  data: Webhook[];
  total: number;
  page: number;
  limit: number;
}

export interface WebhookBody {
  url: string;
  events: SentEvent[];
  filter?: WebhookFilter | null;
  description?: string | null;
}

export interface CreatedWebhook {
  id: string;
  url: string;
  events: SentEvent[];
  filter: WebhookFilter | null;
  description: string | null;
  isActive: boolean;
  isAppDefined: boolean;
  eventsWithoutScope: SentEvent[];
  disabledReason: string | null;
  disabledAt: string | null;
  createdAt: string;
  secret: string;
}

export interface WebhookChanges {
  url?: string;
  events?: SentEvent[];
  filter?: WebhookFilter | null;
  description?: string | null;
  isActive?: boolean;
}

export interface Delivery {
  id: string;
  eventId: string;
  event: EventName;
  webhookId: string;
  installationId: string;
  status: DeliveryStatus;
  createdAt: string;
  nextAttemptAt: string | null;
  attemptCount: number;
}

export interface DeliveryList {
  data: Delivery[];
  total: number;
  page: number;
  limit: number;
}

export interface Attempt {
  number: number;
  attemptedAt: string;
  httpStatus: number | null;
  durationMs: number;
  errorClass: AttemptErrorClass | null;
  responseExcerpt: string | null;
}

export interface DeliveryWithAttempts {
  id: string;
  eventId: string;
  event: EventName;
  webhookId: string;
  installationId: string;
  status: DeliveryStatus;
  createdAt: string;
  nextAttemptAt: string | null;
  payload: string | null;
  attempts: Attempt[];
}

export interface RecoverBody {
  since: string;
  until?: string | null;
}

export interface DeliveryCount {
  deliveries: number;
}

export interface WebhookTestResult {
  success: boolean;
  httpStatus: number | null;
  durationMs: number;
  error: AttemptErrorClass | null;
  eventId: string;
}

export interface BusinessDataErasure {
  appId: string;
  businessId: string;
  uninstalledAt: string;
}

export interface CustomerDataErasureCustomer {
  email: string | null;
  phone: string | null;
}

export interface CustomerDataErasure {
  appId: string;
  businessId: string;
  customer: CustomerDataErasureCustomer | null;
  orderIds: string[];
  reviewIds: string[];
  requestedAt: string;
}

export interface InstallationUpdatedSwitches {
  hooks: Record<string, boolean>;
  embeds: Record<string, boolean>;
}

export interface InstallationUpdated {
  installationId: string;
  changed: Array<"settings" | "scopes" | "switches" | "paused">;
  settings: Record<string, unknown>;
  scopes: Scope[];
  switches: InstallationUpdatedSwitches;
  maxDiscountPercent: number;
  paused: boolean;
}

export interface OrderCancelled {
  orderId: string;
  orderNumber: string;
  previousStatus: OrderStatus;
  status: OrderStatus;
  changedAt: string;
  changedFields: string[];
  externalId?: string;
}

export interface OrderCreated {
  orderId: string;
  orderNumber: string;
  amount: number;
  deliveryFee: number;
  deliveryMethod: "DELIVERY" | "PICKUP";
  paymentMethod: string;
  isGuest: boolean;
  createdAt: string;
  externalId?: string;
}

export interface OrderDelivered {
  orderId: string;
  orderNumber: string;
  previousStatus: OrderStatus;
  status: OrderStatus;
  changedAt: string;
  changedFields: string[];
  externalId?: string;
}

export interface OrderRefunded {
  orderId: string;
  orderNumber: string;
  amount: number;
  refunded: number;
  currency: string;
  reason: string | null;
  refundedAt: string;
  externalId?: string;
}

export interface OrderStatusChanged {
  orderId: string;
  orderNumber: string;
  previousStatus: OrderStatus;
  status: OrderStatus;
  changedAt: string;
  changedFields: string[];
  externalId?: string;
}

export interface PaymentCompleted {
  orderId: string;
  orderNumber: string;
  invoiceId: string | null;
  amount: number;
  paymentMethod: string;
  status: "PENDING" | "COMPLETED" | "FAILED" | "EXPIRED";
  occurredAt: string;
  externalId?: string;
}

export interface PaymentExpired {
  orderId: string;
  orderNumber: string;
  invoiceId: string | null;
  amount: number;
  paymentMethod: string;
  status: "PENDING" | "COMPLETED" | "FAILED" | "EXPIRED";
  occurredAt: string;
  externalId?: string;
}

export interface ProductBackInStock {
  productId: string;
  name: string;
  stock: number | null;
  threshold: number | null;
  externalId?: string;
}

export interface ProductCreated {
  id: string;
  name: string;
  description: string;
  price: number;
  category: string;
  isAvailable: boolean;
  imageUrl: string;
  slug: string;
  status: "ACTIVE" | "ARCHIVED";
  stock: number | null;
  createdAt: string;
  updatedAt: string;
  externalId?: string;
  groupId?: string | null;
}

export interface ProductDeleted {
  id: string;
  slug: string;
  deletedAt: string;
  externalId?: string;
}

export interface ProductLowStock {
  productId: string;
  name: string;
  stock: number;
  threshold: number | null;
  externalId?: string;
}

export interface ProductOutOfStock {
  productId: string;
  name: string;
  stock: number;
  threshold: number | null;
  externalId?: string;
}

export interface ProductUpdated {
  id: string;
  name: string;
  description: string;
  price: number;
  category: string;
  isAvailable: boolean;
  imageUrl: string;
  slug: string;
  status: "ACTIVE" | "ARCHIVED";
  stock: number | null;
  createdAt: string;
  updatedAt: string;
  externalId?: string;
  groupId?: string | null;
  changedFields: string[];
}

export interface ReviewCreated {
  id: string;
  productId: string;
  rating: number;
  comment: string | null;
  authorName: string | null;
  createdAt: string;
  externalId?: string;
}

export interface ReviewDeleted {
  id: string;
  productId: string;
  deletedAt: string;
  externalId?: string;
}

export interface WebhookTest {
  message: string;
  webhookId: string;
}

export interface CheckoutPaymentMethodsData {
  businessId: string;
}

export interface CheckoutPaymentMethodsAnswerMethod {
  id: string;
  name: string;
  description?: string | null;
  icon?: string | null;
}

export interface CheckoutPaymentMethodsAnswer {
  methods: CheckoutPaymentMethodsAnswerMethod[];
}

export interface CheckoutCreatePaymentData {
  orderId: string;
  amount: string;
  currency: string;
  paymentMethodId: string;
  businessId: string;
  description: string;
}

export interface CheckoutCreatePaymentAnswer {
  paymentUrl?: string | null;
  qrCode?: string | null;
  invoiceId?: string | null;
  expiresAt?: string | null;
}

export interface CheckoutShippingRatesData {
  deliveryMethod: "DELIVERY" | "PICKUP";
  locality?: string;
  subtotal: number;
  builtInFee: number;
}

export interface CheckoutShippingRatesAnswer {
  fee: number;
}

export interface OrderValidateDataItem {
  productId: string;
  quantity: number;
}

export interface OrderValidateData {
  items: OrderValidateDataItem[];
  subtotal: number;
  deliveryMethod: "DELIVERY" | "PICKUP";
}

export interface OrderValidateAnswer {
  valid: boolean;
  reason?: string | null;
}

export interface OrderCalculateDiscountsDataItem {
  productId: string;
  quantity: number;
}

export interface OrderCalculateDiscountsData {
  items: OrderCalculateDiscountsDataItem[];
  subtotal: number;
  promoDiscount: number;
  deliveryFee: number;
}

export interface OrderCalculateDiscountsAnswer {
  discount: number;
  reason?: string | null;
}

/** The data of each event. */
export interface Events {
  "business.data_erasure": BusinessDataErasure;
  "customer.data_erasure": CustomerDataErasure;
  "installation.updated": InstallationUpdated;
  "order.cancelled": OrderCancelled;
  "order.created": OrderCreated;
  "order.delivered": OrderDelivered;
  "order.refunded": OrderRefunded;
  "order.status_changed": OrderStatusChanged;
  "payment.completed": PaymentCompleted;
  "payment.expired": PaymentExpired;
  "product.back_in_stock": ProductBackInStock;
  "product.created": ProductCreated;
  "product.deleted": ProductDeleted;
  "product.low_stock": ProductLowStock;
  "product.out_of_stock": ProductOutOfStock;
  "product.updated": ProductUpdated;
  "review.created": ReviewCreated;
  "review.deleted": ReviewDeleted;
  "webhook.test": WebhookTest;
}

/** What each hook asks and expects. */
export interface Hooks {
  "checkout.payment_methods": { data: CheckoutPaymentMethodsData; answer: CheckoutPaymentMethodsAnswer };
  "checkout.create_payment": { data: CheckoutCreatePaymentData; answer: CheckoutCreatePaymentAnswer };
  "checkout.shipping_rates": { data: CheckoutShippingRatesData; answer: CheckoutShippingRatesAnswer };
  "order.validate": { data: OrderValidateData; answer: OrderValidateAnswer };
  "order.calculate_discounts": { data: OrderCalculateDiscountsData; answer: OrderCalculateDiscountsAnswer };
}
