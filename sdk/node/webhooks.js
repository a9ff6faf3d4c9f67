// From the HTTP request of a delivery to the handler of its event.

import { readEnvelope, tracing } from "./envelope.js";
import { refuse, Router } from "./router.js";
import { MemorySeen } from "./seen.js";
import { InvalidSignature } from "./signatures.js";

/** One handler per event, behind the signature check; a delivery that was handled is not handled again. */
export class WebhookRouter extends Router {
  constructor({ seen = new MemorySeen(), ...options } = {}) {
    super(options);
    this.seen = seen;
  }

  /** `handle` of one delivery. `secret` may be a function of both ids in the headers. */
  async receive(values, body, secret, now) {
    const webhookId = values["x-webhook-id"];
    const businessId = values["x-webhook-business-id"] ?? "";
    const refused = await this.refusal(values, body, () => findSecret(secret, webhookId, businessId), now);
    if (refused) return refuse(401, refused);
    let event;
    try {
      event = readEnvelope(body, "event", "webhookId", "businessId");
    } catch (error) {
      return refuse(400, error.message);
    }
    if (webhookId !== undefined && webhookId !== event.webhookId) {
      return refuse(400, "X-Webhook-Id is not the body's webhookId");
    }
    return this.#dispatch({
      ...event,
      deliveryId: values["x-service-event-id"] ?? null,
      id: values["x-webhook-event-uid"] ?? null,
      cursor: values["x-feed-cursor"] ?? null,
      ...tracing(values),
    });
  }

  async #dispatch(event) {
    // The header is not under the signature, the webhook id is: together they can't name another's delivery.
    const key = event.deliveryId ? `${event.webhookId}/${event.deliveryId}` : null;
    if (key && (await this.seen.seen(key))) return accept(event, true);
    const handler = this.handlerOf(event.event);
    try {
      await handler?.(event);
    } catch (error) {
      return refuse(500, "the handler failed", { event, error });
    }
    if (key) await this.seen.mark(key);
    return accept(event, false);
  }
}

// The headers only choose the key: the signature is checked with that.
async function findSecret(secret, webhookId, businessId) {
  if (typeof secret === "string") return secret;
  if (!webhookId) throw new InvalidSignature("X-Webhook-Id is missing");
  const found = await secret(webhookId, businessId);
  if (!found) throw new InvalidSignature("X-Webhook-Id names no webhook known here");
  return found;
}

function accept(event, repeat) {
  return { status: 200, body: '{"received": true}', event, repeat };
}
