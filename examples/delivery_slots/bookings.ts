// How many deliveries a slot has left, and who gets one.

import { bookingsOf, changeBookings, type Bookings, type Rules } from "./installations.js";
import { isPast, type Slot, slotsOf } from "./slots.js";

const HELD = 120_000; // milliseconds that one request may take to place its order

export type Answer = "free" | "full" | "unknown";

/** The slots that are offered, with how many deliveries each has left. */
export async function offered(businessId: string, rules: Rules): Promise<{ slot: Slot; left: number }[]> {
  const bookings = await bookingsOf(businessId);
  return slotsOf(rules.settings, rules.timeZone).map((slot) => ({
    slot,
    left: left(slot, rules, bookings),
  }));
}

/** An order with this slot is being placed: until that is known, its place is this request's alone. */
export function hold(businessId: string, rules: Rules, slot: Slot, requestId: string): Promise<Answer> {
  if (!slotsOf(rules.settings, rules.timeZone).includes(slot)) return Promise.resolve("unknown");
  return changeBookings(businessId, (bookings) => {
    delete bookings.held[requestId]; // asked again, because prices changed
    if (left(slot, rules, bookings) < 1) return "full";
    bookings.held[requestId] = { slot, until: Date.now() + HELD };
    return "free";
  });
}

/** An order was placed by this request, with a slot or without. Said twice, it counts once. */
export const book = (
  businessId: string,
  rules: Rules,
  orderId: string,
  slot: Slot | undefined,
  requestId: string | null,
) =>
  changeBookings(businessId, ({ booked, held }) => {
    delete held[requestId ?? ""];
    if (slot) booked[orderId] = slot;
    for (const [id, each] of Object.entries(booked)) if (isPast(each, rules.timeZone)) delete booked[id];
    for (const [id, { until }] of Object.entries(held)) if (until < Date.now()) delete held[id];
  });

/** The orders were cancelled, or their customer is erased. */
export const release = (businessId: string, orderIds: string[]): Promise<void> =>
  changeBookings(businessId, ({ booked }) => orderIds.forEach((id) => delete booked[id]));

function left(slot: Slot, { settings }: Rules, { booked, held }: Bookings): number {
  const holding = Object.values(held).filter(({ until }) => until > Date.now());
  const taken = [...Object.values(booked), ...holding.map((each) => each.slot)].filter((each) => each === slot);
  return settings.capacity - taken.length;
}
