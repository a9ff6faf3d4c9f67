// What shoppers read, in the languages that the app speaks.

const TEXTS = {
  en: {
    label: "Delivery slot",
    none: "No preference",
    kept: "Kept for your order.",
    unknown: "Choose another delivery slot: this one isn't offered any more.",
    full: "This delivery slot is full. Choose another one.",
    missing: "Choose a delivery slot.",
  },
  de: {
    label: "Lieferzeit",
    none: "Beliebige Zeit",
    kept: "Für Ihre Bestellung gemerkt.",
    unknown: "Wählen Sie eine andere Lieferzeit: Diese wird nicht mehr angeboten.",
    full: "Diese Lieferzeit ist ausgebucht. Wählen Sie eine andere.",
    missing: "Wählen Sie eine Lieferzeit.",
  },
  fr: {
    label: "Créneau de livraison",
    none: "Peu importe",
    kept: "Noté pour votre commande.",
    unknown: "Choisissez un autre créneau : celui-ci n’est plus proposé.",
    full: "Il n’y a plus de place dans ce créneau. Choisissez-en un autre.",
    missing: "Choisissez un créneau de livraison.",
  },
} as const;

export type Texts = Record<keyof (typeof TEXTS)["en"], string>;
type Language = keyof typeof TEXTS;

/** Such as "de" for "de-CH"; English for a language that the app doesn't speak. */
export function languageOf(locale: string): Language {
  const found = locale.toLowerCase().split("-")[0] ?? "";
  return Object.hasOwn(TEXTS, found) ? (found as Language) : "en";
}

export const textsOf = (locale: string): Texts => TEXTS[languageOf(locale)];
