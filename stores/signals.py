"""Signals that `stores` sends to higher-level apps.

Every signal but `copies_to_erase` is sent with `send`, inside the transaction of the change: a receiver's rows commit with the
change or not at all, and its exception undoes the change. Receivers write rows and make no calls. Each signal carries `now`, the
aware datetime of the change. Rows are given as records (`stores.records`), made after the change: receivers may keep them.
"""

from django.dispatch import Signal

order_created = Signal()
"""An order has been saved. Arguments: `order` (an `OrderRecord`), `now`."""

order_status_changed = Signal()
"""An order's status changed. Arguments: `order` (an `OrderRecord`), `previous` (the status before), `now`."""

order_refunded = Signal()
"""Some of an order's money was given back. Arguments: `order` (an `OrderRecord`, with all that was refunded so far), `amount` (minor units, of
this refund), `reason` (the merchant's words, or empty), `now`."""

payment_completed = Signal()
"""An app's payment was completed. Arguments: `payment` (a `PaymentRecord`), `now`."""

payment_expired = Signal()
"""An app's payment expired. Arguments: `payment` (a `PaymentRecord`), `now`."""

quote_taken = Signal()
"""The row of a shop's order brought what apps had answered before it. Arguments: `order_id`, `calls` (the ids of `HookPart.call_id`), `now`."""

product_created = Signal()
"""Arguments: `product` (a `ProductRecord`), `now`."""

product_updated = Signal()
"""The merchant edited a product. Arguments: `product` (a `ProductRecord`), `changed_fields` (wire names, sorted), `now`."""

product_deleted = Signal()
"""Sent before the row goes. Arguments: `product` (a `ProductRecord`), `now`."""

stock_crossed = Signal()
"""Stock ran out, fell below its threshold, or came back. Arguments: `product` (a `ProductRecord`, with
the new stock), `crossing` (enums.StockCrossing), `now`."""

review_created = Signal()
"""Arguments: `review` (a `ReviewRecord`), `now`."""

review_deleted = Signal()
"""Sent before the row goes. Arguments: `review` (a `ReviewRecord`), `now`."""

customer_erased = Signal()
"""A customer was erased. Arguments: `erasure` (a `CustomerErasure`), `person`, `copies` (a `copies.Copies`), `since` (when the
person's first record was made), `now`."""

copies_to_erase = Signal()
"""A customer was erased just now, or a little while ago. Receivers blank every copy of the person's records that they hold. They
are called by a worker, outside a transaction, at least once; one that fails is called again, and doesn't stop the others.
Arguments: `copies`, `now`."""
