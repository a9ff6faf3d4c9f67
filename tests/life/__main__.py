"""`python -m tests.life --sequences 1000`: as many lives of an app, others each time (docs/faults.md)."""

import argparse
import os
import sys

import pytest

TEST = "tests/life/test_life.py::test_lives_are_what_the_contract_says"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.life", description=__doc__)
    parser.add_argument("--sequences", type=int, default=1000, help="how many lives (1000)")
    parser.add_argument("--steps", type=int, default=30, help="of a life, at most (30)")
    chosen = parser.parse_args()
    os.environ |= {"LIFE_SEQUENCES": str(chosen.sequences), "LIFE_STEPS": str(chosen.steps)}
    return int(pytest.main(["-n", "0", "--timeout=0", "--durations=1", TEST]))


if __name__ == "__main__":
    sys.exit(main())
