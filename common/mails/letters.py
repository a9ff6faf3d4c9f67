"""A mail with a text and an HTML body, in the frame of its sender. Its words are written once.

Other modules make a `MailDraft`. `accounts.services.outbox` makes a `Letter` of it, for one address.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template import Context
from django.template.loader import get_template, render_to_string
from django.utils import timezone

from common.contacts import mailbox
from common.files import brand
from common.languages import ENGLISH, speaking


@dataclass(frozen=True, slots=True)
class LetterFrame:
    """The sender of the mail. Colors are pairs, for light and for dark; `logo` is the one thing that the HTML body loads.

    `ground` and `on_ground` are of buttons, for light and for dark; without them, those of `accent`.
    """

    name: str
    url: str
    accent: tuple[str, str] = ("#3b4cca", "#97a4ff")  # as static/css/tokens.css
    logo: str = ""
    note: str = ""
    language: str = ENGLISH
    ground: str = ""
    on_ground: str = ""


def platform_frame() -> LetterFrame:
    frame = LetterFrame(settings.PLATFORM_NAME, settings.BASE_URL)
    if logo := brand.logo_path():
        frame = replace(frame, logo=settings.BASE_URL + logo)
    if settings.PLATFORM_ACCENT:
        colors = brand.palette_of(settings.PLATFORM_ACCENT)
        frame = replace(frame, accent=colors.link, ground=colors.ground, on_ground=colors.text)
    return frame


# The tags of `{% load mails %}` collect these parts as plain text. Both bodies of the mail are made of them, so neither can say what the
# other doesn't, and no text of a person becomes markup.

Kind = Literal["paragraph", "heading", "point", "fact", "quote", "link", "button"]
IN_ONE_BLOCK: Final = ("point", "fact")
_BREAKABLE: Final = re.compile(r"[^\S\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]+")
COLLECTED: Final = "mail_parts"  # the variable in which the tags find the list


@dataclass(frozen=True, slots=True)
class MailPart:
    """`label` names a fact, a link or a button, whose `text` is the value or the URL."""

    kind: Kind
    text: str
    label: str = ""


def one_line(text: str) -> str:
    """Without line breaks and repeated spaces. Spaces that don't break stay, such as the one in `5 €`."""
    return _BREAKABLE.sub(" ", text).strip()


def written(template: str, context: dict[str, Any]) -> list[MailPart]:
    """The parts of a mail's template. Raises `ValueError` for words outside of the tags and for a second button."""
    parts: list[MailPart] = []
    base: Any = get_template(template)
    outside = base.template.render(Context(context | {COLLECTED: parts}, autoescape=False)).strip()
    if outside:
        raise ValueError(f"{template} has words outside of its tags: {outside!r}")
    if sum(part.kind == "button" for part in parts) > 1:
        raise ValueError(f"{template} has more than one button.")
    return parts


def blocks(parts: Iterable[MailPart]) -> list[tuple[Kind, list[MailPart]]]:
    """Parts with their kind; points, and facts, that follow each other are one block."""
    found: list[tuple[Kind, list[MailPart]]] = []
    for kind, group in groupby(parts, key=lambda part: part.kind):
        rows = list(group)
        found += [(kind, rows)] if kind in IN_ONE_BLOCK else [(kind, [row]) for row in rows]
    return found


def as_text(parts: Sequence[MailPart]) -> str:
    return "\n\n".join("\n".join(_line(part) for part in rows) for _, rows in blocks(parts))


def _line(part: MailPart) -> str:
    if part.kind == "point":
        return f"- {part.text}"
    if part.kind == "button":
        return f"{part.label}:\n{part.text}"
    return f"{part.label}: {part.text}" if part.label else part.text


@dataclass(frozen=True, slots=True)
class MailDraft:
    """What a mail says: a template, which is rendered in the language of the frame and in the time zone `zone`.

    Without a frame, the platform is the sender; without a zone, the active one counts. Answers go to `reply_to`; without one,
    to the sender. `to` is for a mail that somebody asked for by typing an address: it goes to the account's, which may be
    spelled otherwise.
    """

    subject: str
    template: str
    context: Mapping[str, Any]
    frame: LetterFrame | None = None
    zone: str = ""
    sender: str | None = None
    reply_to: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A draft that is written, to one address."""

    subject: str
    to: str
    parts: Sequence[MailPart]
    frame: LetterFrame
    sender: str | None = None
    reply_to: str = ""

    def as_mail(self, **options: Any) -> EmailMultiAlternatives:
        """With both bodies. `options` are Django's, such as a connection."""
        shown = {"subject": self.subject, "frame": self.frame, "blocks": blocks(self.parts)}
        with speaking(self.frame.language):
            html = render_to_string("mails/frame.html", shown)
        note = self.frame.note and f"\n{self.frame.note}"
        signature = "\n".join(filter(None, [self.frame.name, self.frame.url, note]))
        mail = EmailMultiAlternatives(
            self.subject,
            f"{as_text(self.parts)}\n\n{signature}\n",
            self.sender,
            [mailbox(self.to)],
            reply_to=[self.reply_to] if self.reply_to else [],
            **options,
        )
        mail.attach_alternative(html, "text/html")
        return mail

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Letter":
        frame = stored["frame"] | {"accent": tuple(stored["frame"]["accent"])}
        parts = [MailPart(**each) for each in stored["parts"]]
        return cls(**stored | {"frame": LetterFrame(**frame), "parts": parts})


def letter(draft: MailDraft, to: str, facts: Mapping[str, Any]) -> Letter:
    """The draft, rendered for one address. Its template knows these facts and its own."""
    frame = draft.frame or platform_frame()
    with speaking(frame.language), timezone.override(draft.zone or timezone.get_current_timezone()):
        parts = written(draft.template, {**facts, **draft.context})
    return Letter(one_line(draft.subject), draft.to or to, parts, frame, draft.sender, draft.reply_to)
