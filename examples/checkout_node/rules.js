// What the merchant set for the app, read again every few seconds, so that changes reach the checkout soon.

import { PlatformError, toMinor } from "extension-platform-node";

const SECONDS = 3;

export class Rules {
  #client;
  #until = 0;
  #currency;
  #known = { bellPay: true, freeDeliveryFrom: 3000, discountFromPieces: 3, discountPercent: 10, mostOfOneProduct: 12 };

  constructor(client) {
    this.#client = client;
  }

  /** The rules; those last known if the platform doesn't answer, so that shoppers don't wait for it again and again. */
  async read() {
    if (Date.now() < this.#until) return this.#known;
    try {
      this.#currency ??= (await this.#client.business()).currency;
      const { settings } = await this.#client.installation(); // with the defaults of the manifest's settingsSchema
      this.#known = { ...this.#known, ...settings };
      if ("freeDeliveryFrom" in settings) {
        this.#known.freeDeliveryFrom = toMinor(settings.freeDeliveryFrom, this.#currency);
      }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      console.warn(`Going on with what is known: ${error.message}`);
    }
    this.#until = Date.now() + SECONDS * 1000;
    return this.#known;
  }
}
