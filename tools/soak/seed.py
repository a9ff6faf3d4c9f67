"""Merchants with stores, and approved apps that listen and have hooks: run by the platform's own Python, in its tree.

Uses services that the first release has too. Prints what the load needs to know, as JSON.
"""

import json
import sys
from importlib.util import find_spec
from typing import Any

import django
from django.conf import settings
from django.utils.module_loading import import_string

PASSWORD = "a good password of a soak"
EVENTS = [
    "order.created", "order.status_changed", "order.delivered", "order.cancelled", "payment.completed",
    "product.created", "product.updated", "product.deleted", "review.created",
]  # fmt: skip
SCOPES = ["read_products", "read_orders", "write_orders", "read_reviews"]
STOCK = 1_000_000
# The apps with these numbers have these hooks. The last one is released in steps, and never uninstalled.
HOOKED, PAYING, RELEASED = 0, 2, 3
HOOKS = {
    HOOKED: ["checkout.shipping_rates", "order.calculate_discounts", "order.validate"],
    PAYING: ["checkout.payment_methods", "checkout.create_payment"],
    RELEASED: ["order.validate"],
}


def main(receiver: str, apps: int, merchants: int) -> None:
    django.setup()
    settings.DEBUG = True  # here only: the apps' servers have plain http
    from accounts.services import create_reviewer, register
    from accounts.services.confirmation import confirm

    # 0.2.0, from which the soak upgrades, has it elsewhere.
    fill_store = import_string(
        f"stores.{'samples.store' if find_spec('stores.samples') else 'sandbox'}.fill_store"
    )

    def person(email: str, role: str, **more: str) -> Any:
        made = register(email=email, password=PASSWORD, name=email.partition("@")[0], role=role, **more)
        confirm(user=made.user)
        return made

    developer = person("developer@example.com", "DEVELOPER").user
    reviewer = create_reviewer(email="reviewer@example.com", name="Rae Reviewer", password=PASSWORD)
    found: dict[str, Any] = {"apps": [], "merchants": [], "password": PASSWORD}
    for number in range(merchants + 1):
        made = person(f"merchant{number}@example.com", "MERCHANT", business_name=f"Store {number}")
        fill_store(business=made.business)
        store = made.business
        found["merchants"].append(
            {
                "email": made.user.email,
                "business": str(store.pk),
                "slug": store.slug,
                **_counted_product(store),
            }
        )
    found["aside"] = found["merchants"].pop()  # whose store no order comes to
    for number in range(apps):
        found["apps"].append(_app(developer, reviewer, number, f"{receiver}/app/{number}"))
    if find_spec("stores.connected"):  # which no release before 0.4 has
        found["shop"] = _shop(developer, reviewer, apps)
    print(json.dumps(found))


def _counted_product(business: Any) -> dict[str, str]:
    """A product whose stock is counted."""
    from stores.models import Product

    product = Product.objects.filter(business=business, is_available=True).earliest("id")
    Product.objects.filter(pk=product.pk).update(stock=STOCK)
    return {"product": str(product.pk), "product_slug": product.slug}


def _app(developer: Any, reviewer: Any, number: int, url: str) -> dict[str, Any]:
    from extensions.services.manifests import save_manifest
    from extensions.submission import submit_app
    from marketplace.services import reviews
    from marketplace.services.apps import create_app

    redirect = f"https://app{number}.example.com/callback"
    issued = create_app(
        developer=developer,
        name=f"App {number}",
        slug=f"app-{number}",
        description="Listens to orders.",
        category="other",
        scopes=SCOPES,
        redirect_url=redirect,
        webhook_url=url,
        webhook_events=EVENTS if url else [],
    )
    hooks = [{"hookPoint": point, "url": "/hook", "timeout": 2000} for point in HOOKS.get(number, ())]
    if hooks:
        save_manifest(app=issued.app, developer=developer, document={"hooks": hooks})
    issued.app.refresh_from_db()
    submission = submit_app(app=issued.app, developer=developer, how_to_test="Place an order.")
    reviews.take(submission=submission, reviewer=reviewer)
    reviews.approve(submission=submission, reviewer=reviewer)
    return {
        "number": number,
        "client_id": issued.app.client_id,
        "client_secret": issued.client_secret,
        "redirect": redirect,
    }


def _shop(developer: Any, reviewer: Any, number: int) -> dict[str, Any]:
    """A connection with a store, on which an app is installed that only reads."""
    from accounts.services import shops
    from installations.services.lifecycle import Terms, install
    from marketplace.models import App
    from stores.connected.stores import open_store

    made_app = _app(developer, reviewer, number, "")
    app = App.objects.get(client_id=made_app["client_id"])
    made = shops.connect(name="Soak")
    store = open_store(
        system=made.system, external_id="main", values={"name": "Connected", "currency": "USD"}
    )
    terms = Terms(is_test=False, granted_scopes=app.approved_scopes, agreed_version=app.approved_version)
    issued = install(app=app, business=store.business, installed_by=store.business.owner, terms=terms)
    return {"key": made.key, "token": issued.access_token, "app": made_app}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
