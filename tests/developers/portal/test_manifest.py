"""The portal's pages about the manifest, in a browser without JavaScript."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Business, User
from extensions.models import Definition, ManifestSave, Placement
from extensions.queries import manifest_document
from extensions.services.manifests import save_manifest
from marketplace.models import App
from stores.models import SitePage
from tests import factories
from tests.extensions.manifests import FLOODS, Document, block, full, hook, script, widget
from tests.pages import main_words_of, signed_in
from tests.receivers import Receiver

SCREEN = "Contract 6 Manifest"
PAGES = ("", "download/", "history/")


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


def path(app: App, ending: str = "") -> str:
    return f"/portal/apps/{app.slug}/manifest/{ending}"


def press(browser: Client, app: App, button: str, text: str | Document, **more: Any) -> Any:
    text = text if isinstance(text, str) else json.dumps(text, indent=2)
    return browser.post(path(app), {"manifest": text, button: "", **more}, follow=True)


def save(app: App, document: Document) -> None:
    save_manifest(app=app, developer=app.developer, document=document)


def typed(response: Any) -> str:
    return str(response.context["text"])


# --- Access ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", PAGES)
def test_pages_are_only_for_the_apps_developer(app: App, sam: User, mira: User, ending: str) -> None:
    save(app, full())
    assert "/accounts/login/" in Client().get(path(app, ending))["Location"]
    assert signed_in(mira).get(path(app, ending)).status_code == 403
    refused = signed_in(sam).get(path(app, ending))
    assert (refused.status_code, "stars.example.com" in refused.text) == (404, False)


def test_a_save_of_another_app_is_not_found(browser: Client, app: App, sam: User) -> None:
    other = factories.app(sam)
    save(other, full())
    foreign = ManifestSave.objects.get(app=other)
    for address in (f"history/{foreign.pk}/", f"?save={foreign.pk}", "history/none/"):
        assert browser.get(path(app, address)).status_code == 404


# --- The editor ---------------------------------------------------------------------------------------


def test_editor_shows_the_manifest_in_its_order(browser: Client, app: App) -> None:
    document = {"hooks": [hook()], "blocks": [block()]}
    save(app, document)
    response = browser.get(path(app))
    assert json.loads(typed(response)) == document
    assert list(json.loads(typed(response))) == ["hooks", "blocks"]
    assert "Star rating" in main_words_of(response)


def test_editor_shows_the_settings_forms(browser: Client, app: App) -> None:
    """The forms belong to the text, not to the saved manifest, and contain the defaults."""
    color = {"properties": {"tint": {"type": "string", "format": "color", "title": "Tint"}}}
    document = full() | {"blocks": [block(settingsSchema=color, defaultConfig={"tint": "#112233"})]}
    response = press(browser, app, "check", document)
    assert [title for title, _ in response.context["previews"]] == ["The app", "Block Star rating"]
    assert 'value="#112233"' in response.text
    identifiers = re.findall(r' id="([^"]+)"', response.text)
    assert len(identifiers) == len(set(identifiers))


def test_only_this_page_lets_the_editor_style_itself(browser: Client, app: App) -> None:
    policy = browser.get(path(app))["Content-Security-Policy"]
    assert "style-src 'self' 'nonce-" in policy
    assert "unsafe" not in policy
    assert "nonce" not in browser.get(path(app, "history/"))["Content-Security-Policy"]


@pytest.mark.spec(SCREEN, "The portal lists every problem with its line and path")
def test_check_lists_every_problem_and_keeps_the_text(browser: Client, app: App) -> None:
    text = '{\n  "blokcs": [],\n  "hooks": [{"hookPoint": "order.validat", "url": "/x"}]\n}'
    response = press(browser, app, "check", text)
    assert response.status_code == 422
    assert typed(response) == text
    shown = main_words_of(response)
    assert "2 problems in the manifest" in shown
    assert 'Line 2, blokcs : Unknown key. Did you mean "blocks"?' in shown
    assert "Line 3, hooks[0].hookPoint" in shown
    assert "<title>Error: " in response.text
    assert not ManifestSave.objects.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": }', "\x00"])
def test_text_that_is_no_object_is_kept_and_explained(browser: Client, app: App, text: str) -> None:
    for button in ("check", "save", "confirm", "format"):
        response = press(browser, app, button, text)
        assert (response.status_code, typed(response)) == (422, text)
    assert not ManifestSave.objects.exists()


def test_check_of_a_valid_text_shows_the_plan(browser: Client, app: App) -> None:
    response = press(browser, app, "check", full())
    assert response.status_code == 200
    assert "No problems Not saved yet." in main_words_of(response)
    assert [line.word for line in response.context["plan"].lines] == ["Added"] * 5
    assert not ManifestSave.objects.exists()


def test_format_changes_the_text_and_saves_nothing(browser: Client, app: App) -> None:
    response = press(browser, app, "format", '{"hooks":[]}')
    assert typed(response) == '{\n  "hooks": []\n}'
    assert not ManifestSave.objects.exists()


def test_uploaded_file_replaces_the_text(browser: Client, app: App) -> None:
    file = SimpleUploadedFile("manifest.json", b'\xef\xbb\xbf{"hooks": []}\r\n')
    assert typed(press(browser, app, "upload", "{}", file=file)) == '{"hooks": []}\n'


def test_text_that_is_too_long_is_refused(browser: Client, app: App) -> None:
    file = SimpleUploadedFile("manifest.json", b"x" * 3_000_000)
    assert "The text is too long" in main_words_of(press(browser, app, "upload", "{}", file=file))
    assert "262,144 bytes" in main_words_of(press(browser, app, "check", " " * 1_100_000 + "{}"))


def test_download_gives_the_manifest(browser: Client, app: App) -> None:
    save(app, full())
    response = browser.get(path(app, "download/"))
    assert response.json() == full()
    assert f'filename="{app.slug}-manifest.json"' in response["Content-Disposition"]


def test_problems_for_the_script_have_positions_and_fixes(browser: Client, app: App) -> None:
    text = '{"hooks": [{"hookPoint": "order.validat", "url": "/x"}]}'
    (problem,) = browser.post(path(app, "check/"), {"manifest": text}).json()["problems"]
    assert (problem["line"], problem["column"], problem["length"]) == (1, 26, 15)
    assert (problem["path"], problem["fix"]) == ("hooks[0].hookPoint", '"order.validate"')
    assert browser.post(path(app, "check/"), {"manifest": "{}"}).json() == {"problems": []}
    assert browser.get(path(app, "check/")).status_code == 405


@pytest.mark.spec(SCREEN, "However many problems there are, they are listed in bounded time")
@pytest.mark.slow  # some seconds each
@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_flood_of_problems_is_listed_in_bounded_time(browser: Client, app: App, text: str) -> None:
    began = time.process_time()
    answer = browser.post(path(app, "check/"), {"manifest": text})
    page = press(browser, app, "check", text)

    assert time.process_time() - began < 10
    assert 1 <= len(answer.json()["problems"]) <= 501
    assert len(answer.content) < 1_000_000
    assert page.status_code == 422
    assert len(page.content) < 3 * len(text) + 500_000  # which contains the text
    assert typed(page) == text


@pytest.mark.long
def test_all_problems_are_counted_and_the_first_listed(browser: Client, app: App) -> None:
    text = FLOODS["repeated keys"]
    listed = browser.post(path(app, "check/"), {"manifest": text}).json()["problems"]
    assert listed[499] | {"message": ""} == {
        "path": "a", "message": "", "line": 501, "column": 1, "length": 3, "fix": None,
    }  # fmt: skip
    assert listed[500]["message"] == "There are 40,000 problems. The first 500 are listed."
    page = main_words_of(press(browser, app, "check", text))
    assert "40,000 problems in the manifest" in page
    assert "And 39,900 more." in page


# --- Saving -------------------------------------------------------------------------------------------


@pytest.mark.spec(SCREEN, "The portal shows the sync plan before a save takes effect")
def test_save_shows_the_plan_first(
    browser: Client, app: App, sandbox: Business, mira: User, shop: Business
) -> None:
    save(app, {"blocks": [block()], "embeds": [widget()], "hooks": [hook()]})
    factories.installation(app, sandbox)
    installed = factories.installation(app, shop)
    page = SitePage.objects.create(business=shop, slug="about", title="About")
    stars = Definition.objects.get(app=app, key="stars")
    for position in range(2):
        Placement.objects.create(installation=installed, definition=stars, page=page, position=position)

    changed = {"blocks": [block(name="Ratings")], "embeds": [script()], "hooks": [hook()]}
    response = press(browser, app, "save", changed)
    lines = {line.key: (line.word, line.reach) for line in response.context["plan"].lines}
    assert lines == {
        "counter": ("Added", "On in 2 installations."),
        "stars": ("Updated", "Placed 2 times."),
        "chat": ("Switched off", "Removed from 2 installations."),
    }
    assert "Not saved yet. Saving takes effect immediately for 2 installations." in main_words_of(response)
    assert ManifestSave.objects.count() == 1

    saved = press(browser, app, "confirm", typed(response))
    assert "The manifest is saved and live" in saved.text
    assert manifest_document(app) == changed
    assert ManifestSave.objects.count() == 2


def test_keep_editing_keeps_the_text(browser: Client, app: App) -> None:
    response = press(browser, app, "save", full())
    assert json.loads(typed(press(browser, app, "check", typed(response)))) == full()
    assert not ManifestSave.objects.exists()


def test_confirm_checks_again(browser: Client, app: App) -> None:
    assert press(browser, app, "confirm", {"nothing": 1}).status_code == 422
    assert not ManifestSave.objects.exists()


def test_saving_without_changes_records_nothing(browser: Client, app: App) -> None:
    save(app, full())
    assert "No changes" in press(browser, app, "save", full()).text
    assert ManifestSave.objects.count() == 1


@pytest.mark.long
@pytest.mark.spec("Contract 2 Status", "A manifest can't be saved while the app is in review")
def test_manifest_is_locked_in_review(browser: Client, app: App) -> None:
    save(app, {"blocks": [block()]})
    factories.submit(app)
    page = browser.get(path(app))
    assert "The app is in review. Its manifest can't be saved" in main_words_of(page)
    assert 'name="save"' not in page.text
    assert "readonly" in page.text
    for button in ("save", "confirm"):
        refused = press(browser, app, button, full())
        assert (refused.status_code, json.loads(typed(refused))) == (409, full())
    assert manifest_document(app) == {"blocks": [block()]}


# --- History ------------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 2 Status", "A manifest save is recorded in the app's history")
def test_history_shows_what_each_save_changed(browser: Client, app: App) -> None:
    save(app, {"blocks": [block()]})
    save(app, {"blocks": [block(name="Ratings")], "hooks": [hook()]})
    newest, first = browser.get(path(app, "history/")).context["saves"]
    assert [(each.label, each.before, each.after) for each in newest[1]] == [
        ("Block stars: name", ("Star rating",), ("Ratings",)),
        ("Hook order.calculate_discounts", (), ("/hooks/discounts, within 5,000 ms, priority 100",)),
    ]
    assert [(each.label, each.before) for each in first[1]] == [("Block stars", ())]


def test_history_is_cut_into_pages_that_compare_across(browser: Client, app: App) -> None:
    for number in range(3):
        save(app, {"blocks": [block(name=f"Name {number}")]})
    ((_, differences),) = browser.get(path(app, "history/"), {"limit": 1}).context["saves"]
    assert differences[0].before == ("Name 1",)


def test_history_without_saves_is_empty(browser: Client, app: App) -> None:
    assert "Nothing saved yet" in main_words_of(browser.get(path(app, "history/")))


def test_earlier_manifest_is_restored_after_a_confirmation(browser: Client, app: App) -> None:
    save(app, full())
    save(app, {"blocks": [block()]})
    earlier = ManifestSave.objects.filter(app=app).order_by("id")[0]
    page = browser.get(path(app, f"history/{earlier.pk}/"))
    assert {line.word for line in page.context["plan"].lines} == {"Back", "Updated"}
    assert manifest_document(app) == {"blocks": [block()]}
    done = browser.post(path(app, f"history/{earlier.pk}/"), follow=True)
    assert "is live again" in done.text
    assert manifest_document(app) == full()


def test_manifest_that_new_rules_refuse_opens_in_the_editor(browser: Client, app: App, settings: Any) -> None:
    settings.DEBUG = True
    save(app, {"blocks": [block(renderUrl="http://localhost:8001/")]})
    settings.DEBUG = False
    earlier = ManifestSave.objects.get()
    page = browser.post(path(app, f"history/{earlier.pk}/"), follow=True)
    assert "Correct it, then save it" in page.text
    assert [shown.located.problem.path for shown in page.context["problems"]] == ["blocks[0].renderUrl"]


@pytest.mark.long
def test_nothing_is_restored_in_review(browser: Client, app: App) -> None:
    save(app, full())
    save(app, {})
    factories.submit(app)
    earlier = ManifestSave.objects.filter(app=app).order_by("id")[0]
    assert browser.get(path(app, f"history/{earlier.pk}/")).status_code == 409
    assert "in review" in browser.post(path(app, f"history/{earlier.pk}/"), follow=True).text
    assert manifest_document(app) == {}
    assert "Restore" not in browser.get(path(app, "history/")).text


# --- URLs ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 9 Manifest", "Saving never fetches a URL")
def test_saving_fetches_nothing(browser: Client, app: App, receiver: Receiver) -> None:
    document = {"blocks": [block(renderUrl=receiver.url)]}
    for button in ("check", "save", "confirm"):
        press(browser, app, button, document)
    assert manifest_document(app) == document
    assert receiver.requests == []
