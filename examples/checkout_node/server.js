// Starts the app. It serves the one store whose credentials `extension-platform install` wrote to .env.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

import { AppClient, listener } from "extension-platform-node";

import { hooksOf } from "./hooks.js";
import { Payments } from "./payments.js";
import { Rules } from "./rules.js";

const { PLATFORM_URL, ACCESS_TOKEN, BUSINESS_ID, WEBHOOK_SECRET, PORT = "3000" } = process.env;
const publicUrl = process.env.PUBLIC_URL ?? `http://localhost:${PORT}`;

const client = new AppClient({ baseUrl: PLATFORM_URL, accessToken: ACCESS_TOKEN, timeout: 2000 }); // a shopper waits
const payments = new Payments(publicUrl, client);
const hooks = listener(
  hooksOf(new Rules(client), payments),
  (businessId) => (businessId === BUSINESS_ID ? WEBHOOK_SECRET : null),
  { onResult: ({ reason, error }) => reason && console.warn(reason, error ?? "") },
);

const icon = readFile(new URL("bell.svg", import.meta.url));

async function answer(request, response) {
  const { pathname } = new URL(request.url, publicUrl);
  const [, folder, invoiceId] = pathname.split("/");
  if (pathname === "/webhooks/hooks") {
    return request.method === "POST" ? hooks(request, response) : send(response, 405, "POST only");
  }
  if (pathname === "/static/bell.svg") return send(response, 200, await icon, "image/svg+xml");
  if (folder !== "pay") return send(response, 404, "Not found");
  if (request.method === "POST") await payments.settle(invoiceId, await pressed(request));
  const page = payments.page(invoiceId);
  return page
    ? send(response, 200, page, "text/html; charset=utf-8")
    : send(response, 404, "There is no such payment.");
}

/** Which of the two buttons. */
async function pressed(request) {
  let form = "";
  for await (const part of request) if (form.length < 1000) form += part;
  return new URLSearchParams(form).get("status") === "COMPLETED" ? "COMPLETED" : "FAILED";
}

function send(response, status, body, type = "text/plain; charset=utf-8") {
  response.writeHead(status, { "Content-Type": type }).end(body);
}

createServer((request, response) =>
  answer(request, response).catch((error) => {
    console.error(error);
    if (!response.headersSent) send(response, 502, "The platform didn't take it. Try again.");
  }),
).listen(PORT, () => console.log(publicUrl));
