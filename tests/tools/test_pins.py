"""requirements.txt has what an installation needs, at the versions that the tests run with."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.pins import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "requirements.txt").read_text()
ADVICE = "Run `python -m tools.pins`."


def pins(text: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def test_pins_with_hashes_are_those_of_the_constraints() -> None:
    constraints = pins((ROOT / "constraints.txt").read_text())
    assert {name: constraints.get(name) for name in pins(TEXT)} == pins(TEXT), ADVICE


def test_all_that_the_project_requires_is_pinned_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ]
    missing = [each for each in map(Requirement, required) if not fits(each, pins(TEXT))]
    assert missing == [], ADVICE
    entries = re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE).strip())
    assert len(entries) == len(pins(TEXT))
    assert [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)] == []


def fits(requirement: Requirement, found: dict[str, str]) -> bool:
    version = found.get(canonicalize_name(requirement.name))
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def test_pins_name_no_registry() -> None:
    """pip takes the files from wherever the operator has them."""
    assert "://" not in TEXT
    assert not re.search(r"^ *-(?!-hash)", TEXT, re.MULTILINE)
