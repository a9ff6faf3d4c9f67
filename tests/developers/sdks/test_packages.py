"""The SDKs that an installation serves, taken by the tools that people install with."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client

from developers.sdks import packages
from developers.sdks.packages import BROWSER, NODE, PACKAGES, PYTHON, STORE, npm_version

SPEC = "Contract 14 For programs"
SOURCE = django_settings.BASE_DIR / "sdk"


@pytest.fixture
def platform(live_server: Any, settings: Any) -> str:
    settings.BASE_URL = live_server.url
    return str(live_server.url)


def pip(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without a registry, a configuration or what was installed before."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    command = [sys.executable, "-m", "pip", "install", "--isolated", "--no-deps", "--no-cache-dir"]
    return subprocess.run(
        [*command, "--target", str(folder), *arguments], env=environment, capture_output=True, text=True
    )


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.spec(
    SPEC, "/sdk/python/ is an index by PEP 503 whose links have #sha256=; a direct link has the hash"
)
def test_pip_installs_from_the_index_and_by_the_link_of_the_guides(platform: str, tmp_path: Path) -> None:
    by_index = pip(tmp_path / "index", "--index-url", f"{platform}/sdk/python/", PYTHON)
    assert by_index.returncode == 0, by_index.stderr
    guide = requests.get(f"{platform}/docs/guides/first-app.md", timeout=10).text
    (link,) = re.findall(r'^pip install "(.+)"$', guide, re.MULTILINE)
    by_link = pip(tmp_path / "link", "--no-index", link)
    assert by_link.returncode == 0, by_link.stderr
    for folder in ("index", "link"):
        assert (tmp_path / folder / "extension_platform_sdk" / "py.typed").is_file()
    changed = re.sub(r"sha256=..", "sha256=00", link)
    assert "DO NOT MATCH THE HASHES" in pip(tmp_path / "changed", "--no-index", changed).stderr


IN_DJANGO = """
import django
from django.conf import settings
from django.core.management import call_command

settings.configure(
    INSTALLED_APPS=["extension_platform_store.django"],
    EXTENSION_PLATFORM={},
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
django.setup()
call_command("migrate", verbosity=0)
call_command("makemigrations", "--check", "--dry-run")
from extension_platform_store.django.connection import outbox

outbox().mark("products", "rye")
assert outbox().waiting().marks == 1
call_command("push_to_platform", "--help")
"""


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.spec("Contract 17 Connected stores", "/sdk/python/ also serves extension-platform-store")
def test_client_of_shops_is_served_with_its_tables_and_its_command(platform: str, tmp_path: Path) -> None:
    done = pip(tmp_path / "shop", "--index-url", f"{platform}/sdk/python/", STORE)
    assert done.returncode == 0, done.stderr
    installed = tmp_path / "shop" / "extension_platform_store"
    assert (installed / "py.typed").is_file()
    environment = {"PYTHONPATH": str(tmp_path / "shop"), "PATH": os.environ["PATH"]}
    ran = subprocess.run(
        [sys.executable, "-c", IN_DJANGO], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "--compare" in ran.stdout


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.spec(SPEC, "/sdk/node/ links NAME-VERSION.tgz and its integrity")
@pytest.mark.parametrize("name", [NODE, BROWSER])
def test_npm_installs_from_the_link_with_the_integrity_of_the_page(
    platform: str, name: str, tmp_path: Path
) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    page = requests.get(f"{platform}/sdk/node/", timeout=10).text
    found = re.search(rf'href="({name}-[\w.-]+\.tgz)" data-integrity="([^"]+)"', page)
    assert found
    (tmp_path / "package.json").write_text("{}")
    environment = os.environ | {
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_cache": str(tmp_path / "cache"),
    }
    command = ["npm", "install", "--no-audit", "--silent", f"{platform}/sdk/node/{found[1]}"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=60)
    lock = json.loads((tmp_path / "package-lock.json").read_text())["packages"][f"node_modules/{name}"]
    assert lock["integrity"] == found[2]
    assert list((tmp_path / "node_modules" / name).glob("*.d.ts"))


@pytest.mark.django_db
@pytest.mark.spec(SPEC, "one version with the service: info.version of the OpenAPI document")
def test_packages_have_the_version_of_the_service_and_their_hashes(client: Client) -> None:
    version = client.get("/docs/openapi.json").json()["info"]["version"]
    pages = {name: client.get(f"/sdk/{name}/").content.decode() for name in ("python", "node")}
    project = client.get(f"/sdk/python/{PYTHON}/").content.decode()
    wheel = re.search(r'href="\.\./(\S+?)#sha256=([0-9a-f]{64})"', project)
    assert wheel
    assert f'href="{wheel[1]}#sha256={wheel[2]}"' in pages["python"]
    answer = client.get(f"/sdk/python/{wheel[1]}")
    assert sha256(answer.content).hexdigest() == wheel[2]
    with zipfile.ZipFile(BytesIO(answer.content)) as content:
        about = content.read(f"extension_platform_sdk-{version}.dist-info/METADATA").decode()
    assert f"Name: {PYTHON}\nVersion: {version}\n" in about
    for name in (NODE, BROWSER):
        tarball = client.get(f"/sdk/node/{name}-{npm_version(version)}.tgz")
        with tarfile.open(fileobj=BytesIO(tarball.content)) as packed:
            manifest = json.load(packed.extractfile("package/package.json"))  # type: ignore[arg-type]
        assert (manifest["name"], manifest["version"]) == (name, npm_version(version))
    again = client.get(f"/sdk/python/{wheel[1]}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    for unknown in (f"python/{PYTHON}-9.whl", f"python/{NODE}/", "node/left-pad-1.0.0.tgz"):
        assert client.get(f"/sdk/{unknown}").status_code == 404


def test_same_source_makes_the_same_bytes(tmp_path: Path) -> None:
    """Two machines serve one hash, though their files have other times and rights."""
    for name, make in (
        ("python", packages.wheel),
        ("store-python", packages.wheel),
        ("node", packages.tarball),
        ("js", packages.tarball),
    ):
        copy = tmp_path / name
        shutil.copytree(SOURCE / name, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for file in (each for each in copy.rglob("*") if each.is_file()):
            os.utime(file, (1, 1))
            file.chmod(0o600)
        assert make(copy) == make(SOURCE / name)


def test_bytes_are_those_of_every_other_machine(tmp_path: Path) -> None:
    """The hashes are written down: they may not depend on the Python, its zlib or the system. CI runs this with other Pythons, too."""
    for name in ("LICENSE", "README.md", "index.js", "small.py"):
        (tmp_path / name).write_text(f"{name}\n" * 10_000)  # of more than one block
    (tmp_path / "package.json").write_text('{"name": "small", "version": "1.0.0", "files": ["index.js"]}')
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
        '[project]\nname = "small"\nversion = "1.0.0"\ndescription = "Small."\n'
    )
    made = [packages.tarball(tmp_path).content, packages.wheel(tmp_path).content]
    assert [sha256(content).hexdigest() for content in made] == [
        "feb64fc4ba6974b1b01acd17ee8cbdfb3abe0c2c51b987ba1e0070ecf76686f2",
        "1d398c7f9f071b6a93fc309955f4b3d178d32bea1a8123ab809814912ef6862b",
    ]


@pytest.mark.long
def test_package_for_npm_has_the_files_that_npm_packs(tmp_path: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    for name in ("node", "js"):
        command = ["npm", "pack", "--silent", "--pack-destination", str(tmp_path), str(SOURCE / name)]
        file = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=tmp_path
        ).stdout.strip()
        built = packages.tarball(SOURCE / name)
        assert built.name == file
        with tarfile.open(tmp_path / file) as theirs, tarfile.open(fileobj=BytesIO(built.content)) as ours:
            assert sorted(theirs.getnames()) == sorted(ours.getnames())


def test_web_servers_serve_what_collectstatic_made(
    client: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    settings.STATICFILES_FINDERS = ["developers.sdks.finder.SdkFinder"]
    call_command("collectstatic", "--noinput", verbosity=0)
    shutil.rmtree(tmp_path / "sdk")
    monkeypatch.delattr(packages, "wheel")
    monkeypatch.delattr(packages, "tarball")
    for package in PACKAGES.values():
        assert client.get(f"/{package.path}").status_code == 200
