"""Signals that `stores` sends to higher-level apps.

Every signal is sent with `send`, inside the transaction of the change: a receiver's rows commit with the change or not
at all, and its exception undoes the change. Receivers write rows and make no calls. Each signal carries `now`, the
aware datetime of the change.
"""

from django.dispatch import Signal

order_created = Signal()
"""An order has been saved. Arguments: `order` (with its `lines`), `now`."""

order_status_changed = Signal()
"""An order's status changed. Arguments: `order`, `previous` (the status before), `now`."""

payment_completed = Signal()
"""An app's payment was completed. Arguments: `payment` (with its order), `now`."""

payment_expired = Signal()
"""An app's payment expired. Arguments: `payment` (with its order), `now`."""

product_created = Signal()
"""Arguments: `product`, `now`."""

product_updated = Signal()
"""The merchant edited a product. Arguments: `product`, `changed_fields` (wire names, sorted), `now`."""

product_deleted = Signal()
"""Sent before the row goes. Arguments: `product`, `now`."""

stock_crossed = Signal()
"""Stock ran out, fell below its threshold, or came back. Arguments: `product` (with the new stock),
`crossing` (enums.StockCrossing), `now`."""

review_created = Signal()
"""Arguments: `review`, `now`."""

review_deleted = Signal()
"""Sent before the row goes. Arguments: `review`, `now`."""

copies_to_erase = Signal()
"""A customer is erased, or was a little while ago. Receivers blank every copy of the person's records that they hold. Arguments:
`copies` (a `copies.Copies`), `now`."""

customer_erased = Signal()
"""A customer was erased. Sent after `copies_to_erase`. Arguments: `erasure` (a `CustomerErasure`), `person`, `copies`, `now`."""
