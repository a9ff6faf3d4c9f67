"""The portal's page **Release**, and who else sees a release (contract, section 10)."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from extensions.enums import CallOutcome
from extensions.models import HookCall
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.enums import AppStatus
from marketplace.models import App, Release
from marketplace.services import releases, reviews
from tests import factories
from tests.developers.api.releases.rolling import POINT, call
from tests.merchants.pages import installed, page_of
from tests.pages import main_words_of, signed_in, text_of, unescaped

pytestmark = pytest.mark.long

RELEASES = "Contract 10 Releases"
PAGE = "/portal/apps/stars/release/"


def approve(app: App, mode: str = "STEPS", **fields: str) -> App:
    App.objects.filter(pk=app.pk).update(status=AppStatus.DRAFT, **fields)
    submission = factories.submit(App.objects.get(pk=app.pk), release=mode)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)


@pytest.fixture
def rolling(stars: App, shop: Business) -> App:
    """Version 2 in the store of one of three merchants."""
    first = approve(stars)
    installed(first, shop)
    for name in ("needle", "olga"):
        installed(first, Business.objects.get(owner=factories.merchant(f"{name}@example.com")))
    return approve(stars, version="2.0.0")


def buttons(client: Client) -> list[str]:
    page = text_of(client.get(PAGE))
    return [
        each
        for each in ("Advance", "Halt", "Resume", "Take back")
        if each in page.split("What you can do")[-1]
    ]


def press(client: Client, action: str) -> str:
    return unescaped(client.post(f"{PAGE}move/", {"action": action}, follow=True))


@pytest.mark.spec(RELEASES, "The page has the buttons of the state and no others; Take back asks once")
def test_buttons(rolling: App, dana: User) -> None:
    client = signed_in(dana)
    assert buttons(client) == ["Advance", "Halt", "Take back"]
    assert "Halted by Dana." in press(client, "halt")
    assert buttons(client) == ["Resume", "Take back"]
    assert "The release is halted, so it can't go on to the next step." in press(client, "advance")
    assert "The step begins again" in press(client, "resume")
    for _ in range(3):
        press(client, "advance")
    assert "3 of 3" in text_of(client.get(PAGE))
    assert "every store runs version 1.4.0" in text_of(client.get(f"{PAGE}take-back/"))
    assert releases.release_of(rolling).state == "COMPLETE", "it asked"  # type: ignore[union-attr]
    assert "Every store runs the version before" in text_of(client.post(f"{PAGE}take-back/", follow=True))
    assert "Taken back" in text_of(client.get("/portal/apps/stars/versions/"))
    assert "What you can do" not in text_of(client.get(PAGE))


@pytest.mark.spec(RELEASES, "A suspended app's release can only be taken back")
def test_buttons_while_the_app_is_suspended(rolling: App, dana: User) -> None:
    reviews.suspend(app=rolling, reviewer=factories.reviewer(), reason="It hangs.")
    client = signed_in(dana)
    assert buttons(client) == ["Take back"]
    assert "Every store runs the version before" in text_of(client.post(f"{PAGE}take-back/", follow=True))


@pytest.mark.spec(RELEASES, "A first version, and one that no longer runs, can't be taken back")
def test_buttons_where_there_is_no_way_back(stars: App, dana: User) -> None:
    client = signed_in(dana)
    first = approve(stars).approved_version
    assert first
    assert "What you can do" not in text_of(client.get(PAGE))
    approve(stars, version="2.0.0", mode="ALL")
    assert buttons(client) == ["Take back"]
    client.post(f"/portal/apps/stars/versions/{first.number}/restore/")
    assert App.objects.get().approved_version == first
    assert "What you can do" not in text_of(client.get(PAGE))
    assert client.get(f"{PAGE}take-back/").status_code == 302


def test_page_names_the_stores_that_have_the_new_version(rolling: App, dana: User) -> None:
    client = signed_in(dana)
    [first] = Installation.objects.filter(runs=rolling.rolling_version_id).select_related("business")
    assert f"These have it {first.business.name}" in main_words_of(client.get(PAGE))
    for _ in range(3):
        press(client, "advance")
    assert "These have it" not in text_of(client.get(PAGE)), "all have it"


def test_second_press_skips_no_step(rolling: App, dana: User) -> None:
    client = signed_in(dana)
    shown = re.search('name="step" value="([0-9]+)"', text_of(client.get(PAGE)))
    assert shown
    for _ in range(2):
        client.post(f"{PAGE}move/", {"action": "advance", "step": shown[1]})
    assert releases.release_of(rolling).percent == 5  # type: ignore[union-attr]


def test_before_the_first_approval(stars: App, dana: User, sam: User) -> None:
    client = signed_in(dana)
    assert "No approved version yet" in text_of(client.get(PAGE))
    assert client.get(f"{PAGE}take-back/").status_code == 302
    assert signed_in(sam).get(PAGE).status_code == 404


def plots(client: Client) -> dict[str, list[list[str]]]:
    """The tables behind the plots: the newest hour or day first."""
    found = {}
    for figure in re.findall(r"<figure.*?</figure>", unescaped(client.get(PAGE)), re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", figure, re.DOTALL)
        title = words(re.findall(r"<h3.*?</h3>", figure, re.DOTALL)[0])
        found[title] = [
            [words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows
        ]
    return found


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_approval_has_the_same_time_as_in_the_review(rolling: App, dana: User) -> None:
    """Also where the release began later, and the stores are those of that time."""
    approved = timezone.now() - timedelta(days=5)
    version = Release.objects.get(version__version="2.0.0").version
    type(version).objects.filter(pk=version.pk).update(approved_at=approved)
    page = main_words_of(signed_in(dana).get(PAGE))
    assert f"approved {approved.astimezone():%-d %b %Y}" in page
    assert "No store had the app at the approval" in page


@pytest.mark.spec(RELEASES, "Two plots side by side: failures and p95, of the new version and of the old one")
@pytest.mark.usefixtures("stopped_clock")
def test_plots(rolling: App, dana: User) -> None:
    """By hours, as long as the release is young; and they are kept when it ends."""
    client = signed_in(dana)
    assert "No calls since the approval." in (empty := text_of(client.get(PAGE)))
    assert '<svg class="plot"' not in empty  # no axis is made up
    Release.objects.update(started_at=timezone.now() - timedelta(hours=2))
    new, old = sorted(Installation.objects.with_app(), key=lambda each: not each.is_in_release)[:2]
    factories.hook(rolling, POINT)
    Installation.objects.filter(pk=new.pk).update(followed_at=timezone.now() - timedelta(hours=2))
    call(new, number=3, took=80)
    call(new, outcome=CallOutcome.TIMEOUT, took=5000)
    call(old, number=8, took=40)
    call(old, number=2, took=90)
    HookCall.objects.filter(duration_ms=90).update(called_at=timezone.now() - timedelta(hours=1))
    shown = plots(client)
    assert [row[1:] for row in shown["Failures"]] == [
        ["New version", "Old version"], ["25%", "0%"], ["–", "0%"], ["–", "–"],
    ]  # fmt: skip
    assert [row[1:] for row in shown["p95"][1:]] == [["5,000 ms", "40 ms"], ["–", "90 ms"], ["–", "–"]]
    page = text_of(client.get(PAGE))
    assert "1 of 4" in page
    assert "0 of 10" in page
    releases.take_back(app=rolling, by=dana)
    follow_all()
    HookCall.objects.all().delete()
    assert plots(client) == shown


@pytest.mark.spec(RELEASES, "Steps are chosen at the submission, once there is a version to compare with")
def test_choice_at_submission(stars: App, dana: User) -> None:
    client, page = signed_in(dana), "/portal/apps/stars/review/submit/"
    assert "All stores at once" not in text_of(client.get(page))
    approve(stars)
    App.objects.update(status=AppStatus.DRAFT, version="2.0.0")
    assert "All stores at once" in text_of(client.get(page))
    client.post(page, {"version": "2.0.0", "release": "STEPS"})
    assert stars.submissions.get(status="PENDING_REVIEW").release == "STEPS"


@pytest.mark.spec(RELEASES, "The merchant reads which version the store runs")
def test_merchant(rolling: App) -> None:
    shown = {}
    for each in Installation.objects.with_app():
        page = text_of(signed_in(each.business.owner).get(page_of(each)))
        shown[each.is_in_release] = ("version 2.0.0" in page, "version 1.4.0" in page)
    assert shown == {True: (True, False), False: (False, True)}


@pytest.mark.spec(RELEASES, "Reviewers see releases that halted")
def test_reviewer(rolling: App) -> None:
    other = factories.app(factories.developer("o@example.com"), name="Other app")
    factories.approve(other)
    releases.halt(app=rolling, reason="20 of 20 calls failed.")
    client = signed_in(factories.reviewer("root@example.com", is_superuser=True))
    listed = text_of(client.get("/admin/marketplace/app/?marketplace=halted"))
    assert "Loyalty Stars" in listed
    assert "Other app" not in listed
    assert "20 of 20 calls failed." in text_of(client.get(f"/admin/marketplace/app/{rolling.pk}/change/"))
