"""`make mutants`: changes one thing after the other in the functions of the targets, and names what no test notices.

1. Run the tests once, to learn which of them run which line, and how long each takes.
2. For each mutant, run these until one fails, in memory: no file is changed. A mutant that none notices is in `build/mutants/unnoticed.txt` at once.

A mutant that changes nothing that anyone can notice is in `equivalent.toml`, with the reason.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain

from tests.mutants import plan
from tests.mutants.mutants import ROOT, listed, mutants_of

QUICK = "not slow and not fault and not benchmark and not browser"
PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-m", QUICK)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    files = plan.files(options.paths or plan.TARGETS)
    made = list(chain.from_iterable(map(mutants_of, files)))
    known = {key for key in listed() if key[0] in files}
    gone = known - {each.key for each in made}
    for key in sorted(gone):
        print("Listed, but no longer a mutant:", *key)
    mutants = [each for each in made if each.key not in known]
    workers = ("-n", options.workers) if options.workers != "0" else ()
    if not options.reuse:
        _learn(list(files), sorted({*chain.from_iterable(files.values())}), workers)
    tests = plan.write(mutants, files)
    print(f"{len(mutants)} mutants in {len(files)} files, {len(tests)} tests.", flush=True)
    run = subprocess.run(
        [*PYTEST, *workers, "--timeout=60", "--tb=no", "-rN", "-W", "ignore::DeprecationWarning",
         "tests/mutants/noticed.py", *sorted({name.partition("::")[0] for name in tests})],
        cwd=ROOT, check=False,
    )  # fmt: skip
    return run.returncode or bool(gone)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("paths", nargs="*", help="files or folders of the targets; without any, all of them")
    parser.add_argument("--workers", default="2", help="processes, each with a database of its own")
    parser.add_argument("--reuse", action="store_true", help="use what the last run learned about tests")
    return parser.parse_args(arguments)


def _learn(files: list[str], folders: list[str], workers: Sequence[str]) -> None:
    plan.FOLDER.mkdir(parents=True, exist_ok=True)
    config = plan.FOLDER / "coveragerc"
    config.write_text(f"[run]\ndata_file = {plan.COVERAGE}\ninclude = {','.join(files)}\n")
    options = (
        "-p",
        "tests.mutants.seconds",
        "--cov",
        f"--cov-config={config}",
        "--cov-context=test",
        "--cov-report=",
        "-o",
        f"cache_dir={plan.CACHE}",
    )
    subprocess.run([*PYTEST, *workers, *options, *folders], cwd=ROOT, check=False)


if __name__ == "__main__":
    raise SystemExit(main())
