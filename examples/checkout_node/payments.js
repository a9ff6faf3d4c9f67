// Bell Pay, a way to pay that moves no real money: from the hook call to the end of the payment.

import { randomBytes } from "node:crypto";

import { toMajor } from "extension-platform-node";

const PAYABLE_FOR = 15 * 60 * 1000; // milliseconds

export class Payments {
  #publicUrl;
  #client;
  #invoices = new Map(); // use your database instead: these are gone when the process ends

  constructor(publicUrl, client) {
    this.#publicUrl = publicUrl;
    /** What checkout.payment_methods offers. */
    this.method = {
      id: "bell-pay",
      name: "Bell Pay",
      description: "Pay on a page of Order Bell. No real money moves.",
      icon: `${publicUrl}/static/bell.svg`,
    };
    this.#client = client;
  }

  /** Answers checkout.create_payment. A shopper may choose again, so an order may have several invoices. */
  begin({ paymentMethodId, orderId, amount, currency, description }) {
    if (paymentMethodId !== this.method.id) throw new RangeError(`no payment method ${paymentMethodId}`);
    const invoiceId = `bell-${randomBytes(16).toString("base64url")}`;
    const expiresAt = new Date(Date.now() + PAYABLE_FOR);
    this.#invoices.set(invoiceId, {
      orderId,
      amount: Number(amount),
      currency,
      description,
      expiresAt,
      status: "OPEN",
    });
    const url = `${this.#publicUrl}/pay/${invoiceId}`;
    return { paymentUrl: url, qrCode: url, invoiceId, expiresAt: expiresAt.toISOString() };
  }

  /** Tells the platform how a payment ended. Pressing again after a failure is harmless: it takes the same status twice. */
  async settle(invoiceId, status) {
    const invoice = this.#invoices.get(invoiceId);
    if (invoice?.status !== "OPEN" || invoice.expiresAt < new Date()) return;
    await this.#client.settlePayment(invoice.orderId, status, { reference: invoiceId });
    invoice.status = status;
  }

  /** The page where a shopper pays; null if there is no such payment. */
  page(invoiceId) {
    const invoice = this.#invoices.get(invoiceId);
    if (!invoice) return null;
    const format = new Intl.NumberFormat("en", { style: "currency", currency: invoice.currency });
    const amount = format.format(toMajor(invoice.amount, invoice.currency));
    const isOpen = invoice.status === "OPEN" && invoice.expiresAt > new Date();
    const body = isOpen
      ? `<form method="post"><button name="status" value="COMPLETED">Pay ${amount}</button>
<button name="status" value="FAILED">Let it fail</button></form>`
      : `<p>${{ COMPLETED: "Paid. You can close this page.", FAILED: "Not paid." }[invoice.status] ?? "The time is over."}</p>`;
    return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Bell Pay</title><h1>${amount}</h1><p>${escaped(invoice.description)}</p>${body}</html>`;
  }
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
