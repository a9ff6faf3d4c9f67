// What apps ask of the shop. A command is carried out in one transaction with a note of its id.

const { buffer } = require("node:stream/consumers");
const { isSigned, parsed } = require("./platform");

const MOST_BYTES = 1_048_576; // of a command

/** Thrown by a handler to say no: the app gets the message, of up to 300 characters. `status` is 404, 409 or 422. */
class Refused extends Error {
  constructor(message, status = 409) {
    super(message.slice(0, 300));
    this.status = status;
  }
}

/**
 * Claim it, carry it out, and return the status and the answer. Of two at once the second waits for the first, and repeats its answer.
 * `handlers` has a function of `(ctx, data)` for each command, which returns the order's id; `row` returns an order's row.
 */
async function answer({ outbox, handlers, row }, ctx, { command, commandId, data }) {
  const notes = outbox(ctx);
  const name = `command:${commandId}`;
  if (await notes.claim(name)) {
    await notes.query("SAVEPOINT command"); // of a refusal nothing stays but its note
    try {
      if (!handlers[command]) throw new Refused("This shop does not do that.", 422);
      await notes.note(name, { orderId: await handlers[command](ctx, data) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await notes.query("ROLLBACK TO command");
      await notes.note(name, { status: error.status, message: error.message });
    }
  }
  const { orderId, status, message } = await notes.noted(name);
  if (message) return [status, { message }];
  const version = await notes.nextVersion("orders", orderId);
  return [200, { order: { id: orderId, version, ...(await row(ctx, orderId)) } }];
}

/**
 * A handler for Express at the `commands` URL of the connection. It needs the body as it came: put it in front of parsers. `transaction`
 * runs a function with a `ctx` of its own transaction, which `outbox`, `handlers` and `row` then get.
 */
function commands({ secret, store, log, transaction, ...shop }) {
  return async (request, response) => {
    const respond = ([status, json]) => response.status(status).json(json);
    try {
      const length = Number(request.headers["content-length"] ?? Infinity); // before the signature is checked
      if (length > MOST_BYTES) return respond([413, { message: "The body is too long." }]);
      const body = await buffer(request);
      if (!isSigned(secret, request.headers, body)) return respond([401, { message: "Not signed by the platform." }]);
      const command = parsed(body);
      if (command?.store !== store) return respond([404, { message: "There is no such store." }]);
      respond(await transaction((ctx) => answer(shop, ctx, command)));
    } catch (error) {
      log(error.stack);
      respond([500, {}]); // the app gets a 503, and may try again
    }
  };
}

module.exports = { commands, Refused };
