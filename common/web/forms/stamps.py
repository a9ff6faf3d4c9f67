"""The stamp of a form: to whom its page was shown, and about what. `{% csrf_token %}` writes it into every form of the site.

So a form that arrives late, from another tab or after another sign-in, goes where its page belonged, or nowhere. It is signed with
`SECRET_KEY`, so a person can have none but those of pages that were shown to them (docs/decisions/0090).
"""

from dataclasses import dataclass
from typing import Final

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest

FIELD: Final = ":stamp"  # no field of another form has a colon in its name
SALT: Final = "common.web.forms.stamps"


@dataclass(frozen=True, slots=True)
class Stamp:
    """The ids of the person and of what the area of the page was about, such as a store; "" for nothing."""

    person: str
    about: str


def stamp_text(request: HttpRequest) -> str:
    """For a form of the page that answers this request. Pages that everybody sees have none.

    An area whose pages are about one thing sets `request.form_about`.
    """
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return ""
    return Signer(salt=SALT).sign(f"{person.pk} {getattr(request, 'form_about', '')}")


def stamp_of(request: HttpRequest) -> Stamp | None:
    """The stamp of the form that was sent, None without a valid one."""
    try:
        person, about = Signer(salt=SALT).unsign(request.POST.get(FIELD, "")).split(" ")
    except (BadSignature, ValueError):
        return None
    return Stamp(person, about)
