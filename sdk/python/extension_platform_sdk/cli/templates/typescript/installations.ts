// The stores that installed the app: a JSON file. Use your database instead once you have one.

import { readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { AppClient, type HookCall, type Installation, type WebhookEvent } from "extension-platform-node";

/** Of a store whose data is erased, the webhook secret alone is left: it verifies a repeat of the erasure. */
type Kept = Pick<Installation, "webhookSecret"> & Partial<Installation>;
type Stores = Record<string, Kept>;

const FILE = process.env.INSTALLATIONS ?? fileURLToPath(new URL("../installations.json", import.meta.url));
const FRESH = `${FILE}.new`;
let last: Promise<void> = Promise.resolve(); // one change at a time

export const keep = (installation: Kept & Pick<Installation, "businessId">): Promise<void> =>
  change((stores) => (stores[installation.businessId] = installation));

/** Delete everything about a store but its webhook secret. */
export const forget = (businessId: string): Promise<void> =>
  change((stores) => {
    const webhookSecret = stores[businessId]?.webhookSecret;
    if (webhookSecret) stores[businessId] = { webhookSecret };
  });

/** The webhook secret of a store; null for an unknown one. */
export async function secretOf(businessId: string): Promise<string | null> {
  const { BUSINESS_ID, WEBHOOK_SECRET } = process.env; // of the install on your sandbox store
  const found = (await read())[businessId]?.webhookSecret;
  return found ?? (businessId && businessId === BUSINESS_ID ? (WEBHOOK_SECRET ?? null) : null);
}

/** The app's page in the dashboard of a store; null for a store without the app. */
export async function dashboardOf(businessId: string): Promise<string | null> {
  const id = (await read())[businessId]?.installationId;
  return id ? `${platformUrl()}/merchant/apps/${id}/` : null;
}

/**
 * The app API of the store that an event or hook call comes from; null once the store is forgotten. Its calls are in the thread of
 * the event, which the portal shows.
 */
export async function clientOf(call: Pick<WebhookEvent | HookCall, "businessId" | "traceparent">): Promise<AppClient | null> {
  const { BUSINESS_ID, ACCESS_TOKEN } = process.env;
  const kept = (await read())[call.businessId];
  const accessToken = kept ? kept.accessToken : call.businessId === BUSINESS_ID ? ACCESS_TOKEN : undefined;
  return accessToken ? new AppClient({ baseUrl: platformUrl(), accessToken }).following(call.traceparent) : null;
}

/** In tests on a store of the platform, that platform. */
export const platformUrl = (): string =>
  process.env.PLATFORM_URL ?? process.env.EXTENSION_PLATFORM_URL ?? "http://127.0.0.1:8000";

function change(edit: (stores: Stores) => void): Promise<void> {
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

async function read(): Promise<Stores> {
  try {
    return JSON.parse(await readFile(FILE, "utf8")) as Stores;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}
