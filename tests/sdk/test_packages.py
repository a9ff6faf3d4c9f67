"""No public registry has our packages, so nothing that people follow or install may ask one for them."""

import json
import re
from pathlib import Path

import pytest

from tools.sdk_types import SDK

ROOT = SDK.parent
NAMES = {
    "python": "extension-platform-sdk",
    "node": "extension-platform-node",
    "js": "extension-platform-browser",
}
TEMPLATES = SDK / "python" / "extension_platform_sdk" / "cli" / "templates"
READ = [
    *ROOT.glob("docs/*.md"),
    *SDK.glob("*/README.md"),
    *ROOT.glob("examples/*/README.md"),
    *TEMPLATES.rglob("*.md"),
]


@pytest.mark.parametrize("file", READ, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_guide_installs_by_name(file: Path) -> None:
    installed = re.findall(
        r"(?:pip|npm|npx|uv|pipx|yarn|pnpm)\S* (?:install|add|run)\s+([^`\n]+)", file.read_text()
    )
    assert [each for each in installed if re.search(r"(?<![/\w])extension-platform-\w+", each)] == []


def test_what_is_installed_names_a_place() -> None:
    files = [*TEMPLATES.rglob("requirements.txt"), *ROOT.glob("examples/*/requirements.txt")]
    lines = [line for file in files for line in file.read_text().splitlines() if "extension-platform" in line]
    assert len(lines) >= 3
    assert {line for line in lines if " @ " not in line} == set()
    manifests = [TEMPLATES / "node" / "package.json", *ROOT.glob("examples/*/package.json")]
    packages = [json.loads(file.read_text())["dependencies"] for file in manifests]
    places = [each[NAMES["node"]] for each in packages if NAMES["node"] in each]  # a shop has no SDK for apps
    assert len(places) >= 2
    assert {place for place in places if not place.startswith(("file:", "SDK_ADDRESS"))} == set()


def test_packages_have_their_names() -> None:
    for folder in ("node", "js"):
        assert json.loads((SDK / folder / "package.json").read_text())["name"] == NAMES[folder]
    assert f'name = "{NAMES["python"]}"' in (SDK / "python" / "pyproject.toml").read_text()
