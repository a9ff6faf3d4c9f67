// The stores that installed the app, with what is booked there: a JSON file. Use your database instead once you have one.

import { readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { AppClient, type Installation } from "extension-platform-node";

import { readSettings, type Settings, type Slot } from "./slots.js";

/** What the merchant decides. */
export interface Rules {
  settings: Settings;
  /** In milliseconds. Of two events that arrive in another order, the later one counts. */
  savedAt: number;
  timeZone: string;
  locale: string;
}
export interface Bookings {
  /** By the ID of the order. */
  booked: Record<string, Slot>;
  /** By the ID of the request that is placing an order. */
  held: Record<string, { slot: Slot; until: number }>;
}
/** Of a store whose data is erased, the webhook secret alone is left: it verifies a repeat of the erasure. */
type Kept = Pick<Installation, "webhookSecret"> & Partial<Installation & Bookings> & { rules?: Rules };
type Stores = Record<string, Kept>;

const FILE = process.env.INSTALLATIONS ?? fileURLToPath(new URL("../installations.json", import.meta.url));
const FRESH = `${FILE}.new`;
let last: Promise<unknown> = Promise.resolve(); // one change at a time

/** The bookings of a store that comes back are still there. */
export const keep = (installation: Installation): Promise<void> =>
  change((stores) => {
    const { booked = {} } = stores[installation.businessId] ?? {};
    stores[installation.businessId] = { ...installation, booked, held: {} };
  });

/** Delete everything about a store but its webhook secret. */
export const forget = (businessId: string): Promise<void> =>
  change((stores) => {
    const webhookSecret = stores[businessId]?.webhookSecret;
    if (webhookSecret) stores[businessId] = { webhookSecret };
  });

/** The webhook secret of a store; null for an unknown one. */
export const secretOf = async (businessId: string): Promise<string | null> =>
  (await read())[businessId]?.webhookSecret ?? null;

/** The app's page in the dashboard of a store; null for a store without the app. */
export async function dashboardOf(businessId: string): Promise<string | null> {
  const id = (await read())[businessId]?.installationId;
  return id ? `${platformUrl()}/merchant/apps/${id}/` : null;
}

/** The app API of a store; null once the store is forgotten. Its calls are in the thread of the event or hook call. */
export async function clientOf(businessId: string, traceparent: string | null = null): Promise<AppClient | null> {
  const accessToken = (await read())[businessId]?.accessToken;
  if (!accessToken) return null;
  return new AppClient({
    baseUrl: platformUrl(),
    accessToken,
    timeout: 2000,
  }).following(traceparent);
}

/** A store's rules, which are read from the platform once, and then kept by `installation.updated`. Null for an unknown store. */
export async function rulesOf(businessId: string): Promise<Rules | null> {
  const known = (await read())[businessId]?.rules;
  if (known) return known;
  const client = await clientOf(businessId);
  if (!client) return null;
  const [{ settings }, { timezone: timeZone, locale }] = await Promise.all([client.installation(), client.business()]);
  const found: Rules = {
    settings: readSettings(settings),
    savedAt: 0,
    timeZone,
    locale,
  };
  return change((stores) => {
    const kept = stores[businessId];
    return kept?.accessToken ? (kept.rules ??= found) : null;
  });
}

/** The merchant saved other settings at this time. */
export async function keepSettings(businessId: string, settings: Settings, at: Date): Promise<void> {
  if (!(await rulesOf(businessId))) return;
  await change((stores) => {
    const rules = stores[businessId]?.rules;
    if (rules && rules.savedAt < at.getTime()) Object.assign(rules, { settings, savedAt: at.getTime() });
  });
}

/** What is booked in a store. */
export async function bookingsOf(businessId: string): Promise<Bookings> {
  const { booked = {}, held = {} } = (await read())[businessId] ?? {};
  return { booked, held };
}

/** Change what is booked in a store. Nothing is kept of an unknown one, or of one that is forgotten. */
export const changeBookings = <Result>(businessId: string, edit: (bookings: Bookings) => Result): Promise<Result> =>
  change((stores) => {
    const { accessToken, booked = {}, held = {} } = stores[businessId] ?? {};
    const bookings = { booked, held };
    const result = edit(bookings);
    if (accessToken) Object.assign(stores[businessId]!, bookings);
    return result;
  });

/** In tests on a store of the platform, that platform. */
export const platformUrl = (): string =>
  process.env.PLATFORM_URL ?? process.env.EXTENSION_PLATFORM_URL ?? "http://127.0.0.1:8000";

function change<Result>(edit: (stores: Stores) => Result): Promise<Result> {
  const changed = last
    .catch(() => {})
    .then(async () => {
      const stores = await read();
      const result = edit(stores);
      await writeFile(FRESH, JSON.stringify(stores, null, 2), {
        mode: 0o600,
      });
      await rename(FRESH, FILE);
      return result;
    });
  last = changed;
  return changed;
}

async function read(): Promise<Stores> {
  try {
    return JSON.parse(await readFile(FILE, "utf8")) as Stores;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}
