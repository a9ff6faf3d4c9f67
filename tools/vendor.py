"""Fetches the pinned files under `static/vendor/` and `tests/browser/vendor/`, and writes their lists: `python -m tools.vendor`.

For maintainers; needs `npm`, `node` and a network. Running or testing the project never does, since the results are
committed. To move to another version, change `PACKAGES`, run this, and change the version in the paths that
name it (`static/css/tokens.css`, `common/templatetags/ui.py`).
"""

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVED = ROOT / "static" / "vendor"
FOR_TESTS = ROOT / "tests" / "browser" / "vendor"

# What pages may show. A manifest's `iconName` may name any of them (extensions show `puzzle` for others).
ICONS = """
activity arrow-down arrow-left arrow-right arrow-up award badge-check ban bell blocks book-open bot box boxes
braces calculator calendar chart-column chart-line check chevron-down chevron-left chevron-right circle
circle-alert circle-check circle-question-mark circle-x clipboard-list clock code copy credit-card database
diamond download ellipsis eraser external-link eye eye-off file-code file-text filter flag flask-conical gift
git-compare globe hand-coins hash headphones heart history house image inbox info key layers layout-dashboard
layout-grid link list list-checks lock log-in log-out mail map-pin megaphone menu message-circle
message-square minus monitor moon package palette pause pencil percent phone play plug plus power printer
puzzle qr-code receipt rotate-cw search send settings shield shield-check shopping-bag shopping-cart
sliders-horizontal smartphone star store sun tag terminal ticket trash-2 trending-up triangle-alert truck
undo-2 upload user users wallet webhook x zap
""".split()


@dataclass(frozen=True)
class Package:
    """One package of a registry, and the files of it that are taken."""

    package: str
    version: str
    folder: str
    license: str  # SPDX
    files: tuple[str, ...] = ()
    license_files: tuple[str, ...] = ("LICENSE",)
    root: Path = SERVED


PACKAGES = (
    Package(
        "@fontsource-variable/inter", "5.3.0", "inter", "OFL-1.1",
        ("files/inter-latin-wght-normal.woff2",),
    ),
    Package(
        "@fontsource-variable/fraunces", "5.3.0", "fraunces", "OFL-1.1",
        ("files/fraunces-latin-wght-normal.woff2",),
    ),
    Package(
        "@fontsource-variable/jetbrains-mono", "5.3.0", "jetbrains-mono", "OFL-1.1",
        ("files/jetbrains-mono-latin-wght-normal.woff2",),
    ),
    Package("lucide-static", "1.62.0", "lucide", "ISC AND MIT"),
    Package(
        "tiny-markdown-editor", "0.2.34", "tiny-markdown-editor", "MIT", ("dist/tiny-mde.tiny.js",),
    ),
    Package(
        "axe-core", "4.14.1", "axe-core", "MPL-2.0", ("axe.min.js",),
        license_files=("LICENSE", "LICENSE-3RD-PARTY.txt"), root=FOR_TESTS,
    ),
)  # fmt: skip

MENDED = {
    "tiny-mde.tiny.js": (
        "the label of a reference link is escaped",
        '<span class="${t}">${u[1]}</span>',
        '<span class="${t}">${_t(u[1])}</span>',
    )
}
"""By name of the file: what is changed in it, the text before and the text after. tests/browser/test_typed_markup.py holds it."""

DRAWN = "sample-products"
"""Pictures that were drawn once, of Microsoft's emoji; their entries in the list stay. Stores' rows name them, so their folder has no
version in its name. The package names its license and has no text of it: the file beside the pictures was written by hand."""

EDITOR = Package("codemirror", "6.0.2", "codemirror", "MIT")
"""Its tag `latest` is an old CodeMirror 5 under a wrong number."""

BUNDLED = {
    "codemirror": "6.0.2",
    "@codemirror/commands": "6.11.1",
    "@codemirror/lang-json": "6.0.2",
    "@codemirror/language": "6.13.1",
    "@codemirror/lint": "6.9.8",
    "@codemirror/state": "6.7.6",
    "@codemirror/view": "6.43.15",
    "@lezer/common": "1.5.5",
    "@lezer/highlight": "1.2.5",
    "@lezer/json": "1.0.3",
    "@lezer/lr": "1.4.12",
    "@marijn/find-cluster-break": "1.0.4",
    "crelt": "1.0.7",
    "style-mod": "4.1.4",
    "w3c-keyname": "2.2.8",
}
"""All that the editor's one file is made of; what `codemirror` needs beside it is left out of the file."""

ESBUILD = "0.28.2"


def main() -> None:
    entries: dict[Path, list[dict[str, Any]]] = {SERVED: [], FOR_TESTS: []}
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            source = unpack(package, Path(folder))
            target = package.root / f"{package.folder}-{package.version}"
            target.mkdir(parents=True, exist_ok=True)
            for name in package.license_files:
                shutil.copyfile(source / name, target / name)
            for name in package.files:
                file = Path(shutil.copyfile(source / name, target / Path(name).name))
                entries[package.root].append(entry(package, file, change=mend(file)))
            if package.folder == "lucide":
                (target / "sprite.svg").write_text(sprite(source / "icons"))
                entries[package.root].append(
                    entry(package, target / "sprite.svg", change="some icons, joined into a sprite")
                )
        entries[SERVED].append(editor(Path(folder)))
        entries[SERVED] += drawn()
    for root, listed in entries.items():
        (root / "manifest.json").write_text(json.dumps(listed, indent=2) + "\n")


def unpack(package: Package, folder: Path) -> Path:
    """The folder of the package's unpacked archive."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{package.package}@{package.version}"],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    target = folder / package.folder
    with tarfile.open(folder / packed.stdout.strip().splitlines()[-1]) as archive:
        archive.extractall(target, filter="data")
    return target / "package"


def mend(file: Path) -> str:
    """Changes the file as `MENDED` says, and returns what is changed, "" for nothing."""
    if file.name not in MENDED:
        return ""
    change, before, after = MENDED[file.name]
    text = file.read_bytes().decode()
    assert text.count(before) == 1, f"{file.name} has changed: look at it again"
    file.write_bytes(text.replace(before, after).encode())
    return change


def editor(folder: Path) -> dict[str, Any]:
    """CodeMirror as one file that `tools/codemirror/editor.js` chooses from, with the notices of all its parts."""
    workshop, target = folder / "editor", SERVED / f"{EDITOR.folder}-{EDITOR.version}"
    workshop.mkdir()
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "tools" / "codemirror" / "editor.js", workshop / "editor.js")
    package = {"private": True, "dependencies": BUNDLED | {"esbuild": ESBUILD}, "overrides": BUNDLED}
    (workshop / "package.json").write_text(json.dumps(package))
    subprocess.run(["npm", "install", "--silent", "--no-audit"], cwd=workshop, check=True)
    subprocess.run(
        [
            "node_modules/.bin/esbuild", "editor.js", "--bundle", "--minify", "--format=iife", "--target=es2022",
            "--global-name=CodeMirror", "--legal-comments=none", f"--outfile={target / 'editor.js'}",
        ],
        cwd=workshop, check=True,
    )  # fmt: skip
    notices = [
        f"{name} {version}\n\n{(workshop / 'node_modules' / name / 'LICENSE').read_text().strip()}\n"
        for name, version in BUNDLED.items()
    ]
    (target / "LICENSE").write_text(f"\n{'-' * 72}\n\n".join(notices))
    return entry(EDITOR, target / "editor.js", change="with its parts, joined into one file by esbuild")


def drawn() -> list[dict[str, Any]]:
    """The entries of the pictures of the sample products, and of the top of their store's page."""
    listed = json.loads((SERVED / "manifest.json").read_text())
    return [each for each in listed if each["file"].startswith(f"{DRAWN}/")]


def sprite(icons: Path) -> str:
    """One SVG file with a `<symbol>` for each icon; the page's CSS gives stroke and size."""
    symbols = []
    for name in ICONS:
        inner = re.search(r"<svg[^>]*>(.*)</svg>", (icons / f"{name}.svg").read_text(), re.DOTALL)
        shapes = re.sub(r"\s*\n\s*", "", inner[1]) if inner else ""
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{shapes}</symbol>')
    return '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"


def entry(package: Package, file: Path, *, change: str) -> dict[str, Any]:
    return {
        "package": package.package,
        "version": package.version,
        "registry": "npm",
        "license": package.license,
        "file": file.relative_to(package.root).as_posix(),
        "license_file": (file.parent / package.license_files[0]).relative_to(package.root).as_posix(),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "changed": change,
    }


if __name__ == "__main__":
    main()
