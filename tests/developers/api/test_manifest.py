"""`/developer/apps/:appId/manifest` (contract, sections 2, 6 and 9)."""

import json
import time
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.serializers import Serializer

from accounts.models import User
from developers.api.views.manifests import (
    AdminPageSerializer,
    BlockSerializer,
    EmbedSerializer,
    HookSerializer,
)
from extensions.enums import EmbedKind
from extensions.manifest import content
from extensions.models import Definition, Manifest, ManifestSave
from marketplace.models import App
from tests import factories
from tests.clients import Api
from tests.extensions.manifests import FLOODS, Document, block, full, hook, widget
from tests.pages import signed_in
from tests.state import unchanged


def path(app: App) -> str:
    return f"/developer/apps/{app.id}/manifest"


@pytest.mark.spec("Contract 9 Manifest", "{} before the first save")
def test_manifest_before_the_first_save_is_empty(api: Api, app: App) -> None:
    assert api("get", path(app)).json() == {"manifest": {}}
    assert api("get", f"/developer/apps/{app.id}").json()["manifest"] == {}


@pytest.mark.spec("Contract 2 Developer API", "PUT manifest answers the manifest and what it changed")
def test_put_answers_the_manifest_and_its_changes(api: Api, app: App) -> None:
    response = api("put", path(app), {"blocks": [block()], "hooks": [hook()]})
    assert response.status_code == 200
    body = response.json()
    rows = {row.key: str(row.id) for row in Definition.objects.filter(app=app)}
    assert body == {
        "manifest": {"blocks": [block()], "hooks": [hook()]},
        "changes": {
            "created": [
                {"type": "block", "key": "stars", "id": rows["stars"]},
                {"type": "hook", "key": "order.calculate_discounts", "id": rows["order.calculate_discounts"]},
            ],
            "updated": [],
            "deactivated": [],
        },
        "reach": {"live": body["changes"]["created"], "withNextVersion": []},
    }
    again = api("put", path(app), {"blocks": [block(name="Ratings")]}).json()["changes"]
    assert again == {
        "created": [],
        "updated": [{"type": "block", "key": "stars", "id": rows["stars"]}],
        "deactivated": [
            {"type": "hook", "key": "order.calculate_discounts", "id": rows["order.calculate_discounts"]}
        ],
    }


@pytest.mark.spec("Contract 9 Manifest", "The document comes back as it was saved, without defaults")
def test_manifest_comes_back_as_it_was_saved(api: Api, app: App) -> None:
    text = (
        '{"hooks":[{"url":"x","hookPoint":"order.validate"}],"settingsSchema":'
        '{"properties":{"zz":{"default":1.0},"a":{"title":"Größe ☃","type":"string"}}}}'
    )
    assert api("put", path(app), text).status_code == 200
    for response in (api("get", path(app)), api("get", f"/developer/apps/{app.id}")):
        assert f'"manifest":{text}' in response.content.decode()
    listed = api("get", "/developer/apps").json()["data"][0]
    assert listed["manifest"] == json.loads(text)


@pytest.mark.spec("Errors", "400 for a hook with an unsupported hookPoint; the update is rejected")
def test_unsupported_hook_point_is_400_and_nothing_is_saved(api: Api, app: App) -> None:
    api("put", path(app), {"blocks": [block()]})
    response = api("put", path(app), {"hooks": [hook(), hook(hookPoint="checkout.refunds")]})
    assert response.status_code == 400
    body = response.json()
    assert body["error"] == "Bad Request"
    assert "checkout.refunds" in body["message"]
    assert [each["field"] for each in body["details"]] == ["hooks[1].hookPoint"]
    assert Manifest.objects.get(app=app).document == {"blocks": [block()]}
    assert list(Definition.objects.values_list("key", "is_active")) == [("stars", True)]


def test_every_problem_is_in_the_details(api: Api, app: App) -> None:
    response = api("put", path(app), {"nothing": 1, "blocks": [block(renderUrl="x")], "hooks": [{}]})
    assert response.status_code == 400
    body = response.json()
    assert [each["field"] for each in body["details"]] == [
        "nothing",
        "blocks[0].renderUrl",
        "hooks[0].hookPoint",
        "hooks[0].url",
    ]
    assert body["message"].endswith("(and 3 more)")


@pytest.mark.spec("Contract 15 Doors", "A default in a settings schema fits its own part (400 with its path)")
def test_default_that_does_not_fit_is_400_with_its_path(api: Api, app: App) -> None:
    schema = {"properties": {"size": {"enum": ["small", "large"], "default": "Small"}}}
    document = {
        "settingsSchema": schema,
        "blocks": [block(settingsSchema=schema)],
        "embeds": [widget(settingsSchema=schema)],
    }
    response = api("put", path(app), document)
    assert response.status_code == 400
    places = [f"{place}settingsSchema.properties.size.default" for place in ("", "blocks[0].", "embeds[0].")]
    assert [each["field"] for each in response.json()["details"]] == places
    assert {each["message"] for each in response.json()["details"]} == {"Must be one of small or large."}
    check = api("post", f"{path(app)}/check", {"text": json.dumps(document)})
    assert [each["path"] for each in check.json()["problems"]] == places


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "Send the manifest"),
        ("[]", "JSON object"),
        ('"{}"', "JSON object"),
        ("{", "not valid JSON"),
        ('{"hooks": NaN}', "not valid JSON"),
        ('{"hooks": [], "hooks": []}', "twice"),
        ('{"blocks": [{"name": "a\\u0000b"}]}', "NUL"),
    ],
)
def test_bad_body_is_400(api: Api, app: App, body: str, words: str) -> None:
    api("put", path(app), full())
    response = api("put", path(app), body)
    assert response.status_code == 400
    assert words in response.json()["message"]
    assert Manifest.objects.get(app=app).document == full()


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        ({"embeds": [widget(scriptUrl=1e30)]}, "embeds[0].scriptUrl"),
        (
            {"settingsSchema": {"properties": {"a": {"default": 10**30}}}},
            "settingsSchema.properties.a.default",
        ),
    ],
)
def test_number_that_could_not_be_given_back_is_400(
    api: Api, app: App, manifest: Document, field: str
) -> None:
    answer = api("put", path(app), manifest)
    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["details"]] == [field]
    assert api("get", path(app)).json() == {"manifest": {}}


@pytest.mark.long
@pytest.mark.spec("Contract 6 Manifest", "However many problems there are, they are reported in bounded time")
@pytest.mark.parametrize("body", [FLOODS["repeated keys"], FLOODS["blocks"]], ids=["repeated", "blocks"])
def test_a_flood_of_problems_is_400(api: Api, app: App, body: str) -> None:
    began = time.process_time()
    answer = api("put", path(app), body)
    assert time.process_time() - began < 5
    assert answer.status_code == 400
    assert len(answer.json()["details"]) <= 501
    assert not Manifest.objects.exists()


def test_put_without_a_body_keeps_the_manifest(api: Api, app: App) -> None:
    api("put", path(app), full())
    assert api("put", path(app)).status_code in (400, 415)
    assert Manifest.objects.get(app=app).document == full()


@pytest.mark.spec("Contract 9 Order of errors", "A manifest over 256 KiB is 400, a body over 1 MiB is 413")
@pytest.mark.parametrize(("length", "status"), [(256 * 1024, 400), (1024 * 1024, 413)])
def test_too_large_a_manifest(api: Api, app: App, length: int, status: int) -> None:
    with unchanged(App, ManifestSave, Definition):
        response = api("put", path(app), {"blocks": [block(description="x" * length)]})
    assert response.status_code == status


def test_other_media_types_are_415(api: Api, app: App) -> None:
    with unchanged(App, ManifestSave):
        response = api("put", path(app), None, data="{}", content_type="text/plain")
    assert response.status_code == 415


def test_bad_manifest_for_an_unknown_app_is_400(sams_api: Api, app: App) -> None:
    """A fault of the input comes before an absent row."""
    with unchanged(App, ManifestSave):
        assert sams_api("put", path(app), {"nothing": 1}).status_code == 400
        assert sams_api("put", path(app), {}).status_code == 404
        assert sams_api("put", "/developer/apps/none/manifest", {}).status_code == 404


@pytest.mark.spec("Contract 2 Status", "A manifest can't be saved while the app is in review")
def test_put_in_review_is_409(api: Api, app: App) -> None:
    factories.submit(app)
    response = api("put", path(app), full())
    assert response.status_code == 409
    assert "review" in response.json()["message"]
    assert api("get", path(app)).json() == {"manifest": {}}
    assert api("put", path(app), {"nothing": 1}).status_code == 400


@pytest.mark.spec("Contract 6 Suspension", "The manifest of a suspended app can't be changed")
def test_put_while_suspended_is_409(api: Api, app: App, dana: User) -> None:
    api("put", path(app), full())
    App.objects.update(suspended_at=timezone.now())
    response = api("put", path(app), {})
    assert (response.status_code, "suspended" in response.json()["message"]) == (409, True)
    assert api("get", path(app)).json() == {"manifest": full()}
    page = signed_in(dana).get(f"/portal/apps/{app.slug}/manifest/").text
    assert "The app is suspended. Its manifest can be saved when" in page
    assert 'name="save"' not in page


def test_put_leaves_the_status_of_an_approved_app(api: Api, app: App) -> None:
    factories.approve(app)
    assert api("put", path(app), full()).status_code == 200
    record = api("get", f"/developer/apps/{app.id}").json()
    assert (record["status"], record["isListed"]) == ("APPROVED", True)


def test_other_methods_are_405(api: Api, app: App) -> None:
    with unchanged(App, ManifestSave):
        for method in ("post", "patch", "delete"):
            assert api(method, path(app), {}).status_code == 405


@pytest.mark.spec("Contract 2 Developer API", "Hooks without a Webhook URL can't be submitted")
def test_hooks_without_a_webhook_url_can_not_be_submitted(api: Api, app: App, settings: Any) -> None:
    assert api("put", path(app), {"hooks": [hook()]}).status_code == 200
    response = api("post", f"/developer/apps/{app.id}/submit", {})
    assert response.status_code == 400
    assert [each["field"] for each in response.json()["details"]] == ["webhookUrl"]
    assert "order.calculate_discounts" in response.json()["message"]
    api("put", path(app), {"blocks": [block()]})
    assert api("post", f"/developer/apps/{app.id}/submit", {}).status_code == 201


@pytest.mark.parametrize(
    ("serializer", "shape"),
    [
        (BlockSerializer, content.BLOCK),
        (EmbedSerializer, content.embed(EmbedKind.GLOBAL_SCRIPT)),
        (HookSerializer, content.HOOK),
        (AdminPageSerializer, content.ADMIN_PAGE),
    ],
    ids=lambda each: getattr(each, "listed", ""),
)
def test_document_has_the_fields_that_are_checked(serializer: type[Serializer], shape: content.Shape) -> None:
    fields = serializer().fields
    assert set(fields) == set(shape.fields)
    assert {name for name, field in fields.items() if field.required} == set(shape.required) - {"scriptUrl"}
