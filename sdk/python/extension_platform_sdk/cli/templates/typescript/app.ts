// The app's addresses. Its functions are in handlers.ts. With Express, pass each function to app.get() or app.post().

import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";

import { listener, OAuthClient, readCallback } from "extension-platform-node";

import { hooks, webhooks } from "./handlers.js";
import { dashboardOf, keep, platformUrl, secretOf } from "./installations.js";

type Route = (request: IncomingMessage, response: ServerResponse) => unknown;

const COOKIE = "installing"; // what this browser was sent away with
const used = new Set<string>(); // codes: a browser may open the address again, and a second exchange ends the token

const oauth = new OAuthClient({
  baseUrl: platformUrl(),
  clientId: process.env.CLIENT_ID ?? "",
  clientSecret: process.env.CLIENT_SECRET ?? "",
  redirectUri: process.env.REDIRECT_URL ?? "SERVER/callback",
});

const routes: Record<string, Route> = {
  "GET /": (_, response) => send(response, 200, '<h1>NAME</h1><p><a href="/install">Install on a store</a></p>'),
  "GET /block": async (_, response) => send(response, 200, await page("block.html")),
  "GET /install": install,
  "GET /callback": callback,
  "GET /welcome": welcome,
  "POST /webhooks": listener(webhooks, (_, businessId) => secretOf(businessId)),
  "POST /webhooks/hooks": listener(hooks, secretOf),
};

export async function app(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const route = routes[`${request.method} ${address(request).pathname}`];
  try {
    await (route ? route(request, response) : send(response, 404, "Not found"));
  } catch (error) {
    console.error(error);
    if (!response.headersSent) send(response, 500, "Something went wrong");
  }
}

async function install(_: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url, state, codeVerifier } = await oauth.begin();
  const cookie = `${COOKIE}=${state}.${codeVerifier}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax`;
  response.writeHead(302, { Location: url, "Set-Cookie": cookie }).end();
}

async function callback(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = address(request).searchParams;
  const kept = new RegExp(`${COOKIE}=([^;]*)`).exec(request.headers.cookie ?? "")?.[1] ?? "";
  const [state, codeVerifier] = kept.split(".");
  let businessId: string;
  try {
    // A merchant who pressed Install in the marketplace comes without a state.
    const began = query.has("state");
    const code = readCallback(query, { state: began ? state : null });
    if (used.has(code)) throw new Error("this address was opened before");
    used.add(code);
    const installed = await oauth.exchange(code, began ? { codeVerifier } : {});
    await keep(installed); // before anything else: the code works once
    ({ businessId } = installed);
  } catch (error) {
    return send(response, 400, `Not installed: ${error instanceof Error ? error.message : "unknown"}`, "text/plain");
  }
  const headers = { Location: `/welcome?business=${businessId}`, "Set-Cookie": `${COOKIE}=; Max-Age=0; Path=/` };
  response.writeHead(302, headers).end();
}

/** Leads the merchant back to the dashboard. */
async function welcome(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const dashboard = await dashboardOf(address(request).searchParams.get("business") ?? "");
  if (!dashboard) return send(response, 404, "Not found", "text/plain");
  send(response, 200, (await page("welcome.html")).replace("$dashboard", dashboard));
}

const address = (request: IncomingMessage): URL => new URL(request.url ?? "/", "http://localhost");

const page = (name: string): Promise<string> => readFile(new URL(`../${name}`, import.meta.url), "utf8");

function send(response: ServerResponse, status: number, body: string, type = "text/html"): void {
  response.writeHead(status, { "Content-Type": `${type}; charset=utf-8` }).end(body);
}
