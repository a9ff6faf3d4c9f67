"""Makes a release of what is on main: `python -m tools.release 0.2.0`.

Everything happens in a copy of the tree, so that a release that fails leaves nothing behind:

1. `checks`: the tree is clean, the branch is main, the version is the next one.
2. `notes`, `numbers`: the version and the date in CHANGELOG.md, docs/upgrading.md, pyproject.toml and the SDKs.
3. `tools.image_digests`, `tools.pins`: digests of all images, hashes of all packages.
4. `tools.record_release`: the database and the contract, which later versions are compared with. It needs PostgreSQL.
5. `packages`: the commit's files in dist/.
6. `numbers`: a second commit with the development version that follows.

Then main moves to the second commit, and the first one gets the tag. Nothing is pushed. `--files` makes the files of a release that was made before, from
the commit that recorded it.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tools import image_digests, pins
from tools.release import checks, notes, numbers, packages
from tools.release.git import git

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="make release VERSION=…", description="Makes a release; nothing is pushed."
    )
    parser.add_argument("version", help="the next version, such as 0.2.0")
    parser.add_argument(
        "--without-digests", action="store_true", help="where no registry answers: name images by their versions alone"
    )  # fmt: skip
    parser.add_argument(
        "--files", action="store_true", help="only the files of this earlier release, in dist/"
    )
    chosen = parser.parse_args(arguments)
    tag = f"v{chosen.version}"
    if chosen.files:
        files_of(tag)
        return
    if problems := checks.problems(ROOT, chosen.version):
        sys.exit("\n".join(problems))
    with copy_of_the_tree() as tree:
        prepare(tree, chosen.version, without_digests=chosen.without_digests)
        commit = record(tree, f"Release {chosen.version}")
        packages.build(tree, tag, ROOT / "dist")
        following = numbers.development(chosen.version)
        numbers.write(tree, following)
        last = record(tree, f"Go on as {following}")
    git(ROOT, "merge", "--quiet", "--ff-only", last)
    git(ROOT, "tag", "--annotate", "--message", f"Release {chosen.version}", tag, commit)
    print(
        f"{tag} is at {commit[:12]}, and dist/ has its files. main goes on as {following}. Push both: git push origin main {tag}"
    )


def record(tree: Path, subject: str) -> str:
    """Commit everything. Returns the commit."""
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", subject)
    return git(tree, "rev-parse", "HEAD")


def files_of(tag: str) -> None:
    """Of a release, whether or not this clone has its tag."""
    commit = git(ROOT, "log", "--diff-filter=A", "--format=%H", "--", f"docs/contract/{tag}.json")
    if not commit:
        sys.exit(f"No commit of this clone has recorded {tag}. Is the history whole?")
    with copy_of_the_tree(commit) as tree:
        packages.build(tree, tag, ROOT / "dist")
    print(f"dist/ has the files of {tag}, made from {commit[:12]}.")


@contextmanager
def copy_of_the_tree(commit: str = "HEAD") -> Iterator[Path]:
    """In a folder of its own, by `git worktree`."""
    folder = ROOT / "build" / "release"
    git(ROOT, "worktree", "prune")
    git(ROOT, "worktree", "add", "--quiet", "--force", "--detach", str(folder), commit)
    try:
        yield folder
    finally:
        git(ROOT, "worktree", "remove", "--force", str(folder))


def prepare(tree: Path, version: str, *, without_digests: bool) -> None:
    """Everything that the release's commit changes."""
    numbers.write(tree, version)
    notes.date(tree, version, datetime.now(UTC).date())
    if unknown := image_digests.pin(tree):
        if not without_digests:
            sys.exit(image_digests.refusal(unknown) + "\nOr make the release with ARGS=--without-digests.")
        print(f"Named by their versions alone: {', '.join(unknown)}.")
    pins.write(tree)
    for check in ("released_migrations", "contract_changes"):
        run(tree, f"tools.{check}")
    run(tree, "tools.record_release", f"v{version}")


def run(tree: Path, module: str, *arguments: str) -> None:
    """A tool of that tree, in it."""
    environment = os.environ | {
        "PYTHONPATH": f"{tree}:{tree}/sdk/python",
        "DEBUG": "1",
        "VAR_DIR": str(tree / "build"),
    }
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=tree, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{module} failed, so there is no release.")


if __name__ == "__main__":
    main(sys.argv[1:])
