"""The stamp of a form: to whom its page was shown, about what, and to which address it may be sent. `{% csrf_token %}` writes it into
every form of the site.

So a form that arrives late, from another tab or after another sign-in, goes where its page belonged, or nowhere. And a button that
somebody's text has put into a page sends its form nowhere. It is signed with `SECRET_KEY`, so a person can have none but those of
pages that were shown to them (docs/decisions/0090).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest

FIELD: Final = ":stamp"  # no field of another form has a colon in its name
SALT: Final = "common.web.forms.stamps"
KEPT: Final = 2_000  # some 0.5 MB
OF_A_SCRIPT: Final = "X-CSRFToken"  # a header, which neither a form nor another site can send


@dataclass(frozen=True, slots=True)
class Stamp:
    """The ids of the person and of what the area of the page was about, such as a store; "" for nothing."""

    person: str
    about: str


def stamp_text(request: HttpRequest, action: str = "") -> str:
    """For a form of the page that answers this request, which is sent to `action`, or to the page's own address.

    Pages that everybody sees have none. An area whose pages are about one thing sets `request.form_about`.
    """
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return ""
    about = getattr(request, "form_about", "")
    return _signed(f"{person.pk} {about} ", request.path, action, settings.SECRET_KEY)


@lru_cache(maxsize=KEPT)
def _signed(whose: str, page: str, action: str, key: str) -> str:
    """The same for the same form, and pages have the same forms at their top."""
    path = unquote(urlsplit(urljoin(page, action)).path)
    return Signer(key=key, salt=SALT).sign(f"{whose}{path}")


def stamp_of(request: HttpRequest) -> Stamp | None:
    """The stamp of the form that was sent, None without one for this address. A script may send a form's fields to another one."""
    try:
        parts = Signer(salt=SALT).unsign(request.POST.get(FIELD, "")).split(" ", 2)
    except BadSignature:
        return None
    match parts:
        case [person, about, path] if path == request.path or OF_A_SCRIPT in request.headers:
            return Stamp(person, about)
        case [person, about]:  # as release 0.2.0 wrote it; the release after the next one refuses it
            return Stamp(person, about)
    return None


def is_form_of_this_address(request: HttpRequest) -> bool:
    """Whether the form that was sent may act: the person who is signed in was shown it, for this address.

    A stamp that is empty, or that isn't the form's only one, is none of ours. One that wasn't sent at all is that of a program
    or of a page for everybody: text that is put into a page can add fields to its form, and can't take one away.
    """
    if FIELD not in request.POST or OF_A_SCRIPT in request.headers or not request.user.is_authenticated:
        return True
    stamp = stamp_of(request)
    return stamp is not None and stamp.person == str(request.user.pk)
