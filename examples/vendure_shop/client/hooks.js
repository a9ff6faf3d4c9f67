// Apps at the checkout, within a time that the shopper can wait. Without an answer in time it is that of a shop without apps.

const { digestOf } = require("./platform");

const MORE = 200; // ms that the platform and the network may take beside the apps
const LEAST = 100; // ms that the platform takes as a budget
const [KEPT_FOR, MOST_KEPT] = [60_000, 1_000]; // ms that the answer for one content is good
const [FAILURES, RESTS] = [3, 10_000]; // in a row, after which nothing is asked for so many ms
const NEUTRAL = {
  "order.validate": () => ({ valid: true }),
  "order.calculate_discounts": () => ({ discount: 0 }),
  "checkout.shipping_rates": (data) => ({ fee: data.builtInFee }),
};
const neutral = (point, data) => NEUTRAL[point](data);

class Hooks {
  constructor({ platform, budgetMs = 2_000 }) {
    Object.assign(this, { platform, budgetMs, kept: new Map(), failures: 0, closedUntil: 0 });
  }

  /** What one shopper waits for: its questions share one time and one quote. `isFresh` asks again what is kept. */
  turn(isFresh = false) {
    return { left: this.budgetMs, quote: "", isFresh, answers: new Map() };
  }

  /** `question` is `{data, shopper}`, with amounts in minor units. Never fails. */
  async ask(turn, point, question) {
    const name = digestOf([point, question]);
    const kept = this.kept.get(name);
    const isGood = !turn.isFresh && kept && Date.now() < kept.until;
    const found = turn.answers.get(name) ?? (isGood ? kept : await this.fetch(turn, point, question, kept));
    turn.answers.set(name, found);
    turn.quote = found.quote || turn.quote;
    this.keep(name, found);
    return found.answer;
  }

  keep(name, found) {
    this.kept.delete(name);
    if (found.until) this.kept.set(name, found);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value);
  }

  async fetch(turn, point, question, kept) {
    const budgetMs = Math.floor(turn.left);
    const began = Date.now();
    try {
      if (budgetMs < LEAST || began < this.closedUntil)
        throw new Error("No time is left, or the platform failed often.");
      const body = { ...question, budgetMs, quote: turn.quote || undefined };
      const { answer, quote } = await this.platform.call("POST", `/hooks/${point}`, body, { timeout: budgetMs + MORE });
      this.failures = 0;
      return { answer, quote, until: Date.now() + KEPT_FOR };
    } catch (error) {
      const isItsFault = error.status === 0 || error.status === 429 || error.status >= 500;
      if (isItsFault && ++this.failures >= FAILURES) this.closedUntil = Date.now() + RESTS;
      return kept ?? { answer: neutral(point, question.data) }; // so that shoppers pay what they were shown
    } finally {
      turn.left -= Date.now() - began;
    }
  }
}

module.exports = { Hooks, neutral };
