"""`/developer/apps`, as a developer's script meets it."""

import json
import socket
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from accounts.models import User
from common.times import iso
from extensions.models import Manifest
from installations.models import Installation
from marketplace.models import App, AppVersion, Picture
from marketplace.scopes import SCOPES
from tests import factories
from tests.clients import BODY, Api
from tests.pictures import picture, upload
from tests.state import unchanged

APP_KEYS = [
    "id", "name", "slug", "description", "category", "scopes", "redirectUrl", "webhookUrl", "webhookEvents",
    "iconUrl", "screenshots", "version", "approvedScopes", "status", "isListed", "manifest", "clientId",
    "createdAt", "updatedAt", "screenshotAlts", "longDescription", "supportUrl", "privacyUrl",
    "dataCountries", "dataRetentionDays", "dataProcessors", "liveSaves", "sessionTokenAlg", "webhookFilter", "role",
]  # fmt: skip


def send_form(api: Api, app: App, **fields: Any) -> Any:
    """A multipart PATCH."""
    return api(
        "patch",
        f"/developer/apps/{app.id}",
        data=encode_multipart(BOUNDARY, fields),
        content_type=MULTIPART_CONTENT,
    )


def fields_of(response: Any) -> list[str]:
    return [detail["field"] for detail in response.json()["details"]]


@pytest.mark.spec("Contract 2 Developer API", "POST creates: 201, the app with clientId and clientSecret")
def test_create_answers_the_app_with_its_secret_once(api: Api) -> None:
    response = api("post", "/developer/apps", BODY)
    assert response.status_code == 201
    assert response["Cache-Control"] == "no-store"
    record = response.json()
    assert list(record) == [*APP_KEYS, "clientSecret"]
    secret = record.pop("clientSecret")
    assert secret.startswith("fbcs_")
    app = App.objects.get()
    assert record == {
        **BODY,
        "scopes": ["read_products", "read_orders"],
        "id": str(app.id),
        "webhookUrl": None,
        "webhookEvents": [],
        "iconUrl": None,
        "screenshots": [],
        "version": "0.1.0",
        "approvedScopes": [],
        "status": "DRAFT",
        "isListed": False,
        "manifest": {},
        "clientId": app.client_id,
        "createdAt": iso(app.created_at),
        "updatedAt": iso(app.created_at),
        "screenshotAlts": [],
        "longDescription": None,
        "supportUrl": None,
        "privacyUrl": None,
        "dataCountries": [],
        "dataRetentionDays": None,
        "dataProcessors": "",
        "liveSaves": True,
        "sessionTokenAlg": "HS256",
        "webhookFilter": None,
        "role": "OWNER",
    }
    for path in ("/developer/apps", f"/developer/apps/{app.id}"):
        assert secret not in api("get", path).content.decode()


def test_create_takes_all_fields_and_ignores_unknown_ones(api: Api) -> None:
    more = {
        "webhookUrl": "https://stars.example.com/hooks",
        "webhookEvents": ["order.created", "business.data_erasure", "customer.data_erasure"],
        "version": "2.0.0-rc.1",
        "status": "APPROVED",
        "clientId": "mine",
        "somethingElse": {"a": 1},
    }
    record = api("post", "/developer/apps", BODY | more).json()
    assert record["webhookUrl"] == "https://stars.example.com/hooks"
    assert record["webhookEvents"] == ["order.created", "business.data_erasure", "customer.data_erasure"]
    assert (record["version"], record["status"]) == ("2.0.0-rc.1", "DRAFT")
    assert record["clientId"] != "mine"


@pytest.mark.spec("Contract 9 Apps", "Created with at least the required fields, none empty")
@pytest.mark.parametrize("field", list(BODY))
@pytest.mark.parametrize("empty", ["absent", "null", "empty"])
def test_create_without_a_required_field_is_400(api: Api, field: str, empty: str) -> None:
    values = {"absent": None, "null": None, "empty": [] if field == "scopes" else ""}
    body = BODY | {field: values[empty]}
    if empty == "absent":
        del body[field]
    response = api("post", "/developer/apps", body)
    assert response.status_code == 400
    assert fields_of(response) == [field]
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": 5}, "name"),
        ({"scopes": "read_orders"}, "scopes"),
        ({"scopes": ["read_orders", 5]}, "scopes[1]"),
        ({"scopes": ["read_orders", "read_minds"]}, "scopes[1]"),
        ({"category": "games"}, "category"),
        ({"slug": "Two Words"}, "slug"),
        ({"version": "1"}, "version"),
        ({"redirectUrl": "http://stars.example.com/"}, "redirectUrl"),
        ({"webhookUrl": "https://169.254.169.254/"}, "webhookUrl"),
        ({"webhookUrl": ["https://stars.example.com"]}, "webhookUrl"),
        ({"webhookEvents": ["webhook.test"]}, "webhookEvents[0]"),
        ({"name": "x" * 81}, "name"),
        ({"name": "a\x00b"}, "name"),
    ],
)
def test_create_with_a_bad_value_is_400_and_names_it(api: Api, change: dict[str, Any], field: str) -> None:
    response = api("post", "/developer/apps", BODY | change)
    assert (response.status_code, response.json()["error"]) == (400, "Bad Request")
    assert set(fields_of(response)) == {field}


IDENTIFIERS = ["slug", "category", "version", "scopes", "webhookEvents"]
SPACED = ["{}\n", " {}", "{}\u2028"]


def spaced(field: str, space: str) -> dict[str, Any]:
    """A good value of a field, but with white space about it."""
    good = (BODY | {"version": "1.0.0", "webhookEvents": ["order.created"]})[field]
    return {field: [space.format(good[0])] if isinstance(good, list) else space.format(good)}


@pytest.mark.parametrize("field", IDENTIFIERS)
@pytest.mark.parametrize("space", SPACED)
def test_an_identifier_is_not_trimmed(api: Api, app: App, field: str, space: str) -> None:
    named = f"{field}[0]" if field in ("scopes", "webhookEvents") else field
    with unchanged(App):
        created = api("post", "/developer/apps", BODY | spaced(field, space))
        changed = api("patch", f"/developer/apps/{app.id}", spaced(field, space))
    assert (created.status_code, fields_of(created)) == (400, [named])
    assert (changed.status_code, fields_of(changed)) == (400, [named])


def test_patch_with_the_slug_and_a_line_break_is_400(api: Api, app: App) -> None:
    response = api("patch", f"/developer/apps/{app.id}", {"slug": f"{app.slug}\n"})
    assert (response.status_code, fields_of(response)) == (400, ["slug"])


def test_create_names_every_problem_at_once(api: Api) -> None:
    response = api("post", "/developer/apps", {"name": "", "slug": "A", "scopes": ["x"], "version": "1"})
    assert fields_of(response) == [
        "name",
        "slug",
        "description",
        "category",
        "scopes[0]",
        "redirectUrl",
        "version",
    ]


def test_create_refuses_a_webhook_name_that_leads_inside(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **options: Any) -> Any:
        return real("10.0.0.1" if host == "inside.example.com" else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    response = api("post", "/developer/apps", BODY | {"webhookUrl": "https://inside.example.com/hooks"})
    assert (response.status_code, fields_of(response)) == (400, ["webhookUrl"])
    assert not App.objects.exists()


@pytest.mark.spec("Contract 9 Apps", "A taken slug is 409")
def test_create_with_a_taken_slug_is_409(api: Api, sams_api: Api) -> None:
    assert api("post", "/developer/apps", BODY).status_code == 201
    response = sams_api("post", "/developer/apps", BODY)
    assert response.status_code == 409
    assert response.json() == {
        "statusCode": 409,
        "message": "Another app has this slug. Choose another one.",
        "error": "Conflict",
    }


def test_list_is_paginated_newest_first(api: Api, dana: User, sam: User) -> None:
    apps = [factories.app(dana) for _ in range(3)]
    factories.app(sam)
    factories.app(dana, deleted_at=timezone.now())
    body = api("get", "/developer/apps?limit=2").json()
    assert [record["id"] for record in body["data"]] == [str(apps[2].id), str(apps[1].id)]
    assert {key: body[key] for key in ("total", "page", "limit")} == {"total": 3, "page": 1, "limit": 2}
    assert list(body["data"][0]) == APP_KEYS
    assert [record["id"] for record in api("get", "/developer/apps?limit=2&page=2").json()["data"]] == [
        str(apps[0].id)
    ]


def test_list_has_twenty_by_default_and_a_hundred_at_most(api: Api, db: None) -> None:
    assert api("get", "/developer/apps").json() == {"data": [], "total": 0, "page": 1, "limit": 20}
    assert api("get", "/developer/apps?limit=500").json()["limit"] == 100
    assert api("get", "/developer/apps?limit=0").status_code == 400
    assert api("get", "/developer/apps?page=x").status_code == 400


def test_list_takes_the_same_queries_for_one_app_and_for_three(
    api: Api, dana: User, django_assert_num_queries: Any
) -> None:
    for manifest in ({"blocks": []}, {}, {"hooks": []}):
        app = factories.app(dana)
        Manifest.objects.create(app=app, document=manifest)
        version = AppVersion.objects.create(app=app, number=1, scopes=["read_pages"])
        App.objects.filter(pk=app.pk).update(approved_version=version)
        with django_assert_num_queries(4):  # who asks, the page, its manifests, the total
            records = api("get", "/developer/apps").json()["data"]
    assert [record["manifest"] for record in records] == [{"hooks": []}, {}, {"blocks": []}]


def test_get_shows_what_was_approved(api: Api, app: App) -> None:
    version = AppVersion.objects.create(app=app, number=1, scopes=["read_pages"])
    App.objects.update(approved_version=version, status="APPROVED")
    record = api("get", f"/developer/apps/{app.id}/").json()
    assert (record["approvedScopes"], record["isListed"], record["status"]) == (
        ["read_pages"],
        True,
        "APPROVED",
    )
    assert record["scopes"] == list(SCOPES)
    App.objects.update(suspended_at=timezone.now())
    assert api("get", f"/developer/apps/{app.id}").json()["isListed"] is False


def test_patch_changes_what_it_names(api: Api, app: App) -> None:
    response = api(
        "patch", f"/developer/apps/{app.id}", {"name": "New", "webhookUrl": "https://a.example.com/h"}
    )
    assert response.status_code == 200
    assert list(response.json()) == APP_KEYS
    app.refresh_from_db()
    assert (app.name, app.webhook_url) == ("New", "https://a.example.com/h")
    assert api("patch", f"/developer/apps/{app.id}", {"webhookUrl": None}).json()["webhookUrl"] is None


@pytest.mark.long
def test_patch_with_what_get_answered_changes_nothing(api: Api, app: App) -> None:
    send_form(api, app, icon=upload(), screenshots=[upload(), upload()])
    before = api("get", f"/developer/apps/{app.id}").json()
    response = api("patch", f"/developer/apps/{app.id}", before)
    assert (response.status_code, response.json()) == (200, before)


def test_patch_of_the_slug_is_400(api: Api, app: App) -> None:
    response = api("patch", f"/developer/apps/{app.id}", {"slug": "another", "name": "New"})
    assert (response.status_code, fields_of(response)) == (400, ["slug"])
    assert api("get", f"/developer/apps/{app.id}").json()["name"] == app.name
    assert api("patch", f"/developer/apps/{app.id}", {"slug": app.slug}).status_code == 200


@pytest.mark.parametrize("field", list(BODY))
def test_patch_may_not_empty_a_required_field(api: Api, app: App, field: str) -> None:
    with unchanged(App):
        response = api("patch", f"/developer/apps/{app.id}", {field: [] if field == "scopes" else ""})
    assert (response.status_code, fields_of(response)) == (400, [field])


@pytest.mark.spec("Contract 2 Developer API", "PATCH while PENDING_REVIEW is 409")
def test_patch_in_review_is_409(api: Api, app: App) -> None:
    App.objects.update(status="PENDING_REVIEW")
    with unchanged(App):
        assert api("patch", f"/developer/apps/{app.id}", {"name": "New"}).status_code == 409
        assert api("patch", f"/developer/apps/{app.id}", {"name": ""}).status_code == 400


def test_patch_of_an_approved_app_makes_it_a_draft(api: Api, app: App) -> None:
    App.objects.update(status="APPROVED")
    path = f"/developer/apps/{app.id}"
    assert (
        api("patch", path, {"name": app.name, "webhookEvents": ["order.created"]}).json()["status"]
        == "APPROVED"
    )
    assert api("patch", path, {"name": "New"}).json()["status"] == "DRAFT"


@pytest.mark.long
@pytest.mark.spec("Contract 9 Apps", "Pictures come by multipart PATCH; the set sent replaces the old one")
def test_patch_with_pictures_shows_them(api: Api, app: App, client: Client) -> None:
    first = send_form(api, app, icon=upload(), screenshots=[upload(picture("WEBP")), upload(picture("JPEG"))])
    assert first.status_code == 200
    assert len(first.json()["screenshots"]) == 2
    for address in [first.json()["iconUrl"], *first.json()["screenshots"]]:
        assert address.startswith("http://testserver/media/pictures/")
        assert client.get(address).status_code == 200
    second = send_form(api, app, screenshots=[upload()])
    assert second.json()["iconUrl"] == first.json()["iconUrl"]
    assert len(second.json()["screenshots"]) == 1
    assert client.get(first.json()["screenshots"][0]).status_code == 404


@pytest.mark.long
def test_patch_edits_the_listing(api: Api, app: App) -> None:
    alts = send_form(api, app, screenshots=[upload(), upload()], screenshotAlts=["The card.", "The till."])
    assert alts.json()["screenshotAlts"] == ["The card.", "The till."]
    _, second = alts.json()["screenshots"]
    path = f"/developer/apps/{app.id}"
    changes = {
        "longDescription": "## Stars",
        "supportUrl": "help@stars.example.com",
        "privacyUrl": "https://stars.example.com/privacy",
        "screenshots": [second],
    }
    record = api("patch", path, changes).json()
    assert {name: record[name] for name in changes} | {
        "screenshotAlts": record["screenshotAlts"]
    } == changes | {
        "supportUrl": "mailto:help@stars.example.com",
        "screenshotAlts": ["The till."],
    }
    empty = {"longDescription": None, "supportUrl": None, "privacyUrl": ""}
    record = api("patch", path, empty).json()
    assert [record[name] for name in empty] == [None, None, None]
    refused = api("patch", path, {"screenshotAlts": ["One.", "Two."]})
    assert (refused.status_code, fields_of(refused)) == (400, ["screenshotAlts"])


def test_patch_by_form_takes_text_too(api: Api, app: App) -> None:
    response = send_form(api, app, name="New", scopes=["read_pages", "read_orders"], icon=upload())
    record = response.json()
    assert (record["name"], record["scopes"]) == ("New", ["read_orders", "read_pages"])
    assert record["iconUrl"]
    assert record["webhookEvents"] == []


@pytest.mark.long
def test_patch_with_null_and_empty_list_removes_pictures(api: Api, app: App) -> None:
    send_form(api, app, icon=upload(), screenshots=[upload()])
    record = api("patch", f"/developer/apps/{app.id}", {"iconUrl": None, "screenshots": []}).json()
    assert (record["iconUrl"], record["screenshots"]) == (None, [])
    assert not Picture.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"icon": upload(picture()[:-20])}, "icon"),
        ({"icon": upload(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "icon.svg")}, "icon"),
        ({"icon": upload(b"some text", "icon.png")}, "icon"),
        ({"icon": upload(picture() + b"\x00" * 2 * 1024 * 1024)}, "icon"),
        ({"icon": "https://stars.example.com/icon.png"}, "icon"),
        ({"screenshots": [upload(), upload(b"")]}, "screenshots[1]"),
        ({"screenshots": [upload() for _ in range(6)]}, "screenshots"),
    ],
)
def test_patch_with_a_bad_picture_is_400_and_keeps_the_old(
    api: Api, app: App, fields: dict[str, Any], named: str
) -> None:
    before = send_form(api, app, icon=upload(), screenshots=[upload()]).json()
    for file in fields.values():
        for each in file if isinstance(file, list) else [file]:
            if not isinstance(each, str):
                each.seek(0)
    response = send_form(api, app, name="New", **fields)
    assert (response.status_code, fields_of(response)) == (400, [named])
    assert api("get", f"/developer/apps/{app.id}").json() == before


PART = b'--the-edge\r\nContent-Disposition: form-data; name="name"\r\n\r\nNew\r\n'
FORM = PART + b"--the-edge--\r\n"


def send_raw(
    api: Api, app: App, body: bytes, content_type: str = "multipart/form-data; boundary=the-edge"
) -> Any:
    return api("patch", f"/developer/apps/{app.id}", data=body, content_type=content_type)


@pytest.mark.spec("Errors", "a malformed multipart body is 400")
@pytest.mark.parametrize(
    "body",
    [
        b"garbage",
        b"\r\n",
        PART,
        FORM[:-6],
        FORM[:-4],
        PART[:-2],
        PART + PART[:-10],
        b"--the-edge--\r\n",
        b"--the-edge\r\n--the-edge--\r\n",
        b"--the-edge\r\ngarbage\r\n--the-edge--\r\n",
        b"--the-edge\r\nContent-Disposition: form-data\r\n\r\nNew\r\n--the-edge--\r\n",
        b"--the-edge\r\nContent-Type: text/plain\r\n\r\nNew\r\n--the-edge--\r\n",
        PART + b"--the-edge\r\ngarbage\r\n--the-edge--\r\n",
        PART[:-2] + b"--the-edge--\r\n",
        PART * 21 + b"--the-edge--\r\n",
        PART.replace(b"form-data", b"form-data; x=" + b"x" * 4096) + b"--the-edge--\r\n",
        b"garbage\r\n" + FORM,
        FORM + FORM,
        FORM.replace(b"\r\n", b"\n"),
        FORM.replace(b"--the-edge--", b"--other--"),
    ],
)
def test_patch_with_a_broken_form_is_400_and_changes_nothing(api: Api, app: App, body: bytes) -> None:
    response = send_raw(api, app, body)
    assert (response.status_code, response.json()["error"]) == (400, "Bad Request")
    assert "multipart body" in response.json()["message"]
    assert api("get", f"/developer/apps/{app.id}").json()["name"] == app.name


@pytest.mark.spec("Errors", "a malformed multipart body is 400")
def test_patch_with_an_empty_form_is_400(api: Api, app: App) -> None:
    headers = {"CONTENT_TYPE": "multipart/form-data; boundary=the-edge", "CONTENT_LENGTH": "0"}
    response = api("patch", f"/developer/apps/{app.id}", **headers)
    assert (response.status_code, response.json()["message"]) == (400, "The multipart body is empty.")


@pytest.mark.parametrize(
    "parameter", ["", "; boundary=", "; boundary=é", "; boundary=7-short", "; boundary=" + "x" * 300]
)
def test_patch_with_a_form_of_no_boundary_is_400(api: Api, app: App, parameter: str) -> None:
    with unchanged(App):
        assert send_raw(api, app, FORM, f"multipart/form-data{parameter}").status_code == 400


@pytest.mark.parametrize(
    "body", [FORM, FORM[:-2], FORM + b"epilogue", PART * 19 + FORM, PART + b"--the-edge--  \r\n"]
)
def test_patch_with_a_whole_form_is_taken(api: Api, app: App, body: bytes) -> None:
    assert send_raw(api, app, body).json()["name"] == "New"


def test_patch_naming_a_foreign_picture_is_400(api: Api, sams_api: Api, app: App, sam: User) -> None:
    address = send_form(api, app, icon=upload()).json()["iconUrl"]
    others = factories.app(sam)
    with unchanged(App, Picture):
        for body in (
            {"iconUrl": address},
            {"screenshots": [address]},
            {"iconUrl": "https://example.com/a.png"},
        ):
            assert sams_api("patch", f"/developer/apps/{others.id}", body).status_code == 400


def test_delete_of_a_draft_is_204_and_then_404(api: Api, app: App, installation: Installation) -> None:
    assert api("delete", f"/developer/apps/{app.id}").status_code == 204
    assert api("get", f"/developer/apps/{app.id}").status_code == 404
    assert api("delete", f"/developer/apps/{app.id}").status_code == 404
    assert api("get", "/developer/apps").json()["total"] == 0
    assert not Installation.objects.active().exists()


def test_delete_after_an_approval_is_409(api: Api, app: App) -> None:
    App.objects.update(approved_version=AppVersion.objects.create(app=app, number=1))
    with unchanged(App, AppVersion):
        assert api("delete", f"/developer/apps/{app.id}").status_code == 409


def test_client_secret_is_replaced_and_shown_once(api: Api, app: App) -> None:
    response = api("post", f"/developer/apps/{app.id}/client-secret")
    assert (response.status_code, response["Cache-Control"]) == (201, "no-store")
    assert list(response.json()) == ["clientSecret"]
    app.refresh_from_db()
    assert app.client_secret_hint == response.json()["clientSecret"][-4:]


@pytest.mark.spec("Errors", "404 absent or another tenant's")
@pytest.mark.parametrize(
    ("method", "ending"),
    [
        ("get", ""),
        ("patch", ""),
        ("delete", ""),
        ("post", "/client-secret"),
        ("post", "/test-install"),
        ("get", "/test-status"),
        ("post", "/test-uninstall"),
    ],
)
@pytest.mark.parametrize("whose", ["another developer's", "unknown", "malformed", "deleted"])
def test_app_that_is_not_there_is_404(
    sams_api: Api, sam: User, app: App, installation: Installation, method: str, ending: str, whose: str
) -> None:
    app_id = {
        "another developer's": app.id,
        "unknown": installation.id,
        "malformed": "not-an-id",
        "deleted": factories.app(sam, deleted_at=timezone.now()).id,
    }[whose]
    response = sams_api(method, f"/developer/apps/{app_id}{ending}", {} if method == "patch" else None)
    assert response.status_code == 404
    assert response.json() == {"statusCode": 404, "message": "App not found", "error": "Not Found"}
    stored = Installation.objects.get()
    assert (stored.uninstalled_at, stored.token_digest) == (None, installation.token_digest)
    assert App.objects.get(pk=app.pk).client_secret == app.client_secret


def test_no_or_bad_jwt_is_401(client: Client, app: App, installation: Any) -> None:
    for header in (None, "Bearer x.y.z", "Basic abc", f"Bearer {installation.raw_token}"):
        headers = {} if header is None else {"authorization": header}
        response = client.get(f"/developer/apps/{app.id}", headers=headers)
        assert response.status_code == 401
        assert response["WWW-Authenticate"] == "Bearer"
        assert response.json()["error"] == "Unauthorized"


@pytest.mark.spec("Errors", "The order of errors: 401, 403, 415, 413, 400, 404, 409")
def test_errors_come_in_their_order(api: Api, miras_api: Api, client: Client, app: App) -> None:
    path = f"/developer/apps/{app.id}"
    unknown = "/developer/apps/00000000-0000-0000-0000-000000000000"
    text = {"data": "name=x", "content_type": "text/plain"}
    assert client.patch(path, **text).status_code == 401
    assert miras_api("patch", path, **text).status_code == 403
    assert api("patch", unknown, **text).status_code == 415
    assert (
        api("post", "/developer/apps", data=b"x", content_type="multipart/form-data; boundary=x").status_code
        == 415
    )
    large = json.dumps({"name": "x" * 1024 * 1024})
    assert api("patch", unknown, data=large, content_type="application/json").status_code == 413
    assert api("patch", unknown, data="{", content_type="application/json").status_code == 400
    assert api("patch", unknown, {"name": ""}).status_code == 400
    App.objects.update(status="PENDING_REVIEW")
    assert api("patch", unknown, {"name": "New"}).status_code == 404
    assert api("patch", path, {"name": "New"}).status_code == 409
    assert api("put", path, {}).status_code == 405


def test_options_lists_the_methods_and_nothing_else(api: Api, app: App) -> None:
    answer = api("options", f"/developer/apps/{app.id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Allow"] == "GET, PATCH, DELETE, HEAD, OPTIONS"


def test_form_that_declares_too_much_is_413(api: Api, app: App) -> None:
    response = api(
        "patch",
        f"/developer/apps/{app.id}",
        data=b"x" * (32 * 1024 * 1024 + 1),
        content_type="multipart/form-data; boundary=x",
    )
    assert (response.status_code, response.json()["error"]) == (413, "Content Too Large")


def test_form_without_its_boundary_is_400(api: Api, app: App) -> None:
    response = api("patch", f"/developer/apps/{app.id}", data=b"x", content_type="multipart/form-data")
    assert (response.status_code, response.json()["error"]) == (400, "Bad Request")


def test_calls_without_a_body_take_any_content_type(api: Api, app: App) -> None:
    for kind in ("text/plain", "application/xml"):
        response = api("post", f"/developer/apps/{app.id}/client-secret", data="x", content_type=kind)
        assert response.status_code == 201
        app.refresh_from_db()
        assert check_password(response.json()["clientSecret"], app.client_secret)
