// The app's addresses. Its functions are in handlers.js. With Express, pass each function to app.get() or app.post().

import { readFile } from "node:fs/promises";

import { listener, OAuthClient, readCallback } from "extension-platform-node";

import { hooks, webhooks } from "./handlers.js";
import { dashboardOf, keep, platformUrl, secretOf } from "./installations.js";

const COOKIE = "installing"; // what this browser was sent away with
const used = new Set(); // codes: a browser may open the address again, and a second exchange ends the token

const oauth = new OAuthClient({
  baseUrl: platformUrl(),
  clientId: process.env.CLIENT_ID ?? "",
  clientSecret: process.env.CLIENT_SECRET ?? "",
  redirectUri: process.env.REDIRECT_URL ?? "SERVER/callback",
});

const routes = {
  "GET /": (request, response) => send(response, 200, '<h1>NAME</h1><p><a href="/install">Install on a store</a></p>'),
  "GET /block": async (request, response) =>
    send(response, 200, await readFile(new URL("block.html", import.meta.url))),
  "GET /install": install,
  "GET /callback": callback,
  "GET /welcome": welcome,
  "POST /webhooks": listener(webhooks, (webhookId, businessId) => secretOf(businessId)),
  "POST /webhooks/hooks": listener(hooks, secretOf),
};

export async function app(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  const route = routes[`${request.method} ${pathname}`];
  try {
    await (route ? route(request, response) : send(response, 404, "Not found"));
  } catch (error) {
    console.error(error);
    if (!response.headersSent) send(response, 500, "Something went wrong");
  }
}

async function install(request, response) {
  const { url, state, codeVerifier } = await oauth.begin();
  const cookie = `${COOKIE}=${state}.${codeVerifier}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax`;
  response.writeHead(302, { Location: url, "Set-Cookie": cookie }).end();
}

async function callback(request, response) {
  const query = new URL(request.url, "http://localhost").searchParams;
  const kept = new RegExp(`${COOKIE}=([^;]*)`).exec(request.headers.cookie ?? "")?.[1] ?? "";
  const [state, codeVerifier] = kept.split(".");
  let installed;
  try {
    // A merchant who pressed Install in the marketplace comes without a state.
    const began = query.has("state");
    const code = readCallback(query, { state: began ? state : null });
    if (used.has(code)) throw new Error("this address was opened before");
    used.add(code);
    installed = await oauth.exchange(code, began ? { codeVerifier } : {});
    await keep(installed); // before anything else: the code works once
  } catch (error) {
    return send(response, 400, `Not installed: ${error.message}`, "text/plain");
  }
  response
    .writeHead(302, {
      Location: `/welcome?business=${installed.businessId}`,
      "Set-Cookie": `${COOKIE}=; Max-Age=0; Path=/`,
    })
    .end();
}

/** Leads the merchant back to the dashboard. */
async function welcome(request, response) {
  const address = await dashboardOf(new URL(request.url, "http://localhost").searchParams.get("business"));
  if (!address) return send(response, 404, "Not found", "text/plain");
  const page = await readFile(new URL("welcome.html", import.meta.url), "utf8");
  return send(response, 200, page.replace("$dashboard", address));
}

function send(response, status, body, type = "text/html") {
  response.writeHead(status, { "Content-Type": `${type}; charset=utf-8` }).end(body);
}
