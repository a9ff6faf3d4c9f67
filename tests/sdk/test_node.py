"""The SDK for Node: its own tests, and what TypeScript finds in an app's code."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from extension_platform_sdk.cli import new

from tests.sdk.node_tools import COMPILER, node_version
from tools.sdk_types import SDK

HERE = Path(__file__).resolve().parent / "node"
OPTIONS = "--strict --noEmit --target es2022 --module nodenext --moduleResolution nodenext --pretty false --types node"


needs_compiler = pytest.mark.skipif(
    not (COMPILER.exists() and (COMPILER.parent.parent / "@types" / "express").exists()),
    reason="needs TypeScript and the types of Express in build/node",
)


@pytest.mark.long
@pytest.mark.skipif(node_version() < 20, reason="needs Node 20 or newer")
def test_node_agrees_with_python() -> None:
    command = ["node", "--test", "--test-reporter=tap", str(HERE / "sdk.test.js")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stdout
    assert "# pass 39\n" in found.stdout


def compiled(folder: Path, *options: str) -> str:
    """What the compiler says about the modules in a folder, to which both packages are installed."""
    modules = folder / "node_modules"
    modules.mkdir()
    for name, source in (("extension-platform-node", "node"), ("extension-platform-browser", "js")):
        (modules / name).symlink_to(SDK / source)
    for installed in ("@types", "express"):
        (modules / installed).symlink_to(COMPILER.parent.parent / installed)
    (folder / "package.json").write_text('{"type": "module"}')
    files = [file.name for file in folder.glob("*.ts")]
    command = [COMPILER, *OPTIONS.split(), *options, *files]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder).stdout


def mistakes_in(output: str) -> set[str]:
    """`app.ts(3` for each line with a mistake."""
    return {
        line.partition(",")[0] for line in output.splitlines() if line and not line.startswith((" ", "\t"))
    }


@pytest.mark.slow  # some seconds
@needs_compiler
def test_compiler_finds_each_mistake_and_nothing_else(tmp_path: Path) -> None:
    app = tmp_path / "app.ts"
    shutil.copy(HERE / "app.ts", app)
    found = compiled(tmp_path)
    lines = app.read_text().splitlines()
    mistakes = {f"app.ts({number}" for number, line in enumerate(lines, 1) if "// mistake" in line}
    assert len(mistakes) >= 20
    assert mistakes_in(found) == mistakes, found


# What a sample takes for granted.
GIVEN = {
    "node": """
declare const secretOfWebhook: (webhookId: string, businessId: string) => Promise<string | null>;
declare const secretOfBusiness: (businessId: string) => Promise<string | null>;
declare const secretOfInstallation: (installationId: string) => Promise<string | null>;
declare const baseUrl: string, clientId: string, clientSecret: string, accessToken: string, orderId: string, token: string;
declare const lastCursor: string | null;
declare function keep(cursor: string | null): Promise<void>;
declare function handleOnce(id: string | null, name: string, data: object): Promise<void>;
declare const session: { state?: string; codeVerifier?: string };
""",
    "js": "",
}


def samples(readme: str) -> list[str]:
    """The code of a README, that inside HTML without the HTML."""
    blocks = re.findall(r"^```(?:js|ts|html)\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    scripts = [re.findall(r"<script type=\"module\">\n(.*?)</script>", block, re.DOTALL) for block in blocks]
    return ["".join(script) or block for block, script in zip(blocks, scripts, strict=True)]


@pytest.mark.slow  # some seconds
@needs_compiler
@pytest.mark.parametrize("package", GIVEN)
def test_samples_of_the_readme_compile(tmp_path: Path, package: str) -> None:
    found = samples((SDK / package / "README.md").read_text())
    assert len(found) >= 2
    for number, sample in enumerate(found):
        text = sample.replace('"/extension-platform.js"', '"extension-platform-browser"')
        (tmp_path / f"sample{number}.ts").write_text(f"{GIVEN[package]}{text}\nexport {{}};\n")
    strictness = {"node": ["--exactOptionalPropertyTypes"], "js": ["--strictNullChecks", "false"]}[package]
    assert compiled(tmp_path, *strictness) == ""


SAME_NAMES = """
import * as written from "extension-platform-browser";
import * as made from "./made/extension-platform.js";

type Options<F> = F extends (options: infer O, ...rest: any[]) => unknown ? keyof O : never;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const names: Same<keyof typeof written, keyof typeof made> = true;
const block: Same<Options<typeof written.connectBlock>, Options<typeof made.connectBlock>> = true;
const page: Same<Options<typeof written.connectAdminPage>, Options<typeof made.connectAdminPage>> = true;
"""


@pytest.mark.slow  # some seconds
@needs_compiler
def test_types_for_browsers_name_what_the_code_takes(tmp_path: Path) -> None:
    """The compiler makes types of the code; the written ones say more, about the same names."""
    made = tmp_path / "made"
    made.mkdir()
    shutil.copy(SDK / "js" / "extension-platform.js", made)
    options = "--allowJs --declaration --emitDeclarationOnly --target es2022 --lib es2022,dom".split()
    subprocess.run([COMPILER, *options, made / "extension-platform.js"], check=True)
    (made / "extension-platform.js").unlink()
    (tmp_path / "same.ts").write_text(SAME_NAMES)
    assert compiled(tmp_path) == ""


@pytest.mark.slow
@needs_compiler
def test_typescript_template_is_strict_and_its_tests_pass(tmp_path: Path) -> None:
    """By its own tsconfig.json, with both packages that its package.json names."""
    folder = tmp_path / "ring"
    new.make(folder, "Ring", "ring", "typescript", new.LOCAL, "file:sdk")
    modules = folder / "node_modules"
    modules.mkdir()
    (modules / "extension-platform-node").symlink_to(SDK / "node")
    (modules / "@types").symlink_to(COMPILER.parent.parent / "@types")
    found = subprocess.run([COMPILER, "--pretty", "false"], cwd=folder, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")
    command = ["node", "--test", "--test-reporter=tap", "dist/app.test.js", "dist/store.test.js"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "# pass 7\n" in done.stdout, done.stdout
    assert "# fail 0\n" in done.stdout, done.stdout
