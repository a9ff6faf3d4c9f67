"""What changed between two states of an app, field by field."""

import pytest

from accounts.models import User
from marketplace.differences import Difference, differences
from marketplace.models import FROZEN_FIELDS, App
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from tests import factories
from tests.pictures import upload

pytestmark = pytest.mark.django_db


def test_same_states_have_no_differences(app: App) -> None:
    assert differences(factories.approve(app), app) == []


@pytest.mark.long
def test_every_frozen_field_is_compared(app: App, dana: User) -> None:
    version = factories.approve(app)
    other = factories.app(
        dana,
        name="Other",
        description="Other.",
        category="pos",
        scopes=["read_pages"],
        redirect_url="https://other.example.com/",
        webhook_url="https://203.0.113.9/",
        version="9.0.0",
    )
    other = update_app(
        app=other,
        changes={
            "icon": decode(upload()),
            "screenshots": [decode(upload()), decode(upload())],
            "screenshot_alts": ["The dashboard."],
            "long_description": "More.",
            "support_url": "help@example.com",
            "privacy_url": "https://example.com/privacy",
            "data_countries": ["JP", "DE"],
            "data_retention_days": 0,
            "data_processors": "Mailer Ltd.",
        },
    )
    found = differences(version, other)
    assert [difference.field for difference in found] == list(FROZEN_FIELDS)
    told = {difference.field: (difference.label, difference.before, difference.after) for difference in found}
    assert told["category"] == ("Category", ("Other",), ("Point of sale",))
    assert told["webhook_url"] == ("Webhook URL", (), ("https://203.0.113.9/",))
    assert told["icon"] == ("Icon", (), (f"/media/pictures/{other.icon_id}",))
    assert told["screenshot_ids"][0] == "Screenshots"
    assert told["alt_texts"] == ("Screenshot descriptions", (), ("The dashboard.",))
    assert told["data_countries"] == ("Countries of the data", (), ("Germany", "Japan"))
    assert told["data_retention_days"] == ("Time that data is kept", (), ("0 days",))
    assert told["support_url"] == ("Support", (), ("mailto:help@example.com",))


def test_scopes_are_told_as_added_and_removed(app: App) -> None:
    version = factories.approve(app, scopes=["read_products", "read_orders"])
    app.scopes = ["read_pages", "read_orders", "read_analytics"]
    (difference,) = differences(version, app)
    assert difference.kind == "scopes"
    assert (difference.added, difference.removed) == (["read_analytics", "read_pages"], ["read_products"])
    assert not difference.is_new_order


def test_scopes_in_another_order_are_the_same(app: App) -> None:
    version = factories.approve(app, scopes=["read_orders", "read_products"])
    app.scopes = ["read_products", "read_orders"]
    assert differences(version, app) == []


def test_pictures_in_another_order_are_told_so(app: App) -> None:
    version = factories.approve(app, screenshot_ids=["a", "b"])
    app.screenshot_ids = ["b", "a"]
    (difference,) = differences(version, app)
    assert difference == Difference(
        "screenshot_ids",
        "Screenshots",
        "pictures",
        ("/media/pictures/a", "/media/pictures/b"),
        ("/media/pictures/b", "/media/pictures/a"),
    )
    assert difference.is_new_order


def test_json_shows_the_changed_lines_with_those_around_them() -> None:
    before = '{"type": "object", "properties": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}}'
    after = before.replace('"e": 5', '"e": 6')
    assert Difference("", "Settings", "json", (before,), (after,)).lines == [
        ("gap", "…"),
        ("same", '    "c": 3,'),
        ("same", '    "d": 4,'),
        ("was", '    "e": 5'),
        ("now", '    "e": 6'),
        ("same", "  }"),
        ("same", "}"),
    ]
    gone = Difference("", "Settings", "json", ('{"type": "object"}',), ()).lines
    assert gone == [("was", "{"), ("was", '  "type": "object"'), ("was", "}")]
