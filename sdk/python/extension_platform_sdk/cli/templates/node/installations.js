// The stores that installed the app: a JSON file. Use your database instead once you have one.

import { readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { AppClient } from "extension-platform-node";

const FILE = process.env.INSTALLATIONS ?? fileURLToPath(new URL("installations.json", import.meta.url));
const FRESH = `${FILE}.new`;
let last = Promise.resolve(); // one change at a time

export const keep = (installation) => change((stores) => (stores[installation.businessId] = installation));

/** Delete everything about a store but its webhook secret, which verifies a repeat of the erasure. */
export const forget = (businessId) =>
  change((stores) => {
    const webhookSecret = stores[businessId]?.webhookSecret;
    if (webhookSecret) stores[businessId] = { webhookSecret };
  });

/** The webhook secret of a store; null for an unknown one. */
export async function secretOf(businessId) {
  const { BUSINESS_ID, WEBHOOK_SECRET } = process.env; // of the install on your sandbox store
  const found = (await read())[businessId]?.webhookSecret;
  return found ?? (businessId && businessId === BUSINESS_ID ? WEBHOOK_SECRET : null);
}

/** The app's page in the dashboard of a store; null for a store without the app. */
export async function dashboardOf(businessId) {
  const id = (await read())[businessId]?.installationId;
  return id ? `${platformUrl()}/merchant/apps/${id}/` : null;
}

/**
 * The app API of the store that an event or hook call comes from; null once the store is forgotten. Its calls are in the thread of
 * the event, which the portal shows.
 */
export async function clientOf({ businessId, traceparent }) {
  const { BUSINESS_ID, ACCESS_TOKEN } = process.env;
  const kept = (await read())[businessId] ?? (businessId === BUSINESS_ID ? { accessToken: ACCESS_TOKEN } : {});
  if (!kept.accessToken) return null;
  return new AppClient({ baseUrl: platformUrl(), accessToken: kept.accessToken }).following(traceparent);
}

/** In tests on a store of the platform, that platform. */
export const platformUrl = () =>
  process.env.PLATFORM_URL ?? process.env.EXTENSION_PLATFORM_URL ?? "http://127.0.0.1:8000";

function change(edit) {
  last = last
    .catch(() => {})
    .then(async () => {
      const stores = await read();
      edit(stores);
      await writeFile(FRESH, JSON.stringify(stores, null, 2), { mode: 0o600 });
      await rename(FRESH, FILE);
    });
  return last;
}

async function read() {
  try {
    return JSON.parse(await readFile(FILE, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}
