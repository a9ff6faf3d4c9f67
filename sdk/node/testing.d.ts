import type { TestContext } from "node:test";

import type { AppClient, Installation, types } from "./index.js";

/** For `test(name, { skip }, …)`: false, or why tests on a store can't run. */
export const skip: string | false;

export interface StoreOptions {
    /** Where your app listens on this machine: `PORT`, else 3000. */
    port?: number | undefined;
    /** "default" has products and some orders, "busy" 500 of each. */
    scenario?: "default" | "empty" | "busy" | undefined;
    /** Seconds after which the store is gone, also if the test was killed: 900. */
    expiresIn?: number | undefined;
}
/** A store with your app installed. What happens there reaches the app's port. It is deleted after the test `t`. */
export function openStore(
    t: Pick<TestContext, "after">,
    options?: StoreOptions,
): Promise<TestStore>;

export interface StoreEvent {
    event: string;
    eventId: string | null;
    deliveries: { id: string; status: string }[];
    /** Why it wasn't sent. */
    reason: string | null;
    /** The event's data; null if your app may not see it. */
    data: Record<string, any> | null;
}
export type StoreAttempt = types.Attempt & {
    /** When it was due, by the store's clock. */
    dueAt: string;
};
export type StoreDelivery = Omit<types.DeliveryWithAttempts, "attempts"> & {
    attempts: StoreAttempt[];
};
export interface StoreCall {
    id: string;
    kind: "API" | "HOOK";
    method: string | null;
    path: string | null;
    hookPoint: string | null;
    status: number | null;
    durationMs: number | null;
    at: string;
}
export interface Span {
    days?: number;
    hours?: number;
    minutes?: number;
    seconds?: number;
}

export class TestStore {
    private constructor();
    readonly id: string;
    readonly businessId: string;
    readonly url: string;
    readonly expiresAt: Date;
    /** What your app would have got by OAuth: hand it to the app before anything happens. */
    readonly installation: Installation; // another after install()
    /** The app API, with the installation's token. */
    readonly client: AppClient;
    /** Of the app-defined webhook. */
    webhookId(): Promise<string>;
    /** Place an order as a shopper does. Resolves to its event: `placed.data?.orderId` is the order. */
    placeOrder(order?: {
        /** Who orders, by one of the two or both. */
        email?: string | undefined;
        phone?: string | undefined;
        name?: string | undefined;
        /** The ID of what is ordered. */
        product?: string | undefined;
        quantity?: number | undefined;
    }): Promise<StoreEvent>;
    /** Erase a customer of the store, whose open orders are delivered first. Without one, somebody else orders and is erased. */
    erase(customer?: { email: string } | { phone: string }): Promise<StoreEvent>;
    /**
     * Cause an event, or those of a scenario, by a real change. `settings` are those that `installation.updated` saves, as the
     * merchant does. Rejects with an ApiError where they don't fit your settingsSchema.
     */
    change(
        wanted:
            | string
            | { event: string; settings?: Record<string, unknown> }
            | { scenario: string },
    ): Promise<StoreEvent[]>;
    /** Let the store's clock go on. What falls due by then is sent now, in its order. */
    advance(
        span: Span,
    ): Promise<{
        now: string;
        became: { deliveries: number; erasures: number; payments: number };
    }>;
    /** While `work` runs, answer for your app with this status, as if its server were down. */
    down<Result>(status: number, work: () => Promise<Result>): Promise<Result>;
    /** Uninstall the app. The data erasure follows 48 hours later by the store's clock. */
    uninstall(): Promise<{
        installationId: string;
        uninstalledAt: string;
        dataErasureAt: string;
    }>;
    /** Install the app again, which cancels an erasure that waits. `client` has the new token. */
    install(): Promise<Installation>;
    /**
     * Wait until your app has accepted a delivery of this event; the next call waits for the next one. With `attempts`, wait for a
     * delivery that had so many. Rejects once there was no attempt for `timeout` seconds (10).
     */
    waitFor(
        event: string,
        options?: {
            timeout?: number | undefined;
            attempts?: number | undefined;
        },
    ): Promise<StoreDelivery>;
    /** The newest 100, newest first. */
    deliveries(): Promise<StoreDelivery[]>;
    /** The newest 100 calls of your app and of its hooks, newest first. */
    calls(): Promise<StoreCall[]>;
    /** Delete the store. The test does so by itself. */
    close(): Promise<void>;
}

/** The seconds between the attempts of a delivery, by the store's clock. */
export function waits(delivery: Pick<StoreDelivery, "attempts">): number[];
