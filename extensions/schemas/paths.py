"""How a place in a JSON document is written for people: `blocks[2].settingsSchema.properties.color`."""

import json
import re
from collections.abc import Iterable

MAX_NAME = 100  # characters that are shown of a name
_PLAIN_NAME = re.compile(rf"[A-Za-z_$][\w$-]{{0,{MAX_NAME - 1}}}")


def path_of(base: str, steps: Iterable[str | int]) -> str:
    """`base` and the steps below it: names after a dot, positions and other names in brackets."""
    path = base
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(step[:MAX_NAME], ensure_ascii=False)}]"
    return path
