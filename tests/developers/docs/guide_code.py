"""The code in the guides."""

import re

from developers.docs import guides


def code(slug: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", guides.source(slug), re.DOTALL | re.MULTILINE)
