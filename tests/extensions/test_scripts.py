"""Scripts of listed apps are watched: what they serve, what changes, and what isn't what its developer pinned."""

import gzip
from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import timedelta
from hashlib import sha384
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from extensions.models import ScriptChange, WatchedScript
from extensions.script_content import MAX_SIZE
from extensions.services import scripts
from extensions.services.manifests import save_manifest
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import update_app
from tests import factories
from tests.developers.review.reviewing import QUEUE, client_of, page_of
from tests.extensions.manifests import script, widget
from tests.merchants.pages import installed
from tests.pages import HTML, signed_in, text_of, words_of
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import STORES_HOST

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timed,
    pytest.mark.usefixtures("mails_leave_at_once"),
]

HOUR = timedelta(hours=1)
FIRST, SECOND = b"console.log('stars')\n", b"console.log('Stars')\n"


def served(body: bytes, **headers: str) -> Answer:
    return Answer(body=body, headers={"Content-Type": "text/javascript", **headers})


def pin(body: bytes) -> str:
    return f"sha384-{b64encode(sha384(body).digest()).decode()}"


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def server() -> Iterator[Receiver]:
    with Receiver() as running:
        running.respond_with(served(FIRST))
        yield running


@pytest.fixture
def app(dana: User, server: Receiver) -> App:
    return factories.app(dana, name="Loyalty Stars", slug="stars", scopes=["read_products"])


class Hours:
    """Goes from one look to the next."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self, count: int = 1, *, each: timedelta = HOUR) -> None:
        for _ in range(count):
            self.now = max(self.now, timezone.now()) + each
            scripts.look_at_due(now=self.now)


@pytest.fixture
def hours() -> Hours:
    return Hours()


def approved(app: App, server: Receiver, scripts: Sequence[Any] = (), **fields: Any) -> App:
    """A version with such a script, or these, approved by a reviewer."""
    scripts = scripts or [script(scriptUrl=f"{server.url}count.js", **fields)]
    document = {"embeds": [*scripts, widget()]}
    save_manifest(app=app, developer=app.developer, document=document)
    app = update_app(app=app, changes={"version": f"{app.versions.count() + 1}.0.0"})
    submission = reviews.submit(app=app, developer=app.developer)
    reviewer = factories.reviewer()
    reviews.take(submission=submission, reviewer=reviewer)
    reviews.approve(submission=submission, reviewer=reviewer)
    return App.objects.get(pk=app.pk)


def portal(app: App, user: User) -> str:
    return words_of(signed_in(user).get(f"/portal/apps/{app.slug}/scripts/", **HTML))


def has_script(shop: Business) -> bool:
    return 'count.js"' in home_of(shop)


def home_of(shop: Business) -> str:
    visitor = Client(SERVER_NAME=STORES_HOST, headers=HTML)
    return text_of(visitor.get(f"/store/{shop.slug}/"), 200)


def subjects() -> list[str]:
    return [each.subject for each in mail.outbox]


@pytest.mark.long
@pytest.mark.spec(
    "Design 2",
    "What a script in force serves is fetched at the approval and each hour; a changed byte is seen",
)
def test_one_changed_byte_is_seen_by_developer_and_reviewers(
    app: App, server: Receiver, hours: Hours, dana: User, sam: User, shop: Business
) -> None:
    app = approved(app, server)
    other = factories.app(sam, name="Quiet")
    factories.approve(other)
    mail.outbox.clear()
    hours(each=timedelta(0))
    (request,) = server.requests
    assert (request.method, request.target) == ("GET", "/count.js")
    hours(3)
    assert len(server.requests) == 4
    assert "Unchanged" in portal(app, dana)
    assert mail.outbox == []

    server.respond_with(served(SECOND))
    hours()
    (change,) = ScriptChange.objects.all()
    assert change.before != change.after
    (told,) = mail.outbox
    assert (told.to, told.subject) == ([dana.email], "Loyalty Stars: a script has changed")
    assert f"{server.url}count.js" in told.body
    page = portal(app, dana)
    assert "1 change" in page
    assert change.after in page
    assert signed_in(sam).get(f"/portal/apps/{app.slug}/scripts/", **HTML).status_code == 404
    rae = client_of(factories.reviewer("rae@example.com", is_superuser=True))
    assert change.after in words_of(rae.get(page_of(app), **HTML))
    queue = words_of(rae.get(QUEUE, **HTML))
    assert "1 script of listed apps changed in the last 7 days" in queue
    assert "count.js" not in words_of(rae.get(page_of(other), **HTML))
    installed(app, shop)
    assert has_script(shop)


def test_it_is_fetched_as_a_shoppers_browser_would(
    app: App, server: Receiver, hours: Hours, shop: Business
) -> None:
    app = approved(app, server)
    installed(app, shop)
    hours(each=timedelta(0))
    headers = server.requests[0].headers
    assert headers["user-agent"].startswith("Mozilla/5.0 (")
    assert headers["sec-fetch-dest"] == "script"
    assert "content-type" not in headers
    assert not [name for name in headers if "service" in name or "webhook" in name]
    assert "platform" not in headers["user-agent"].lower()


@pytest.mark.long
def test_script_that_changes_at_each_look_is_mailed_once_a_day(
    app: App, server: Receiver, hours: Hours
) -> None:
    approved(app, server)
    mail.outbox.clear()
    for number in range(31):
        server.respond_with(served(b"%d" % number))
        hours()
    assert ScriptChange.objects.count() == 30
    assert subjects() == ["Loyalty Stars: a script has changed"] * 2


@pytest.mark.long
@pytest.mark.spec(
    "Design 2", "A script whose integrity no longer matches is off pages at the next view, and comes back"
)
def test_pinned_script_leaves_pages_while_it_does_not_match(
    app: App, server: Receiver, hours: Hours, dana: User, shop: Business, mira: User
) -> None:
    app = approved(app, server, integrity=pin(FIRST))
    installation = installed(app, shop)
    mail.outbox.clear()
    assert has_script(shop)  # before the first look
    hours(each=timedelta(0))
    assert has_script(shop)

    server.respond_with(served(SECOND))
    hours()
    assert not has_script(shop)
    assert 'class="widget"' in home_of(shop)
    assert subjects() == ["Loyalty Stars: a script isn’t on stores’ pages any more"]
    assert "Not on pages: it isn’t what you pinned" in portal(app, dana)
    assert "Not what was pinned" in words_of(
        signed_in(mira).get(f"/merchant/apps/{installation.pk}/embeds/", **HTML)
    )
    inventory = words_of(signed_in(mira).get("/merchant/scripts/", **HTML))
    assert "Visit counter of Loyalty Stars : its content isn’t what its developer pinned" in inventory

    server.respond_with(served(FIRST))
    hours(each=timedelta(minutes=5))  # sooner than after an hour
    assert has_script(shop)
    assert "Unchanged" not in portal(app, dana)
    assert subjects()[1:] == ["Loyalty Stars: a script is on stores’ pages again"]


@pytest.mark.long
def test_each_of_several_pins_of_a_script_counts(
    app: App, server: Receiver, hours: Hours, dana: User, shop: Business
) -> None:
    """As while two versions are in force, or where a manifest names a script twice."""
    url = f"{server.url}count.js"
    both = [
        script(embedType=each, scriptUrl=url, integrity=pin(body))
        for each, body in (("a", FIRST), ("b", SECOND))
    ]
    app = approved(app, server, both)
    installed(app, shop)
    mail.outbox.clear()
    hours(2, each=timedelta(minutes=5))
    assert home_of(shop).count("count.js") == 1
    assert subjects() == ["Loyalty Stars: a script isn’t on stores’ pages any more"]
    assert pin(SECOND) in mail.outbox[0].body
    assert pin(FIRST) not in mail.outbox[0].body
    assert portal(app, dana).count("(it serves something else)") == 1

    server.respond_with(served(b"another"))
    hours(2, each=timedelta(minutes=5))
    assert "count.js" not in home_of(shop)
    assert len(mail.outbox) == 2
    assert pin(FIRST) in mail.outbox[1].body


def test_pin_that_never_matched_is_told_at_the_first_look(
    app: App, server: Receiver, hours: Hours, shop: Business
) -> None:
    app = approved(app, server, integrity=pin(SECOND))
    installed(app, shop)
    mail.outbox.clear()
    hours(each=timedelta(0))
    assert subjects() == ["Loyalty Stars: a script isn’t on stores’ pages any more"]
    assert not has_script(shop)


@pytest.mark.long
def test_new_pin_of_a_known_script_is_compared_at_once(
    app: App, server: Receiver, hours: Hours, dana: User
) -> None:
    app = approved(app, server)
    hours(each=timedelta(0))
    mail.outbox.clear()
    approved(app, server, integrity=pin(SECOND))
    mail.outbox.clear()
    hours(each=timedelta(seconds=1))
    assert subjects() == ["Loyalty Stars: a script isn’t on stores’ pages any more"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=503), "the server responded 503"),
        (Answer(body=b"x" * 64, headers={"Content-Length": "99"}, close=True), "the response broke off"),
        (served(b"x" * (MAX_SIZE + 1)), "it is larger than 2 MiB"),
        (served(gzip.compress(b"x" * (MAX_SIZE + 1)), **{"Content-Encoding": "gzip"}), "it is larger than 2 MiB"),
        (served(gzip.compress(FIRST)[:-9], **{"Content-Encoding": "gzip"}), "its compression is broken"),
        (served(gzip.compress(FIRST)[:-8] + b"x" * 8, **{"Content-Encoding": "gzip"}), "its compression is broken"),
        (served(FIRST, **{"Content-Encoding": "gzip"}), "its compression is broken"),
        (served(b"", **{"Content-Encoding": "gzip"}), "its compression is broken"),
        (served(b"x", **{"Content-Encoding": "br"}), "compressed in a way that wasn’t asked for"),
        (Answer(status=302, headers={"Location": "http://10.0.0.1/"}), "the server responded 302"),
        (Answer(status=302, headers={"Location": "/count.js"}), "more than 3 redirects"),
    ],
)  # fmt: skip
def test_script_that_can_not_be_fetched_has_not_changed(
    app: App, server: Receiver, hours: Hours, dana: User, shop: Business, answer: Answer, words: str
) -> None:
    app = approved(app, server, integrity=pin(FIRST))
    installed(app, shop)
    hours(each=timedelta(0))
    mail.outbox.clear()
    server.respond_with(answer)
    hours()
    page = portal(app, dana)
    assert "Not reached" in page
    assert words in page
    assert "That is no change" in page
    assert has_script(shop)
    assert not ScriptChange.objects.exists()
    assert mail.outbox == []
    server.respond_with(served(FIRST))
    hours()
    assert "Not reached" not in portal(app, dana)


@pytest.mark.long
def test_server_that_fails_is_asked_less_and_less_and_each_hour_at_last(
    app: App, server: Receiver, hours: Hours
) -> None:
    approved(app, server)
    server.respond_with(503)
    asked = []
    for _ in range(5 * 12):
        before = len(server.requests)
        hours(each=timedelta(minutes=5))
        asked.append(len(server.requests) - before)
    after = [5 * minutes for minutes, count in enumerate(asked) if count]
    assert after == [0, 5, 10, 20, 40, 80, 140, 200, 260]
    server.respond_with(served(FIRST))
    hours(13, each=timedelta(minutes=5))
    assert WatchedScript.objects.get().problem == ""


def test_compressed_script_and_one_behind_a_redirect_are_read(
    app: App, server: Receiver, hours: Hours
) -> None:
    approved(app, server, integrity=pin(FIRST))
    hours(each=timedelta(0))
    server.respond_with(served(gzip.compress(FIRST), **{"Content-Encoding": "gzip"}))
    hours()
    server.respond_with(Answer(status=301, headers={"Location": "/v2.js"}))
    server.answer_at("/v2.js", served(FIRST))
    hours()
    row = WatchedScript.objects.get()
    assert (row.problem, row.is_unmatched, row.size) == ("", False, len(FIRST))
    assert not ScriptChange.objects.exists()


@pytest.mark.long
def test_scripts_that_no_store_runs_are_not_fetched(
    app: App, server: Receiver, hours: Hours, dana: User
) -> None:
    save_manifest(app=app, developer=dana, document={"embeds": [script(scriptUrl=f"{server.url}draft.js")]})
    scripts.find_scripts()
    hours()
    assert server.requests == []
    app = approved(app, server)
    App.objects.filter(pk=app.pk).update(suspended_at=timezone.now())
    hours()
    assert server.requests == []
    App.objects.filter(pk=app.pk).update(suspended_at=None)
    hours()
    assert len(server.requests) == 1
    save_manifest(app=app, developer=dana, document={"embeds": [widget()]})
    scripts.find_scripts()
    hours()
    assert len(server.requests) == 1
    assert "No script runs in stores" in portal(app, dana)


@pytest.mark.long
def test_operator_turns_it_off(
    app: App, server: Receiver, hours: Hours, shop: Business, dana: User, settings: Any
) -> None:
    app = approved(app, server, integrity=pin(SECOND))
    installed(app, shop)
    hours(each=timedelta(0))
    assert not has_script(shop)
    settings.WATCH_SCRIPTS = False
    assert has_script(shop)  # or it would stay away for good
    asked = len(server.requests)
    hours(2)
    assert len(server.requests) == asked
    assert "turned this off" in portal(app, dana)
