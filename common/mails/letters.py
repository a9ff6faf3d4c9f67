"""A mail with a text and an HTML body, in the frame of who sends it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from common.contacts import mailbox
from common.languages import ENGLISH, speaking
from common.mails.parts import MailPart, as_text, blocks, one_line, written

PLATFORM: Final = "Extension Platform"


@dataclass(frozen=True, slots=True)
class LetterFrame:
    """The sender of the mail. Colors are pairs, for light and for dark; `logo` is the one thing that the HTML body loads."""

    name: str
    url: str
    accent: tuple[str, str] = ("#3b4cca", "#97a4ff")  # as static/css/tokens.css
    logo: str = ""
    note: str = ""
    language: str = ENGLISH


def platform_frame() -> LetterFrame:
    return LetterFrame(PLATFORM, settings.BASE_URL)


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail says, to one address. Answers go to `reply_to`; without one, to the sender."""

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


def letter(
    *,
    subject: str,
    to: str,
    template: str,
    context: Mapping[str, Any],
    frame: LetterFrame | None = None,
    sender: str | None = None,
    reply_to: str = "",
) -> Letter:
    """What a template says, in the language of the frame."""
    frame = frame or platform_frame()
    with speaking(frame.language):
        parts = written(template, dict(context))
    return Letter(one_line(subject), to, parts, frame, sender, reply_to)
