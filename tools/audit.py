"""Asks for known vulnerabilities of the packages in constraints.txt, with pip-audit.

`python -m tools.audit` fails if there is one. Where no source answers, which is normal behind a package mirror, it says
that nothing is known and doesn't fail: a build must not depend on a service of others.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {"pypi": "PyPI", "osv": "OSV.dev"}
TIMEOUT = 300  # seconds for each source


def main() -> int:
    for service, name in SOURCES.items():
        report = ask(service)
        if report is not None and (audited := answered(report)):
            return judge(report["dependencies"], audited, name)
    print(
        "NOT AUDITED: neither PyPI nor OSV.dev answers here, so nothing is known about vulnerabilities of our packages."
    )
    return 0


def ask(service: str) -> dict[str, Any] | None:
    """pip-audit's report; None where its source can't be reached."""
    command = [
        sys.executable, "-m", "pip_audit", "--requirement", "constraints.txt", "--no-deps", "--disable-pip",
        "--format", "json", "--progress-spinner", "off", "--vulnerability-service", service,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        report: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None
    return report


def answered(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The packages that the source knows. A mirror without vulnerability data knows none."""
    return [package for package in report["dependencies"] if "vulns" in package]


def judge(packages: list[dict[str, Any]], audited: list[dict[str, Any]], source: str) -> int:
    """Print what was found; the exit status."""
    for package in audited:
        for problem in package["vulns"]:
            fixed = ", ".join(problem["fix_versions"]) or "no version yet"
            print(f"{package['name']} {package['version']}: {problem['id']}, fixed in {fixed}")
    vulnerable = [package for package in audited if package["vulns"]]
    print(f"{len(audited)} of {len(packages)} packages audited with {source}: {len(vulnerable)} vulnerable.")
    if unknown := [package["name"] for package in packages if "vulns" not in package]:
        print(f"NOT AUDITED, since {source} doesn't know them: {', '.join(unknown)}")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
