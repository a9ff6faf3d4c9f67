"""Pictures and exports in a bucket of a real S3 server."""

from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import Business, User
from appapi.services.exports import delete_expired, files
from common.files import object_storage
from config.env.servers import media_storages
from installations.models import Installation
from marketplace.models import App, Picture
from marketplace.services import pictures as app_pictures
from stores.models import ProductPicture
from stores.queries import store_settings
from stores.services.catalogue.pictures import remove_stray_files
from tests.appapi import test_exports
from tests.clients import client_of
from tests.merchants import test_store_settings
from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tests.pages import signed_in
from tests.pictures import upload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed, pytest.mark.long]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with ObjectServer() as running:
        yield running


@pytest.fixture
def bucket(server: ObjectServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """The product's files are in the server's bucket, as the settings read it from the environment."""
    for name, value in (CREDENTIALS | {"MEDIA_STORAGE_URL": server.url}).items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = settings.STORAGES | media_storages(var_dir=settings.VAR_DIR)
    settings.MEDIA_ROOT = "/nowhere"
    object_storage.CIRCUIT.answered()  # whatever an earlier test did to the server
    yield server
    for key in server.stored():
        server.client().delete_object(Bucket=BUCKET, Key=key)


def fetched(client: Client, address: str) -> bytes:
    answer = client.get(address)
    assert answer.status_code == 200, address
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert answer["Content-Length"] == str(len(content))
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    return content


def test_pictures_that_people_upload_are_in_the_bucket_and_shown(
    bucket: ObjectServer, mira: User, shop: Business, app: App, client: Client
) -> None:
    pictures = {"logo": upload(), "hero_picture": upload()}
    signed_in(mira).post("/merchant/store/", test_store_settings.FORM | pictures)
    look = store_settings(shop)
    icon = app_pictures.store(app, app_pictures.decode(upload()), now=timezone.now())
    assert look.logo
    assert look.hero_picture
    kept = [look.logo, look.hero_picture]
    addresses = [*(each.path for each in kept), *(each.thumbnail_path for each in kept)]
    for address in [*addresses, f"/media/pictures/{icon.id}"]:
        assert Image.open(BytesIO(fetched(client, address))).size
    assert {key.split("/")[2] for key in bucket.stored()} == {"stores", "apps"}
    assert len(bucket.stored()) == 5

    app_pictures.drop_unused(app)
    assert not Picture.objects.exists()
    assert len(bucket.stored()) == 4
    default_storage.delete(look.logo.file.name)
    assert client.get(look.logo.path).status_code == 404


def test_stray_files_in_the_bucket_are_found(bucket: ObjectServer, shop: Business) -> None:
    """No file is a day old here, so the time is moved instead."""
    assert remove_stray_files() == 0
    row = ProductPicture()
    for name in (f"{row.id}.png", f"{str(row.id)[:6]}/{row.id}.png"):  # as before, and now
        default_storage.save(f"stores/{name}", ContentFile(b"stray"))
    assert remove_stray_files() == 0
    assert remove_stray_files(now=timezone.now() + timedelta(days=2)) == 2
    assert bucket.stored() == set()


def test_export_is_in_the_bucket_whole_and_in_parts(
    bucket: ObjectServer, installation: Installation, sandbox: Business
) -> None:
    """The same tests as on a disk: ETag, Range and If-Range are answered by the platform, with the token."""
    test_exports.test_interrupted_download_goes_on(client_of(installation), sandbox)
    (key,) = bucket.stored()
    assert key.startswith("shops/exports/")
    kept = bucket.client().head_object(Bucket=BUCKET, Key=key)
    assert (kept["ContentType"], kept.get("ContentEncoding")) == ("application/gzip", None)
    assert files().exists(key.rpartition("/")[2])
    assert delete_expired(now=timezone.now() + timedelta(days=2)) == 1
    assert bucket.stored() == set()


def test_bucket_that_cant_be_reached_is_a_503_and_changes_nothing(
    bucket: ObjectServer,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    mira: User,
    shop: Business,
    client: Client,
) -> None:
    browser = signed_in(mira)
    browser.post("/merchant/store/", test_store_settings.FORM | {"logo": upload()})
    logo = store_settings(shop).logo
    assert logo
    monkeypatch.setenv("MEDIA_STORAGE_URL", "s3://extension-platform?endpoint=http://127.0.0.1:1")
    settings.STORAGES = settings.STORAGES | media_storages(var_dir=settings.VAR_DIR)
    answer = client.get(logo.path)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["message"] == "Files can't be reached right now. Try again in a few seconds."
    refused = browser.post("/merchant/store/", test_store_settings.FORM | {"logo": upload(), "name": "Other"})
    assert refused.status_code == 503
    shop.refresh_from_db()
    assert shop.name == test_store_settings.FORM["name"]
    assert store_settings(shop).logo == logo


def test_operators_check_the_storage_and_make_the_bucket(
    bucket: ObjectServer, settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEDIA_STORAGE_URL", f"s3://another?endpoint={bucket.endpoint}&region=eu-west-1")
    settings.STORAGES = settings.STORAGES | media_storages(var_dir=settings.VAR_DIR)
    with pytest.raises(CommandError, match=r"Files can't be kept: .*NoSuchBucket"):
        call_command("storage")
    for _ in range(2):
        call_command("storage", create=True)
        assert "Files can be written, read and deleted." in capsys.readouterr().out
    assert bucket.client().list_objects_v2(Bucket="another")["KeyCount"] == 0


@pytest.mark.parametrize(
    "url",
    ["s3://", "https://bucket", "s3://Bucket", "s3://key:secret@bucket", "s3://bucket?endpoint=s3.example", "s3://bucket?acl=public"],
)  # fmt: skip
def test_storage_url_that_is_none_stops_the_start(
    url: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDIA_STORAGE_URL", url)
    with pytest.raises(ImproperlyConfigured, match="MEDIA_STORAGE_URL must look like"):
        media_storages(var_dir=settings.VAR_DIR)
