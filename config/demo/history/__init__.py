"""The month behind a new demo: apps, stores, orders and what they caused, all of it made up (docs/decisions/0099).

Rows are written in bulk, by the models that the product has, without signals: nothing is mailed, sent or called. Made apps have
no server, and made stores no goods and no owner who can sign in, so nothing happens in them later either.
"""

from datetime import datetime

from django.db import reset_queries, transaction

from config.demo.history.apps import lead_to_no_server, list_apps
from config.demo.history.orders import bring_visitors, keep_parts, pay_orders
from config.demo.history.reviews import put_in_review
from config.demo.history.sample_app import move_back, release_in_steps
from config.demo.history.stores import bring_people, open_stores
from config.demo.history.story import order_times
from config.demo.history.traffic import deliver, log_calls
from config.demo.order_bell import SLUG
from marketplace.models import App
from webhooks.services.counting import count_recent

__all__ = ["lead_to_no_server", "order_times", "write_history"]


@transaction.atomic
def write_history(*, now: datetime) -> None:
    """Write it, once, for a demo whose sample app has just been installed on the bakery."""
    sample_app = App.objects.select_related("approved_version", "developer").get(slug=SLUG)
    stores = open_stores(now=now)
    installation = move_back(app=sample_app, stores=stores, now=now)
    bring_people(app=sample_app, stores=stores, now=now)
    made = list_apps(partner=sample_app.developer, stores=stores, now=now)
    release_in_steps(app=made["stamp-card"])
    put_in_review(apps=made, now=now)
    pay_orders(installation=installation, now=now)
    log_calls(installation=installation, now=now)
    keep_parts(installation=installation)
    deliver(installation=installation, now=now)
    bring_visitors(business=installation.business)
    count_recent(now=now)
    reset_queries()  # kept with `DEBUG`, and these are long
