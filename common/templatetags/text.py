"""Text that people entered: `{% load text %}`."""

from django import template
from django.utils.safestring import SafeString

from common.text.markdown import render

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown as safe HTML, with headings of level 3 (`common.text.markdown`)."""
    return render(text)
