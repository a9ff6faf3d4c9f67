"""Names that other people read on pages and in mails: of people, stores and apps."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from django.conf import settings

from common.text.lookalikes import disguise_problem, edits, looks_like, skeletons

PLATFORM_EDITS: Final = 2  # letters that may differ where it still reads like its name
LONG_NAME: Final = (
    8  # letters of the platform's name. A shorter one is reserved as a whole name only, and as it is written
)

# What a platform calls its staff. Such a name is reserved alone and with the words below around it, and free within another name.
STAFF: Final = (
    "Admin", "Admins", "Administrator", "Administrators", "Administration", "App Review", "Customer Care", "Customer Service",
    "Helpdesk", "Hostmaster", "Mailer Daemon", "Moderation", "Moderator", "Moderators", "No Reply", "Official", "Platform",
    "Postmaster", "Reviewer", "Reviewers", "Security", "Staff", "Support", "Trust and Safety", "Trust Safety", "Webmaster",
)  # fmt: skip
BEFORE: Final = (
    "the", "our", "account", "accounts", "app", "apps", "customer", "developer", "extension", "marketplace", "merchant",
    "official", "platform", "seller", "site", "store", "system", "technical", "user",
)  # fmt: skip
FILLERS: Final = ("the", "our", "official")
AFTER: Final = (
    "agent", "center", "centre", "department", "dept", "desk", "office", "service", "services", "staff", "team",
)  # fmt: skip
# Work of a platform's staff, in words that are plain without a team that does it.
WORK: Final = (
    "abuse", "account", "billing", "compliance", "fraud", "help", "payments", "review", "reviews", "safety", "trust",
    "verification",
)  # fmt: skip
LONGEST: Final = 120  # characters of a name. Comparing costs time by the length
LONG: Final = 7  # letters of a word in which a wrong one is overlooked

_WORD: Final = re.compile(r"[^\W_]+")
# `://`, `www.`, or a host name with a path.
# A top-level domain begins with a letter, so that 1.5/2 is none.
_ADDRESS: Final = re.compile(
    r"\S*://\S*|\bwww\.\S*|(?:[\w-]+(?:\.[\w-]+)*\.[^\W\d_][\w-]+|\d+(?:\.\d+){3})(?::\d+)?/\S*",
    re.IGNORECASE,
)


def check_public_name(name: str) -> None:
    """Raise `ValueError` for a name that would pass for the platform's or its staff's, that hides what it says, or that
    holds the address of a page, which people's mail programs turn into a link.
    """
    if len(name) > LONGEST:
        raise ValueError(f"Enter a name of at most {LONGEST} characters.")
    if problem := disguise_problem(name):
        raise ValueError(problem)
    check_no_address(name)
    if _names_platform(name) or _names_staff(name):
        raise ValueError(f"{name} is reserved for the platform itself. Choose another name.")


def check_no_address(name: str, *, what: str = "a name") -> None:
    """Raise `ValueError` for a name that holds the address of a page. Of a product, mails to strangers show the name."""
    if found := _ADDRESS.search(unicodedata.normalize("NFKC", name)):
        raise ValueError(f"Enter {what} without the address of a page: leave out {found[0]}.")


def _names_platform(name: str) -> bool:
    """Whether a name is the platform's, with words of staff around it or none; of a long one, also with it or its like within."""
    platform = settings.PLATFORM_NAME
    if sum(map(str.isalnum, platform)) >= LONG_NAME:
        pairs = ((own, read) for own in skeletons(platform) for read in skeletons(name))
        return any(edits(own, read, anywhere=True) <= PLATFORM_EDITS for own, read in pairs)
    words = _words(name)
    return any(
        looks_like("".join(words[start:end]), platform)
        and _goes_before(words[:start])
        and _goes_after(words[end:])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    )


def _goes_before(words: Sequence[str]) -> bool:
    """Whether these words before a name leave it what it is, or make staff of it: none, "The", "Official"."""
    return not words or (
        all(_is_like(word, (*BEFORE, *STAFF)) for word in words)
        and any(_is_like(word, (*FILLERS, *STAFF)) for word in words)
    )


def _goes_after(words: Sequence[str]) -> bool:
    """Whether these words after a name leave it what it is, or make staff of it: none, "Support", "Help Desk Team"."""
    return (
        not words
        or _names_staff(" ".join(words))
        or (
            all(_is_like(word, (*BEFORE, *WORK, *AFTER, *STAFF)) for word in words)
            and any(_is_like(word, (*AFTER, *STAFF)) for word in words)
        )
    )


def _words(name: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", name))


def _names_staff(name: str) -> bool:
    """Whether a name is a word for staff, or work with a team, apart from words before and after that change nothing."""
    words = _words(name)
    starts = _how_many(words, BEFORE)
    ends = len(words) - _how_many(words[::-1], AFTER)
    cores = ((start, end) for start in range(starts + 1) for end in range(max(start, ends), len(words) + 1))
    return any(
        _is_like("".join(words[start:end]), STAFF)
        or (start < end < len(words) and all(_is_like(word, WORK) for word in words[start:end]))
        for start, end in cores
    )


def _how_many(words: Sequence[str], known: Iterable[str]) -> int:
    """The number of words from the first on that are known."""
    return next((number for number, word in enumerate(words) if not _is_like(word, known)), len(words))


def _is_like(text: str, known: Iterable[str]) -> bool:
    """Whether a text reads like one of these: a look-alike, or a long one with one wrong letter within."""
    return any(
        read == own
        or (len(own) >= LONG and read[0] == own[0] and read[-1] == own[-1] and edits(own, read) == 1)
        for other in known
        for own in skeletons(other)
        for read in skeletons(text)
    )
