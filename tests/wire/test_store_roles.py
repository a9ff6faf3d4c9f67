"""Every page under `/merchant/` with every role in a store, against a table that is written down here.

The URLs come from the URL conf, so one without a row fails. `/oauth/authorize` and frames are in `tests/merchants/test_staff.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from django.core.signing import Signer
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize

from accounts.enums import StoreRole
from accounts.models import Business, User
from accounts.services import staff
from common.web.forms import stamps
from common.web.methods import methods_of
from extensions.enums import ExtensionType
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.pages import signed_in

pytestmark = pytest.mark.django_db

# The roles that get past the question. `both` has a store of their own and the role ORDERS in this one.
ALL: Final = ("OWNER", "MANAGER", "ORDERS", "both")
MANAGE: Final = ("OWNER", "MANAGER")
OWN: Final = ("OWNER",)
NO_MORE: Final = ("removed", "stranger")
ROLES: Final = {"OWNER": "Owner", "MANAGER": "Manager", "ORDERS": "Orders", "both": "Orders"}

# Pages of a person, not of a store.
PERSONAL: Final = {
    "businesses", "business_add", "business_switch", "business_leave", "invitation", "invitation_register",
}  # fmt: skip
FOR_ORDERS: Final = {
    "home", "notices", "orders", "orders_export", "orders_move", "order_news", "order", "packing_slip", "order_status", "order_cancel",
    "order_refund", "order_note", "reviews", "review_delete", "customers", "customer_erasure",
}  # fmt: skip
FOR_MANAGERS: Final = {
    "products", "product_add", "product", "product_stock", "product_archive", "product_restore", "product_delete", "store", "view_store",
    "customer_export", "customer_erase", "scripts", "scripts_export", "pages", "page_add", "page_picture", "page_delete", "page_editor", "preview_text", "page_undo", "add_block", "save_block",
    "preview_block", "move_block", "remove_block",
    "installed", "installation", "activity", "reconsent", "app_settings", "checkout", "checkout_refusal", "hook_reset", "embeds",
    "embed_settings", "place_block", "admin_page", "session_token", "pause", "resume", "uninstall", "receipt",
}  # fmt: skip
FOR_THE_OWNER: Final = {"staff", "staff_role", "staff_remove"}
TABLE: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(FOR_ORDERS, ALL),
    **dict.fromkeys(FOR_MANAGERS, MANAGE),
    **dict.fromkeys(FOR_THE_OWNER, OWN),
}
NOTHING: Final = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"


def routes() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Name, path with its parameters, and view."""
    for each in _below("", get_resolver("merchants.urls").url_patterns):
        if each[1].startswith("/merchant/"):
            yield each


def _below(
    before: str, patterns: list[URLPattern | URLResolver]
) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    for each in patterns:
        form = before + normalize(each.pattern.regex.pattern)[0][0]
        if isinstance(each, URLResolver):
            yield from _below(form, each.url_patterns)
        else:
            yield str(each.name), f"/{form}", each.callback


def test_every_page_has_a_row() -> None:
    assert {name for name, _, _ in routes()} == PERSONAL | TABLE.keys()


@pytest.fixture
def shop(mira: User) -> Business:
    return factories.business(mira, name="Corner Café", slug="corner")


@pytest.fixture
def people(shop: Business, mira: User) -> dict[str, User]:
    cast = {name: factories.merchant_without_store(f"{name}@example.com") for name in ("MANAGER", "ORDERS")}
    cast |= {name: factories.merchant(f"{name}@example.com", name=name) for name in ("both", *NO_MORE)}
    factories.staff(shop, cast["MANAGER"], StoreRole.MANAGER)
    factories.staff(shop, cast["ORDERS"], StoreRole.ORDERS)
    factories.staff(shop, cast["both"], StoreRole.ORDERS)
    gone = factories.staff(shop, cast["removed"], StoreRole.MANAGER)
    staff.remove(business=shop, by=mira, member_id=gone.pk)
    return {"OWNER": mira} | cast


@pytest.fixture
def objects(shop: Business, dana: User, people: dict[str, User]) -> dict[str, str]:
    """Real ones, for the parameters of paths."""
    app = factories.app(dana)
    factories.approve(app)
    installed = factories.installation(app, shop)
    content = {"title": "Summary", "pageId": "summary", "renderUrl": "https://app.example.com/summary"}
    factories.definition(installed.app, ExtensionType.ADMIN_PAGE, "summary", content)
    product = factories.product(shop)
    member = staff.invite(business=shop, by=shop.owner, email="kim@example.com", role="ORDERS")
    return {
        "order_id": str(factories.order(shop).pk),
        "product_id": str(product.pk),
        "review_id": str(create_review(product=product, rating=4, author_name="Ann", comment="").pk),
        "page_id": str(create_page(business=shop, title="About").pk),
        "installation_id": str(installed.pk),
        "member_id": str(member.id),
        "point": "order.validate",
    }


def url_of(path: str, objects: dict[str, str]) -> str:
    values = dict(objects)
    if "/apps/" in path:
        values["page_id"] = "summary"
    return re.sub(r"%\((\w+)\)s", lambda found: values.get(found[1], NOTHING), path)


def ask(
    browser: Client, method: str, path: str, objects: dict[str, str], person: User, shop: Business
) -> Any:
    """The object says which store is meant. Without one, the address names it, and so does the stamp of a form."""
    url, names_object = url_of(path, objects), "%(" in path
    if method == "GET":
        return browser.get(url, {} if names_object else {"store": shop.slug})
    stamp = Signer(salt=stamps.SALT).sign(f"{person.pk} {shop.pk} {url}")
    return browser.post(url, {} if names_object else {stamps.FIELD: stamp})


@pytest.mark.long
@pytest.mark.spec(
    "Contract 11 Staff", "MANAGER, ORDERS and strangers may do what the table says, at every page"
)
def test_every_role_may_do_what_the_table_says(
    people: dict[str, User], shop: Business, objects: dict[str, str]
) -> None:
    """A refusal of the role is a 403 that names it. A request that gets past may fail for other reasons: the forms here are empty."""
    wrong, asked = [], 0
    for role, person in people.items():
        browser = signed_in(person)
        for name, path, view in routes():
            if name in PERSONAL:
                continue
            for method in sorted(set(methods_of(view)) & {"GET", "POST"}):
                if method == "POST" and name in ENDS and role in TABLE[name]:
                    continue  # it would work, and take the next one's object away
                answer = ask(browser, method, path, objects, person, shop)
                asked += 1
                text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()
                if role in NO_MORE:
                    right = answer.status_code in (404, 409) and shop.name not in text
                elif role in TABLE[name]:
                    right = answer.status_code != 403 and "Your role in" not in text
                else:
                    right = (
                        answer.status_code == 403 and f"Your role in Corner Café is {ROLES[role]}." in text
                    )
                if not right:
                    wrong.append(f"{role} {method} {name}: {answer.status_code}")
    assert not wrong
    assert asked > 350


ENDS: Final = {
    "order_cancel", "product_delete", "product_archive", "review_delete", "page_delete", "uninstall", "staff_remove",
}  # fmt: skip
