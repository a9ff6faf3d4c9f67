// From the HTTP request of a hook call to its handler. The platform waits for the answer and uses it at once.

import { isObject, readEnvelope, readShopper, tracing } from "./envelope.js";
import { refuse, Router } from "./router.js";
import { InvalidSignature } from "./signatures.js";

/** One handler per hook point, behind the signature check. A handler returns the answer's object. */
export class HookRouter extends Router {
  /** `handle` of one call. `secret` may be a function of the body's businessId. */
  async receive(values, body, secret, now) {
    const refused = await this.refusal(values, body, () => findSecret(secret, body), now);
    if (refused) return refuse(401, refused);
    let call;
    try {
      call = { ...read(body), ...tracing(values) };
    } catch (error) {
      return refuse(400, error.message);
    }
    const handler = this.handlerOf(call.hookPoint);
    if (!handler) return refuse(404, `there is no handler for ${call.hookPoint}`, { call });
    try {
      const answer = await handler(call);
      if (!isObject(answer)) throw new TypeError("the handler returned no object");
      return { status: 200, body: JSON.stringify(answer), call };
    } catch (error) {
      return refuse(500, "the handler failed", { call, error });
    }
  }
}

function read(body) {
  const call = readEnvelope(body, "hookPoint", "businessId");
  const { attributes, shopper } = JSON.parse(new TextDecoder().decode(body));
  return { ...call, attributes: isObject(attributes) ? attributes : {}, shopper: readShopper(shopper) };
}

// The body names the business before anything is verified: that only chooses the key to verify with.
async function findSecret(secret, body) {
  if (typeof secret === "string") return secret;
  let businessId;
  try {
    ({ businessId } = read(body));
  } catch (error) {
    throw new InvalidSignature(`no business can be read: ${error.message}`);
  }
  const found = await secret(businessId);
  if (!found) throw new InvalidSignature("businessId names no business known here");
  return found;
}
