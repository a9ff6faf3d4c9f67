"""A mail with a text and an HTML body, in the frame of who sends it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from common.languages import ENGLISH, speaking
from common.mails.parts import Part, as_text, blocks, one_line, written

PLATFORM: Final = "Extension Platform"


@dataclass(frozen=True, slots=True)
class Frame:
    """Who the mail is from. Colors are pairs, for light and for dark; `logo` is the one thing that the HTML body loads."""

    name: str
    url: str
    accent: tuple[str, str] = ("#3b4cca", "#97a4ff")  # as static/css/tokens.css
    logo: str = ""
    note: str = ""
    language: str = ENGLISH


def platform_frame() -> Frame:
    return Frame(PLATFORM, settings.BASE_URL)


def letter(
    *,
    subject: str,
    to: str,
    template: str = "",
    context: Mapping[str, Any] | None = None,
    parts: Sequence[Part] | None = None,
    frame: Frame | None = None,
    sender: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> EmailMultiAlternatives:
    """The mail that a template says, or the parts of one that was rendered before, in the language of the frame."""
    subject, frame = one_line(subject), frame or platform_frame()
    shown = {"subject": subject, "frame": frame}
    with speaking(frame.language):
        said = written(template, dict(context or {})) if parts is None else parts
        html = render_to_string("mails/frame.html", shown | {"blocks": blocks(said)})
    signature = "\n".join(filter(None, [frame.name, frame.url, frame.note and f"\n{frame.note}"]))
    mail = EmailMultiAlternatives(
        subject, f"{as_text(said)}\n\n{signature}\n", sender, [to], headers=dict(headers or {})
    )
    mail.attach_alternative(html, "text/html")
    return mail
