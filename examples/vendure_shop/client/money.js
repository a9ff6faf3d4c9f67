// Rows have amounts in major units, hooks in minor units of the currency, and shops in whatever they count.

/** For a shop that counts in whole units of 10 to the power of minus `precision`, in every currency. */
class Money {
  constructor(currency, precision) {
    const format = new Intl.NumberFormat("en", { style: "currency", currency });
    this.precision = precision;
    this.shift = format.resolvedOptions().maximumFractionDigits - precision;
  }

  toMajor = (amount) => amount / 10 ** this.precision;
  toMinor = (amount) => Math.round(amount * 10 ** this.shift);
  fromMinor = (amount) => Math.round(amount / 10 ** this.shift);
}

module.exports = { Money };
