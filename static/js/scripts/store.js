// The pages of a store.
import "../site.js";
import "../visit.js";
import "../checkout.js";
import "../payment.js";
