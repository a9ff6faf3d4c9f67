"""What the pictures of `tools.screenshots` show: what `make demo` writes, and what a demo can't show, on the same people.

Nothing is imported before `seed` is called, since Django is set up on a database of the run's own first.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tools.screenshots.cast_apps import add_apps
from tools.screenshots.cast_reviews import add_reviews
from tools.screenshots.cast_stores import add_stores

APPS = {
    "bell": "order-bell", "quotes": "parcel-quotes", "shelf": "shelf-watch", "stamps": "stamp-card", "tables": "table-plan",
    "till": "till-bridge", "notes": "thank-you-notes", "ledger": "tax-ledger",
}  # fmt: skip
NOBODY = "priya.raghunathan-subramaniam@long-company-name.example.com"
BAD_MANIFEST = """{
  "blocks": [{ "blockType": "stars", "name": "Star rating", "renderURL": "http://127.0.0.1:9/block" }],
  "hooks": [{ "hookPoint": "checkout.shipping_rate", "url": "/hooks/rates", "timeout": 60000 }]
}"""
OTHER_MANIFEST = """{
  "blocks": [
    { "blockType": "recent_orders", "name": "Just ordered", "category": "Orders", "renderUrl": "http://127.0.0.1:9/block" },
    { "blockType": "badge", "name": "Trust badge", "renderUrl": "http://127.0.0.1:9/badge" }
  ],
  "hooks": [{ "hookPoint": "order.calculate_discounts", "url": "/hooks/discounts" }]
}"""


def seed(sample_app: Any = None) -> SimpleNamespace:
    """Everybody by the first name, apps by `APPS`, and the rest by names of its own.

    Devi is a developer, Mary has the bakery, Rae reviews. `sample_app` is a `SampleApp` to start; without it nothing answers for
    the app.
    """
    from accounts.models import User
    from config.demo.people import merchants_shop
    from config.management.commands.demo import begin
    from installations.models import Installation
    from marketplace.models import App

    url = sample_app.url if sample_app else "http://127.0.0.1:9"
    credentials = begin(state_file=sample_app.state_file if sample_app else Path("nothing"), url=url)
    assert credentials
    if sample_app:
        sample_app.start(credentials)
    cast = SimpleNamespace(**{each.name.split()[0].lower(): each for each in User.objects.all()})
    cast.shop = merchants_shop()
    vars(cast).update({name: App.objects.get(slug=slug) for name, slug in APPS.items()})
    cast.at_shop = {"bell": Installation.objects.get(app=cast.bell, business=cast.shop)}
    cast.on_sandbox = Installation.objects.get(app=cast.bell, business__owner=cast.devi)
    cast.token = credentials.stores[0][0]  # of the sandbox
    add_people(cast)
    add_stores(cast)
    add_apps(cast)
    add_reviews(cast)
    return cast


def add_people(cast: SimpleNamespace) -> None:
    """A developer and a merchant who have nothing yet, a second factor, a second reviewer, and those who are invited."""
    from accounts.enums import Role
    from accounts.models import Staff
    from accounts.services import create_reviewer, register
    from accounts.services.staff import STAFF
    from config.demo.people import PASSWORD
    from marketplace.models import Membership
    from marketplace.services import members
    from marketplace.services.members import MEMBERS
    from tests.accounts.second_factor import set_up_app

    def person(name: str, role: Role, **fields: Any) -> Any:
        email = f"{name.split()[0].lower()}@example.com"
        return register(email=email, password=PASSWORD, name=name, role=role, **fields).user

    cast.sam = person("Sam Lindqvist", Role.DEVELOPER)
    cast.theo = person("Theo Marchetti", Role.DEVELOPER)
    set_up_app(cast.theo)
    cast.nell = person("Nell Whitaker", Role.MERCHANT, business_name="Whitaker Candles")
    cast.otto = create_reviewer(email="otto@example.com", name="Otto Weiss")
    cast.staff_row, cast.staff_links = Staff.objects.get(user=cast.aiko), {}
    cast.membership, cast.links = Membership.objects.get(user=cast.kim), {}
    for name, to_app, to_store in (
        ("known", cast.sam.email, cast.tom.email),
        ("nobody", NOBODY, "rosalind.featherstonehaugh@long-company-name.example.com"),
    ):
        member = MEMBERS.invite(cast.bell, by=cast.devi, email=to_app, role="DEVELOPER")
        cast.links[name] = MEMBERS.token_of(Membership.objects.get(pk=member.id))
        row = STAFF.invite(cast.shop, by=cast.mary, email=to_store, role="ORDERS")
        cast.staff_links[name] = STAFF.token_of(Staff.objects.get(pk=row.id))
    members.offer_transfer(app=cast.bell, by=cast.devi, email=cast.kim.email)
