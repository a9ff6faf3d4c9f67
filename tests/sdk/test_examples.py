"""The tests of the example apps, as they are: alone, and on test stores of running processes, with the packages that the platform serves."""

import json
import shutil
from pathlib import Path

import pytest
from extension_platform_sdk.cli import definition, project

from accounts.models import User
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests.sdk.author import NODE_TEST, PYTEST, Author
from tests.sdk.author import author as author
from tests.sdk.author import installed as installed
from tests.sdk.author import platform as platform
from tests.sdk.author import processes as processes
from tests.sdk.node_tools import COMPILER, needs_module, node_version
from teststores.models import TestStore
from tools.sdk_types import SDK

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timed,
    pytest.mark.timeout(600),
]
SPEC = "Contract 23 What an order tells"
EXAMPLES = SDK.parent / "examples"
SERVER = "https://app.example.com"


@pytest.fixture
def app(request: pytest.FixtureRequest, app: App, dana: User) -> App:
    """The example that a test is about, as its `app.json` and `manifest.json` say it. Nothing is sent to its server: the tests listen."""
    folder = EXAMPLES / request.param
    fields = definition.fields(definition.read(folder) | {"server": SERVER}, None)
    manifest = (folder / "manifest.json").read_text().replace("{server}", SERVER)
    App.objects.update(
        webhook_url=fields["webhookUrl"], webhook_events=fields["webhookEvents"], scopes=fields["scopes"]
    )
    app.refresh_from_db()
    save_manifest(app=app, developer=dana, document=json.loads(manifest))
    return app


def copied(name: str, folder: Path, app: App) -> Path:
    """The example in a folder of its own, which is linked to the app."""
    copy = folder / name
    left_out = shutil.ignore_patterns(
        "node_modules", "dist", "__pycache__", "*.sqlite3", "installations.json"
    )
    shutil.copytree(EXAMPLES / name, copy, ignore=left_out)
    project.write(copy, {"id": str(app.pk)})
    return copy


@pytest.mark.parametrize("app", ["stamp_card"], indirect=True)
@pytest.mark.spec(SPEC, "An app counts a person's orders by key, and proven alone spends")
def test_stamp_card_passes_its_own_tests(author: Author, app: App, tmp_path: Path) -> None:
    process = author.start(PYTEST, copied("stamp_card", tmp_path, app))
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "skipped" not in said, said
    assert not TestStore.objects.open().exists()


@needs_module("typescript")
@pytest.mark.skipif(node_version() < 20, reason="needs Node 20.12 or newer")
@pytest.mark.parametrize("app", ["delivery_slots"], indirect=True)
@pytest.mark.spec(
    SPEC, "Attributes of the cart reach hooks and the order; installation.updated has the settings"
)
def test_delivery_slots_passes_its_own_tests(
    author: Author, app: App, installed: Path, tmp_path: Path
) -> None:
    folder = copied("delivery_slots", tmp_path, app)
    modules = folder / "node_modules"
    modules.mkdir()
    (modules / "extension-platform-node").symlink_to(installed / "node_modules" / "extension-platform-node")
    (modules / "@types").symlink_to(COMPILER.parent.parent / "@types")
    author.ran(str(COMPILER), folder)
    process = author.start([*NODE_TEST, "dist/app.test.js", "dist/store.test.js"], folder)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "# skipped 0\n" in said, said
    assert not TestStore.objects.open().exists()
