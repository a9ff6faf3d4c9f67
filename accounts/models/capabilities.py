"""What a store does here. A store of a shop system keeps its products, orders and pages where it is (contract, section 17).

Navigation, access, templates and the API ask `Business.capabilities`; nothing else asks what kind of store one is.
"""

from dataclasses import dataclass, fields, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The pages that a store has, what its people and apps may change here, and what the platform does for it by itself."""

    # Pages of the dashboard, and the store's own
    overview: bool
    orders: bool
    products: bool
    reviews: bool
    customers: bool
    staff: bool
    settings: bool
    businesses: bool  # several of one person, and more of them
    private_app_pages: bool  # those that apps have: its owner and managers alone open them
    page_texts: bool  # and adding and deleting pages
    scripts: bool
    storefront: bool
    # What its people have
    accounts: bool  # with pages, and ways to sign in that are their own
    # What apps write, and the checkout
    app_orders: bool  # here; without it the shop is asked by a command
    own_payment_methods: bool  # cash and card, beside those of apps
    checkout: bool  # it asks apps about an order; elsewhere quotes and payments come before the order
    # What is set off by its records
    buyers_mails: bool
    merchants_news: bool  # of orders, stock and reviews
    named_in_mails: bool  # what people typed was checked, so that mails may carry it
    open_orders_wait: bool  # for the merchant here: until then they keep account and customer
    samples: bool


NAMES: Final = frozenset(each.name for each in fields(Capabilities))
OWN_STORE: Final = Capabilities(**dict.fromkeys(NAMES, True))
CONNECTED_STORE: Final = Capabilities(**dict.fromkeys(NAMES, False))
# A day for one app, with its orders, products and pages (contract, section 21).
COPY_OF_STORE: Final = replace(
    OWN_STORE,
    overview=False,
    reviews=False,
    customers=False,
    staff=False,
    settings=False,
    businesses=False,
    scripts=False,
    buyers_mails=False,
    merchants_news=False,
    open_orders_wait=False,
    samples=False,
)
