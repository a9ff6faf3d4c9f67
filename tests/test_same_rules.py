"""Rules that the product has twice, mostly in Python for one row and in SQL for many: both say the same of every row.

To hold another pair, add a row to `RULES`, and rows in all combinations that the rule could tell apart.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
import time_machine
from django.db.models import QuerySet

from accounts.models import Business, User
from common.errors import Conflict
from developers.review.templatetags.review import is_overdue
from extensions.in_store.capabilities import open_requests
from installations.models import (
    RECONSENT_REST,
    RUNS_WORKING_COPY,
    Installation,
    is_in_release,
    with_versions,
)
from marketplace.models import App, AppVersion, Submission
from marketplace.queries import REVIEW_DUE, overdue
from merchants.store.queries import LOW
from stores.enums import ProductStatus, is_low
from stores.models import Product
from stores.services.carts import shortage
from stores.services.pricing import OrderLine, read_basket
from tests import factories
from tests.webhooks.helpers import webhook
from webhooks import health, queries
from webhooks.enums import Stage
from webhooks.models import Webhook
from webhooks.services import notifications

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
SECOND = timedelta(seconds=1)
EITHER = (None, NOW)
SCOPES = ([], ["read_orders"])
EVENTS = ("order.created", "product.created", "business.data_erasure", "webhook.test")

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Cast:
    dana: User
    sam: User
    shop: Business
    sandbox: Business  # Dana's
    elsewhere: Business  # Sam's sandbox


@pytest.fixture
def cast(dana: User, sam: User, shop: Business, sandbox: Business) -> Cast:
    return Cast(dana, sam, shop, sandbox, Business.objects.sandbox_of(sam))


# --- Rows -----------------------------------------------------------------------------------------------


def apps(cast: Cast) -> None:
    for suspended, deleted, approved in product(EITHER, EITHER, (True, False)):
        app = factories.app(cast.dana, suspended_at=suspended, deleted_at=deleted)
        if approved:
            factories.approve(app)


def installations(cast: Cast) -> None:
    for ended, paused, suspended, deleted in product(EITHER, repeat=4):
        app = factories.app(cast.dana, suspended_at=suspended, deleted_at=deleted)
        factories.installation(app, cast.shop, uninstalled_at=ended, paused_at=paused)


def granted(cast: Cast) -> None:
    """Whatever decides about a scope. The installations have ended, so that a store may have many of one app."""
    for saved, approved in product(SCOPES, (None, *SCOPES)):
        app = factories.app(cast.dana, scopes=approved or [])
        if approved is not None:
            factories.approve(app)
        App.objects.filter(pk=app.pk).update(scopes=saved)
        for store, test, review, narrowed, held in product(
            (cast.shop, cast.sandbox, cast.elsewhere), (True, False), (True, False), (None, *SCOPES), SCOPES
        ):
            factories.installation(
                app, store, is_test=test, is_review=review, granted_scopes=held, narrowed_scopes=narrowed, uninstalled_at=NOW,
            )  # fmt: skip
    for of_versions in product(SCOPES, repeat=2):  # their release is halted
        app = factories.app(cast.dana)
        earlier, newest = (factories.approve(app, scopes=scopes) for scopes in of_versions)
        App.objects.filter(pk=app.pk).update(
            approved_version=earlier, earlier_version=earlier, rolling_version=newest
        )
        for followed in (earlier, newest):
            factories.installation(
                app, cast.shop, granted_scopes=["read_orders"], runs=followed, uninstalled_at=NOW
            )


def subscribed(cast: Cast) -> None:
    """All of that, and what an app and its webhook name: too much for every combination."""
    dice = random.Random(7)
    scopes = ([], ["read_orders"], ["read_products"], ["read_products", "read_orders"])
    names = ([], [], ["order.created"], ["product.created", "order.created"], ["review.created"])
    rarely = (NOW, *[None] * 8)
    for _ in range(60):
        developer = dice.choice((cast.dana, cast.sam))
        app = factories.app(developer, scopes=dice.choice(scopes), webhook_events=dice.choice(names))
        versions: list[AppVersion | None] = [None]
        if dice.random() < 0.8:
            versions += [factories.approve(app, scopes=dice.choice(scopes)) for _ in range(2)]
            if dice.random() < 0.6:  # a release is open: rolling or halted
                App.objects.filter(pk=app.pk).update(
                    earlier_version=versions[1],
                    rolling_version=versions[2],
                    approved_version=dice.choice(versions[1:]),
                )
        App.objects.filter(pk=app.pk).update(
            scopes=dice.choice(scopes), suspended_at=dice.choice(rarely), deleted_at=dice.choice(rarely)
        )
        installed = factories.installation(
            app,
            cast.sandbox,
            is_test=dice.random() < 0.6,
            is_review=dice.random() < 0.2,
            granted_scopes=dice.choice(scopes),
            narrowed_scopes=dice.choice((None, *scopes)),
            runs=dice.choice(versions),
            declined_version=dice.choice(versions),
            uninstalled_at=dice.choice(rarely),
        )
        webhook(installed, "https://app.example.com/", dice.choice(names))


def declined(cast: Cast) -> None:
    for at in (None, NOW - RECONSENT_REST, NOW - RECONSENT_REST + SECOND, NOW):
        app = factories.app(cast.dana)
        factories.installation(app, cast.shop, needs_reconsent=True, reconsent_declined_at=at)


def failing(cast: Cast) -> None:
    limits = (health.WARNED_AFTER, health.WARNED_AGAIN_AFTER)
    times = (None, *(NOW - limit + early for limit in limits for early in (timedelta(), SECOND)))
    installed = factories.installation(factories.app(cast.dana), cast.shop)
    for active, disabled, since, told in product((True, False), EITHER, times, Stage):
        webhook(
            installed, "https://app.example.com/", [],
            is_active=active, disabled_at=disabled, failing_since=since, notified_stage=told, notified_at=NOW,
        )  # fmt: skip


def products(cast: Cast) -> None:
    for stock, threshold in product((None, 0, 1, 4, 5, 6), (None, 0, 1, 5)):
        factories.product(cast.shop, stock=stock, low_stock_threshold=threshold)


def submissions(cast: Cast) -> None:
    for at in (NOW, NOW - REVIEW_DUE + SECOND, NOW - REVIEW_DUE, NOW - 2 * REVIEW_DUE):
        factories.submit(factories.app(cast.dana), submitted_at=at)


# --- Rules ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    rows: Callable[[Cast], None]
    of: QuerySet[Any]
    in_python: Callable[[Any], bool]
    in_sql: Callable[[Any], QuerySet[Any]]


INSTALLED = Installation.objects.with_app()
WEBHOOKS = Webhook.objects.select_related(*with_versions("installation__"), "installation__business")
RULES = {
    "app is listed": Rule(apps, App.objects.all(), lambda each: each.is_listed, lambda rows: rows.listed()),
    "installation is usable": Rule(
        installations, INSTALLED, lambda each: each.is_usable, lambda rows: rows.usable()
    ),
    "installation is running": Rule(
        installations, INSTALLED, lambda each: each.is_running, lambda rows: rows.running()
    ),
    "installation runs the working copy": Rule(
        granted, INSTALLED, lambda each: each.runs_working_copy, lambda rows: rows.filter(RUNS_WORKING_COPY)
    ),
    "installation has a scope": Rule(
        granted,
        INSTALLED,
        lambda each: "read_orders" in each.effective_scopes,
        lambda rows: rows.holding("read_orders"),
    ),
    "an open release has reached the installation": Rule(
        subscribed,
        INSTALLED,
        lambda each: each.is_in_release,
        lambda rows: rows.alias(reached=is_in_release()).filter(reached=True),
    ),
    "no rests": Rule(
        declined,
        INSTALLED,
        lambda each: not each.rests_after_decline(NOW),
        lambda rows: rows.filter(pk__in=[pk for pk, asks in open_requests(rows, NOW).items() if asks]),
    ),
    "webhook is failing": Rule(
        failing,
        Webhook.objects.all(),
        lambda each: health.stage(each, NOW) >= Stage.FAILING,
        lambda rows: rows.filter(health.failing(NOW)),
    ),
    "webhook is at a new stage": Rule(
        failing,
        Webhook.objects.all(),
        lambda each: health.stage(each, NOW) > each.notified_stage,
        lambda rows: notifications.unnotified(NOW),
    ),
    "stock is low": Rule(
        products,
        Product.objects.all(),
        lambda each: is_low(each.stock, each.low_stock_threshold),
        lambda rows: rows.filter(LOW),
    ),
    "review is overdue": Rule(
        submissions, Submission.objects.all(), is_overdue, lambda rows: rows.filter(overdue(NOW))
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_sql_says_the_same_as_python(name: str, cast: Cast) -> None:
    rule = RULES[name]
    rule.rows(cast)
    with time_machine.travel(NOW, tick=False):
        assert_same(rule.of.all(), rule.in_python, rule.in_sql)


@pytest.mark.long
@pytest.mark.parametrize("event", EVENTS)
def test_sql_says_the_same_as_python_of_who_gets_an_event(event: str, cast: Cast) -> None:
    """`publish` asks in SQL what dispatchers ask of one webhook in Python."""
    subscribed(cast)
    assert_same(
        INSTALLED.all(),
        lambda each: queries.may_learn_of(each, event),
        lambda rows: queries.entitled_to(event, Installation.objects.all()),
    )
    entitled = queries.entitled_to(event, Installation.objects.all())
    assert_same(
        WEBHOOKS.filter(installation__in=entitled),
        lambda each: event in queries.events_of(each, each.installation),
        lambda rows: queries.naming(event, rows),
        both=event in ("order.created", "product.created"),
    )


def assert_same(
    rows: QuerySet[Any],
    in_python: Callable[[Any], bool],
    in_sql: Callable[[Any], QuerySet[Any]],
    *,
    both: bool = True,
) -> None:
    """`both`: the rule is true of some rows and false of others, or the comparison would prove nothing."""
    expected = {row.pk for row in rows if in_python(row)}
    assert set(in_sql(rows).values_list("pk", flat=True)) == expected
    assert not both or 0 < len(expected) < rows.count()


def test_order_is_refused_for_what_a_cart_warns_of(shop: Business) -> None:
    refused, warned = [], []
    for status, available, stock, quantity in product(ProductStatus, (True, False), (None, 0, 1, 2), (1, 2)):
        made = factories.product(shop, status=status, is_available=available, stock=stock)
        warned.append(bool(shortage(made, quantity)))
        try:
            read_basket(shop, [OrderLine(made.pk, quantity)])
        except Conflict:
            refused.append(True)
        else:
            refused.append(False)
    assert refused == warned
    assert {*warned} == {True, False}


def test_webhooks_are_reset_together_as_alone(cast: Cast) -> None:
    failing(cast)
    alone = list(Webhook.objects.order_by("pk"))
    for each in alone:
        health.reset(each, NOW + SECOND)
    health.reset_all(Webhook.objects.all(), NOW + SECOND)
    names = ("judged_from", "failing_since", "notified_stage", "notified_at")
    assert list(Webhook.objects.order_by("pk").values_list(*names)) == [
        tuple(getattr(each, name) for name in names) for each in alone
    ]
