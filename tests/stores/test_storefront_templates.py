"""The storefront's templates know no floor above: what apps add comes by the few tags that are listed here."""

import re

import pytest
from django.conf import settings

OWN = {"static", "ui", "storefront"}
# Tags of `extensions` that put apps' scripts, widgets and blocks into a page.
FROM_ABOVE = {"extensions"}

TEMPLATES = sorted((settings.BASE_DIR / "templates" / "store").glob("*.html"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_template_loads_and_links_what_it_may(template):
    text = template.read_text()
    loaded = {name for names in re.findall(r"{% load ([^%]+) %}", text) for name in names.split()}
    assert loaded <= OWN | FROM_ABOVE
    linked = set(re.findall(r"{% url ['\"]([^'\"]+)", text))
    assert all(name.startswith("store:") for name in linked)


def test_frame_has_the_blocks_that_others_fill():
    base, page = (
        (settings.BASE_DIR / "templates" / "store" / name).read_text() for name in ("base.html", "page.html")
    )
    assert re.search(r"{% block head_end %}.*{% endblock %}\s*</head>", base)
    assert re.search(r"{% block body_end %}.*{% endblock %}\s*</body>", base)
    assert page.index("site_page.content") < page.index("{% block page_blocks %}")
