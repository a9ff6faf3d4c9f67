"""How a place in a JSON document is written for people: `blocks[2].settingsSchema.properties.color`."""

import json
import re
from collections.abc import Iterable

_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$-]*")


def path_of(base: str, steps: Iterable[str | int]) -> str:
    """`base` and the steps below it: names after a dot, positions and other names in brackets."""
    path = base
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(step[:100], ensure_ascii=False)}]"
    return path
