// The few lines between a router and node's HTTP server. Express takes the same function as a route.

import { rawBytes } from "./envelope.js";

const LARGEST = 1024 * 1024;

/** `(request, response) => …` for `http.createServer` or `app.post(path, …)`, before any parser of bodies. */
export function listener(router, secret, { onResult = complain } = {}) {
  return async (request, response) => {
    let body;
    try {
      body = await read(request);
    } catch {
      return; // it broke off, and the caller is gone
    }
    const result =
      body === null
        ? { status: 413, body: '{"message": "the body is too large"}', reason: "the body is too large" }
        : await router.handle(request.headers, body, secret);
    response.writeHead(result.status, { "Content-Type": "application/json" });
    response.end(result.body);
    onResult(result);
  };
}

/** An error that the author has to mend belongs in the app's own log. */
function complain({ status, reason, error }) {
  if (status === 500) console.error(reason, ...(error ? [error] : []));
}

/** The raw bytes or the text, which the signature is of; null if they are too many; else what a parser made of them. */
async function read(request) {
  const kept = [request.rawBody, request.body].find(rawBytes);
  if (kept !== undefined) return kept;
  if (request.readableDidRead) return request.body ?? undefined;
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= LARGEST) parts.push(part);
  }
  return size <= LARGEST ? Buffer.concat(parts) : null;
}
