"""The normal forms of what people are found by: e-mail addresses and phone numbers (contract, section 15, "Addresses and
numbers of people").

The typed text is stored and shown. Its normal form, its *key*, is compared: by registration, sign-in, invitations, limits,
and wherever a store's customers are found. `email_key` and `phone_key` say what is wrong with a typed text; the two
`kept_…` functions make a key of any text that is stored already, and refuse none.
"""

import re
from typing import Any, Final
from unicodedata import category, decimal, normalize

import idna
from django.core.exceptions import ValidationError
from django.core.validators import validate_email as validate_by_django
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

LONGEST_EMAIL: Final = 254  # RFC 5321, and so for the key
LONGEST_PHONE: Final = 40
FEWEST_DIGITS: Final = 3

NO_EMAIL: Final = _("Enter an e-mail address such as name@example.com.")
NO_PHONE: Final = _("Enter a phone number such as +49 30 1234567.")
HIDDEN: Final = _(
    "Enter the address without spaces and invisible characters. Typing it again leaves them out."
)
FORBIDDEN: Final = _("Enter an e-mail address without quotes, slashes, colons and angle brackets.")

_FORBIDDEN: Final = re.compile(r'[/:<>"]')
# What Unicode draws as nothing although it is a letter or a mark (Default_Ignorable_Code_Point), and Braille's blank.
_BLANK_LETTERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# Dashes, dots and slashes that Unicode has in other categories than dashes.
_MARKS: Final = frozenset(
    "./\\\u00b7\u02d7\u2022\u2027\u2043\u2044\u2212\u2215\u2219\u22c5\u3002\u30fb\u30fc"
)
_SEPARATORS: Final = frozenset({"Pd", "Ps", "Pe"})
_NUMBER: Final = re.compile(r"\+?[0-9]+")


class NotAContact(ValueError):
    """The message is a sentence for people, in the language of the request. `is_hidden` says that they can't see what is wrong."""

    def __init__(self, message: str | Promise, *, is_hidden: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_hidden = is_hidden


def email_key(text: str) -> str:
    """The normal form of a typed address: at most 254 characters, all ASCII. Spaces around it are left out.

    Raises `NotAContact` for what is no address, and for one that would be written in several ways: quoted local parts,
    invisible characters, blanks.
    """
    typed = normalize("NFC", text.strip())
    if any(map(_is_blank, typed)):
        raise NotAContact(HIDDEN, is_hidden=True)
    if _FORBIDDEN.search(typed):
        raise NotAContact(FORBIDDEN)
    local, _at, host = typed.rpartition("@")
    if len(typed) > LONGEST_EMAIL or not local.isascii() or (ascii_host := _ascii_host(host)) is None:
        raise NotAContact(NO_EMAIL)
    key = f"{local.casefold()}@{ascii_host}"
    try:
        validate_by_django(key)
    except ValidationError as error:
        raise NotAContact(NO_EMAIL) from error
    if len(key) > LONGEST_EMAIL:
        raise NotAContact(NO_EMAIL)
    return key


def kept_email_key(text: str) -> str:
    """The key of an address that is stored, whatever it is: that of the mailbox which its mails have gone to.

    Characters of no width are left out, and what has no normal form is compared as it is. Empty for an empty text.
    """
    plain = "".join(each for each in normalize("NFC", text) if not _is_blank(each))
    local, at, host = plain.rpartition("@")
    return f"{local.casefold()}{at}{_ascii_host(host) or host.casefold()}"[:LONGEST_EMAIL]


def mailbox(address: str) -> str:
    """Where a mail to an address goes: as it was typed, its host as the key has it.

    Django would write "straße.example" as "strasse.example", which is another host, and raise for the invisible characters
    that addresses of before may have.
    """
    visible = "".join(each for each in normalize("NFC", address) if each.isascii() or not _is_blank(each))
    local, at, host = visible.strip().rpartition("@")
    return f"{local}{at}{_ascii_host(host) or host}"


def phone_key(text: str) -> str:
    """The normal form of a typed phone number: a plus if there is one, and at least three ASCII digits, 40 characters in all.

    Raises `NotAContact` for fewer or more.
    """
    key = kept_phone_key(text)
    if not key:
        raise NotAContact(NO_PHONE)
    return key


def kept_phone_key(text: str) -> str:
    """The key of a number that is stored. Empty for a text without one, such as "ask at the bar"."""
    found = _NUMBER.search("".join(map(_of_number, normalize("NFKC", text))))
    plain = found[0] if found else ""
    key = f"+{plain[2:]}" if plain.startswith("00") else plain
    return key if len(key.lstrip("+")) >= FEWEST_DIGITS and len(key) <= LONGEST_PHONE else ""


def validate_email(text: Any) -> None:
    """For the fields of models, forms and serializers, which have a maximum of their own. Raises Django's `ValidationError`."""
    _validated(email_key, text, LONGEST_EMAIL)


def validate_phone(text: Any) -> None:
    _validated(phone_key, text, LONGEST_PHONE)


def _validated(key_of: Any, text: Any, most: int) -> None:
    if len(str(text)) > most:
        return
    try:
        key_of(str(text))
    except NotAContact as error:
        # Fields have sentences of their own for "invalid".
        code = "invalid" if error.message in (NO_EMAIL, NO_PHONE) else "invalid_contact"
        raise ValidationError(str(error.message), code=code) from error


def _is_blank(character: str) -> bool:
    """Whether people see nothing of it: spaces, control and format characters, and letters without a shape."""
    return category(character) in ("Cc", "Cf", "Zs", "Zl", "Zp") or bool(_BLANK_LETTERS.match(character))


def _of_number(character: str) -> str:
    if _is_blank(character) or category(character) in _SEPARATORS or character in _MARKS:
        return ""
    digit = decimal(character, None)
    return character if digit is None else str(digit)


def _ascii_host(host: str) -> str | None:
    """In small letters, others in the form xn-- (RFC 5891, mapped by UTS 46 as browsers do); None if it has no such form."""
    if host.isascii():
        return host.lower()
    try:
        return (
            idna.encode(host, uts46=True, std3_rules=True).decode().lower()
            if len(host) <= LONGEST_EMAIL
            else None
        )
    except idna.IDNAError:
        return None
