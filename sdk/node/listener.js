// The few lines between a router and node's HTTP server. Express takes the same function as a route.

const LARGEST = 1024 * 1024;

/** `(request, response) => …` for `http.createServer` or `app.post(path, …)`, before any parser of bodies. */
export function listener(router, secret, { onResult } = {}) {
  return async (request, response) => {
    const body = await read(request);
    const result = body
      ? await router.handle(request.headers, body, secret)
      : { status: 413, body: '{"message": "the body is too large"}', reason: "the body is too large" };
    response.writeHead(result.status, { "Content-Type": "application/json" });
    response.end(result.body);
    onResult?.(result);
  };
}

/** The raw bytes, which the signature is of; null if there are too many. */
async function read(request) {
  if (Buffer.isBuffer(request.body)) return request.body; // express.raw() was there first
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= LARGEST) parts.push(part);
  }
  return size <= LARGEST ? Buffer.concat(parts) : null;
}
