"""The operator's files in `deploy/`, keys and passwords, are in no image and no commit."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from developers.docs.guides import GUIDES
from developers.sdks.packages import PACKAGES

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def of_the_operator() -> set[str]:
    """Files and folders beside compose.yaml that it reads and the repository doesn't have."""
    read = {Path(secret["file"]).parent for secret in COMPOSE["secrets"].values()}
    read |= {service["env_file"] for service in SERVICES.values() if "env_file" in service}
    for service in SERVICES.values():
        read |= {volume.split(":")[0] for volume in service.get("volumes", []) if volume.startswith("./")}
    tracked = subprocess.run(
        ["git", "ls-files", "--", "deploy"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode != 0:
        pytest.skip("needs the repository")
    paths = {str(Path("deploy") / name) for name in read}
    return paths - set(tracked.stdout.split())


def in_image(path: str) -> bool:
    """By Docker's rules: a pattern counts from the root of the context and covers what is below. `**` is any folders."""
    here = [path, *(str(folder) for folder in Path(path).parents)]
    for pattern in (ROOT / ".dockerignore").read_text().splitlines():
        if not pattern or pattern.startswith("#"):
            continue
        assert not pattern.startswith("!"), "exceptions are not handled here"
        parts = [re.escape(part).replace(r"\*", "[^/]*") for part in pattern.strip("/").split("**/")]
        if any(re.fullmatch("(?:.*/)?".join(parts), each) for each in here):
            return False
    return True


def test_operators_files_are_those_of_compose() -> None:
    assert of_the_operator() == {"deploy/.env", "deploy/secrets", "deploy/tls"}


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "deploy/.env",
        "deploy/.env.old",
        "deploy/secrets/SECRET_KEY",
        "deploy/tls",
        "deploy/tls/platform-and-stores.key",
    ],
)
def test_secret_is_not_in_the_image(path: str) -> None:
    assert not in_image(path)


@pytest.mark.parametrize(
    "path", ["manage.py", "deploy/healthy.py", "deploy/example.env", "config/env/keys.py"]
)
def test_program_is_in_the_image(path: str) -> None:
    assert (ROOT / path).is_file()
    assert in_image(path)


@pytest.mark.parametrize(
    "path", ["deploy/.env", "deploy/secrets/SECRET_KEY", "deploy/tls/platform-and-stores.key"]
)
def test_git_ignores_secret(path: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    checked = subprocess.run(["git", "check-ignore", "--no-index", path], cwd=ROOT, check=False)
    assert checked.returncode == 0


def test_image_has_what_it_serves() -> None:
    """The sources of the SDKs and of the guides. `collectstatic` makes the packages while the image is built."""
    sources = [f"sdk/{package.source}/README.md" for package in PACKAGES.values()]
    for path in [*sources, *(guide.path for guide in GUIDES.values())]:
        assert in_image(path), path


GUIDES_OF_OPERATORS = (
    "operations-install",
    "operations-run",
    "several-machines",
    "kubernetes",
    "upgrading",
    "runbooks",
)
# Words of a shell itself. All else is a process whose arguments `ps` shows.
OF_THE_SHELL = re.compile(
    r"^\s*(for .*do )?(echo|printf|export|read|test|\[|[A-Z_]+=\S*( [A-Z_]+=\S*)*( +#.*)?$)"
)
HOLDS_A_SECRET = re.compile(r"\$\{?\(?\w*(PASSWORD|SECRET|TOKEN|KEY|cat [^)]*secret)", re.IGNORECASE)


def test_no_command_has_a_secret_among_its_arguments() -> None:
    """Every user of the machine reads the arguments of each process."""
    texts = {file.name: file.read_text() for file in (ROOT / "deploy").rglob("*.sh")}
    for name in GUIDES_OF_OPERATORS:
        guide = (ROOT / "docs" / f"{name}.md").read_text()
        texts[name] = "".join(re.findall(r"^```sh.*?\n(.*?)^```", guide, re.MULTILINE | re.DOTALL))
    lines = [(name, line) for name, text in texts.items() for line in text.splitlines()]
    found = [(name, line) for name, line in lines if HOLDS_A_SECRET.search(line)]
    assert found, "the guide sets a password"
    assert [each for each in found if not OF_THE_SHELL.match(each[1])] == []
