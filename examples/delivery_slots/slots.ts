// The slots of a store: hours of its next days, by the merchant's settings and the store's clock.

import type { types } from "extension-platform-node";

/** A day and two hours: `2026-12-01 09-12`. */
export type Slot = string;

const SLOT = /^(\d{4}-\d{2}-\d{2}) (\d{2})-(\d{2})$/;
const DAY = 86_400_000; // milliseconds

/** The merchant's, with the defaults of the manifest's settingsSchema. */
export interface Settings {
  opens: number;
  closes: number;
  hours: number;
  capacity: number;
  days: number;
  closedOn: string[];
  required: boolean;
}

const DEFAULTS: Settings = {
  opens: 9,
  closes: 18,
  hours: 3,
  capacity: 4,
  days: 5,
  closedOn: ["Sun"],
  required: false,
};

/** The schema has checked each value; one that is missing is of a version before. */
export const readSettings = (given: types.Installation["settings"]): Settings => ({ ...DEFAULTS, ...given });

/** From tomorrow on, so that none has begun. */
export function slotsOf(
  { opens, closes, hours, days, closedOn }: Settings,
  timeZone: string,
  now = new Date(),
): Slot[] {
  const slots: Slot[] = [];
  const today = Date.parse(dateIn(timeZone, now));
  for (let day = 1; day <= days; day += 1) {
    const date = new Date(today + day * DAY);
    if (
      closedOn.includes(
        date.toLocaleDateString("en", {
          weekday: "short",
          timeZone: "UTC",
        }),
      )
    )
      continue;
    for (let from = opens; from + hours <= closes; from += hours) {
      slots.push(`${date.toISOString().slice(0, 10)} ${twoDigits(from)}-${twoDigits(from + hours)}`);
    }
  }
  return slots;
}

/** As people write it: "Tuesday, December 1, 09:00–12:00". */
export function inWords(slot: Slot, locale: string): string {
  const [, date = "", from = "", until = ""] = SLOT.exec(slot) ?? [];
  const day = new Date(date).toLocaleDateString(locale, {
    weekday: "long",
    day: "numeric",
    month: "long",
    timeZone: "UTC",
  });
  return `${day}, ${from}:00–${until}:00`;
}

/** Whether the day of a slot is over. */
export const isPast = (slot: Slot, timeZone: string, now = new Date()): boolean =>
  slot.slice(0, 10) < dateIn(timeZone, now);

// Sweden's way to write a date is ISO 8601.
const dateIn = (timeZone: string, now: Date): string => now.toLocaleDateString("sv", { timeZone });

const twoDigits = (hour: number): string => String(hour).padStart(2, "0");
