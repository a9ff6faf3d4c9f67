// The SDK's listener behind node's HTTP server, or behind Express if its folder is named: node server.js [FOLDER].
// A request's query says the time and the secret: /webhooks?now=1763650000&secret=…

import { createServer } from "node:http";
import { createRequire } from "node:module";

import { HookRouter, listener, WebhookRouter } from "../../../sdk/node/index.js";

let secret;
const webhooks = listener(
  new WebhookRouter().on("order.created", () => {}),
  () => secret,
);
const hooks = listener(
  new HookRouter().on("order.validate", () => ({ valid: true })),
  () => secret,
);

function route(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const now = Number(searchParams.get("now")) * 1000;
  Date.now = () => now;
  secret = searchParams.get("secret");
  return (pathname === "/webhooks" ? webhooks : hooks)(request, response);
}

const [, , folder] = process.argv;
let server = createServer(route);
if (folder) {
  const express = createRequire(folder)("express");
  const app = express().post("/webhooks", route).post("/hooks", route);
  for (const parser of ["json", "text", "raw"]) app.use(`/${parser}`, express[parser]({ type: "*/*" }), route);
  server = createServer(app);
}
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
