"""Every page and endpoint with every role on an app and in a store, and without one, against both tables.

`/oauth/authorize` and frames are in `tests/merchants/test_staff.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import pytest
from django.core.signing import Signer
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import Business, User
from accounts.services.staff import STAFF
from accounts.sign_in import tokens
from common.web.forms import stamps
from extensions.enums import ExtensionType
from marketplace.enums import AppRole, AppStatus
from marketplace.models import App
from marketplace.services.members import MEMBERS
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.endpoints_table import ENDPOINTS
from tests.pages import HTML, signed_in
from tests.pages_table import ENDS, IN_STORES, ON_APPS, OWNER, PAGES
from tests.wire.pages import routes

pytestmark = [pytest.mark.django_db, pytest.mark.long]

# The member of a call is another one, or none: all may remove their own row (`tests/developers/api/test_members.py`).
NOTHING: Final = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"


class Call(NamedTuple):
    name: str
    method: str
    path: str
    least: str  # role
    ends: bool = False

    def url(self, values: Mapping[str, str]) -> str:
        return re.sub(r"%\((\w+)\)s|<(\w+)>", lambda at: values.get(at[1] or at[2], NOTHING), self.path)


def pages(namespace: str) -> Iterator[Call]:
    for route in routes():
        if route.name.startswith(namespace):
            row = PAGES[route.name]
            for method, least in (("GET", row.reads), ("POST", row.writes)):
                yield Call(row.name, method, f"/{route.form}", least, method == "POST" and ENDS in row.marks)


OF_APPS: Final = [
    call
    for call in (*pages("portal:"), *(Call(str(e), e.method, f"/{e.route}", e.who) for e in ENDPOINTS))
    if call.least in ON_APPS
]
OF_STORES: Final = [
    call for call in pages("merchants:") if call.path.startswith("/merchant/") and call.least in IN_STORES
]
ENDS_THE_APP: Final = (OWNER, "DELETE developer/apps/<app_id>")


@dataclass(frozen=True)
class Cast:
    """People, by the role that each has on one app or in one store, or by why there is none."""

    ranks: tuple[str, ...]
    people: dict[str, tuple[User, str]]
    ask: Callable[..., Any]  # a call by a person, or without one
    refusal: str  # of a role, by its name
    unknown: str  # to a person without a role

    def wrong(self, calls: list[Call], absent: tuple[int, ...]) -> Iterator[str]:
        """A refusal of the role is a 403 that names it. A request that gets past may fail for other reasons: the forms here are empty."""
        for name, (person, role) in self.people.items():
            for call in calls:
                may = role in self.ranks and self.ranks.index(role) >= self.ranks.index(call.least)
                if (may and call.ends) or (role, call.name) == ENDS_THE_APP:
                    continue  # it would work, and take the next one's object away
                answer = self.ask(call, person)
                text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode(
                    errors="replace"
                )
                names_role = self.refusal.format(role.title(), role) in text
                if role not in self.ranks:
                    right = answer.status_code in absent and self.unknown not in text
                elif may:
                    right = answer.status_code != 403 and not names_role
                else:
                    right = answer.status_code == 403 and names_role
                if not right:
                    yield f"{name} {call.method} {call.name}: {answer.status_code}"


def browser_of(person: User | None) -> Client:
    return signed_in(person) if person else Client(headers=HTML)


@pytest.fixture
def stars(dana: User, settings: Any) -> App:
    settings.STEP_UP = False
    return factories.app(dana, name="Loyalty Stars", slug="stars")


@pytest.fixture
def on_app(stars: App, dana: User) -> Cast:
    others = ("DEVELOPER", "VIEWER", "removed", "invited", "stranger")
    people = {"OWNER": dana} | {
        name: factories.developer(f"{name.lower()}@example.com", name=name) for name in others
    }
    factories.member(stars, people["DEVELOPER"], AppRole.DEVELOPER)
    factories.member(stars, people["VIEWER"], AppRole.VIEWER)
    gone = factories.member(stars, people["removed"])
    MEMBERS.remove(stars, by=dana, member_id=gone.pk)
    MEMBERS.invite(stars, by=dana, email=people["invited"].email, role="DEVELOPER")
    values = {
        "slug": "stars", "app_id": str(stars.pk), "section": "access", "point": "order.validate", "number": "1",
    }  # fmt: skip

    @cache
    def client(person: User | None, by_token: bool) -> Client:
        if by_token and person:
            return Client(headers={"authorization": f"Bearer {tokens.issue(person).access}"})
        return browser_of(person)

    def ask(call: Call, person: User | None, body: str = "{}") -> Any:
        by_token = call.path.startswith("/developer/")
        kind = "application/json" if by_token else "application/x-www-form-urlencoded"
        return client(person, by_token).generic(call.method, call.url(values), body, content_type=kind)

    return Cast(
        ON_APPS,
        {name: (person, name) for name, person in people.items()},
        ask,
        "Your role on this app is {1}.",
        "Your role",
    )


@pytest.fixture
def shop(mira: User) -> Business:
    return factories.business(mira, name="Corner Café", slug="corner")


@pytest.fixture
def in_store(shop: Business, mira: User, objects: dict[str, str]) -> Cast:
    """`both` has a store, too, and so have those without a role."""
    cast = {
        name: factories.merchant_without_store(f"{name}@shop.example.com") for name in ("MANAGER", "ORDERS")
    }
    cast |= {
        name: factories.merchant(f"{name}@shop.example.com", name=name)
        for name in ("both", "removed", "stranger")
    }
    for name, role in (
        ("MANAGER", StoreRole.MANAGER), ("ORDERS", StoreRole.ORDERS), ("both", StoreRole.ORDERS), ("removed", StoreRole.MANAGER),
    ):  # fmt: skip
        row = factories.staff(shop, cast[name], role)
    STAFF.remove(shop, by=mira, member_id=row.pk)
    people = {"OWNER": (mira, OWNER)} | {
        name: (person, "ORDERS" if name == "both" else name) for name, person in cast.items()
    }

    browser_for = cache(browser_of)

    def ask(call: Call, person: User | None) -> Any:
        """The object says which store is meant. Without one, the address names it, and so does the stamp of a form."""
        page = {"page_id": "summary"} if "/apps/" in call.path else {}
        url, names_object = call.url(objects | page), "%(" in call.path
        browser = browser_for(person)
        if call.method == "GET":
            return browser.get(url, {} if names_object else {"store": shop.slug})
        stamp = Signer(salt=stamps.SALT).sign(f"{person.pk if person else 0} {shop.pk} {url}")
        return browser.post(url, {} if names_object else {stamps.FIELD: stamp})

    return Cast(IN_STORES, people, ask, "Your role in Corner Café is {0}.", shop.name)


@pytest.fixture
def objects(shop: Business, dana: User) -> dict[str, str]:
    """Real ones, for the parameters of paths."""
    app = factories.app(dana)
    factories.approve(app)
    installed = factories.installation(app, shop)
    content = {"title": "Summary", "pageId": "summary", "renderUrl": "https://app.example.com/summary"}
    factories.definition(installed.app, ExtensionType.ADMIN_PAGE, "summary", content)
    product = factories.product(shop)
    member = STAFF.invite(shop, by=shop.owner, email="kim@example.com", role="ORDERS")
    return {
        "order_id": str(factories.order(shop).pk),
        "customer_id": str(factories.order(shop, status="DELIVERED").pk),
        "product_id": str(product.pk),
        "review_id": str(create_review(product=product, rating=4, author_name="Ann", comment="").pk),
        "page_id": str(create_page(business=shop, title="About").pk),
        "installation_id": str(installed.pk),
        "member_id": str(member.id),
        "point": "order.validate",
    }


@pytest.mark.spec("Contract 2 Developer API", "Another developer's app is a 404, in the portal too")
@pytest.mark.spec("Contract 10 Releases", "A VIEWER gets 403 for every move, and another developer 404")
def test_every_role_on_an_app_may_do_what_the_tables_say(on_app: Cast) -> None:
    assert len(OF_APPS) * len(on_app.people) > 500
    assert not list(on_app.wrong(OF_APPS, absent=(404, 400)))


@pytest.mark.spec(
    "Contract 11 Staff", "MANAGER, ORDERS and strangers may do what the table says, at every page"
)
def test_every_role_in_a_store_may_do_what_the_table_says(in_store: Cast) -> None:
    assert len(OF_STORES) * len(in_store.people) > 350
    assert not list(in_store.wrong(OF_STORES, absent=(404, 409)))


@pytest.mark.spec("Contract 2 Developer API", "Another role than DEVELOPER is 403")
@pytest.mark.spec("Contract 7 Pages", "/merchant/ is for merchants, and developers with their sandbox")
def test_accounts_of_other_kinds_are_refused(on_app: Cast, in_store: Cast, mira: User) -> None:
    reviewer = factories.reviewer()
    answers = [
        (call.method, call.name, on_app.ask(call, person).status_code)
        for call in OF_APPS
        for person in (mira, reviewer)
    ]
    assert [each for each in answers if each[-1] != 403] == []
    in_store.people.clear()
    in_store.people["reviewer"] = reviewer, ""
    assert not list(in_store.wrong(OF_STORES, absent=(403, 404, 409)))
    assert browser_of(reviewer).get("/merchant/").status_code == 403


def test_who_is_signed_out_is_led_to_sign_in_and_back(on_app: Cast, in_store: Cast) -> None:
    for cast, calls in ((on_app, OF_APPS), (in_store, OF_STORES)):
        for call in calls:
            answer = cast.ask(call, None)
            if call.path.startswith("/developer/"):
                assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer"), call
            elif call.method == "GET":
                path = quote(answer.wsgi_request.get_full_path(), safe="/")
                assert answer["Location"] == f"/accounts/login/?next={path}", call
            else:
                assert answer["Location"].startswith("/accounts/login/"), call


@pytest.mark.spec("Contract 9 Precise points", "403 before 404 and 409")
def test_refusal_of_the_role_comes_before_what_the_state_refuses(
    on_app: Cast, stars: App, dana: User
) -> None:
    """Here the owner would get a 409 for most calls: the app is in review and suspended, and the member is its owner."""
    App.objects.filter(pk=stars.pk).update(status=AppStatus.PENDING_REVIEW, suspended_at=timezone.now())
    refused = [
        (role, call._replace(path=re.sub(r"(%\(|<)member_id(\)s|>)", str(dana.pk), call.path)))
        for role in ("DEVELOPER", "VIEWER")
        for call in OF_APPS
        if ON_APPS.index(role) < ON_APPS.index(call.least)
    ]
    answers = [
        (role, call.method, call.name, on_app.ask(call, on_app.people[role][0], "[1").status_code)
        for role, call in refused
    ]
    assert [each for each in answers if each[-1] != 403] == []
    assert len(answers) > 60
