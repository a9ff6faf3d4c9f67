"""Validation rules for the fields of an app (contract, section 2).

A rule raises `ValueError` with a message for the person who entered the value. Names are those of the model.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.public_names import check_no_address, check_public_name
from common.errors import ErrorDetail, Invalid
from common.http import url_policy
from common.http.url_policy import is_own
from common.text.countries import CODES
from marketplace.data_terms import MAX_COUNTRIES, MAX_DAYS, MAX_PROCESSORS
from marketplace.enums import Category
from marketplace.models import App, ReviewMessage, Submission
from marketplace.scopes import NAMEABLE_EVENTS, SCOPES

MAX_SCREENSHOTS: Final = 5
SHORT_DESCRIPTION: Final = 30  # characters
ICON_WIDTH: Final = 256  # pixels at least, as the listing shows it well
SCREENSHOT_WIDTH: Final = 1280
MAX_ALT_TEXT: Final = 200  # characters
LENGTHS: Final[dict[str, int]] = {
    field.name: field.max_length or 0
    for field in App._meta.local_fields
    if field.name in ("name", "slug", "description", "version", "long_description")
}

SUBMITTED: Final = (
    "name", "description", "category", "scopes", "redirect_url", "webhook_url", "version", "long_description",
    "support_url", "privacy_url", "data_countries", "data_retention_days", "data_processors",
)  # fmt: skip
"""Fields that a submission checks again, because the settings may have changed since they were entered."""

_OF_SERVERS: Final = {"redirect_url": "Redirect URL", "webhook_url": "Webhook URL"}

REMARKS: Final[dict[str, int]] = {
    "how_to_test": Submission._meta.get_field("how_to_test").max_length or 0,
    "scope_reason": Submission._meta.get_field("scope_reason").max_length or 0,
    "notes": Submission._meta.get_field("notes").max_length or 0,
    "reason": App._meta.get_field("suspension_reason").max_length or 0,
    "text": ReviewMessage._meta.get_field("text").max_length or 0,
}
"""The texts that developers and reviewers exchange in a review, with their maximum lengths. They may be empty."""

SLUG: Final = re.compile(r"[a-z0-9]+(?:[-_]+[a-z0-9]+)*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BUT_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

# The expression that semver.org publishes for Semantic Versioning 2.0.0.
SEMVER: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-((?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)


def name(value: str) -> None:
    name_in_use(value)
    check_public_name(value)


def name_in_use(value: str) -> None:
    """For a name that may be the app's own from before there were more rules, which stays: `services.apps` checks a new one."""
    _text("name", value, _CONTROL)


def description(value: str) -> None:
    _text("description", value, _CONTROL_BUT_LINES)


def is_short(description: str) -> bool:
    """Accepted, but a merchant and a reviewer hardly learn what the app does."""
    return len(description.strip()) < SHORT_DESCRIPTION


def long_description(value: str) -> None:
    """Markdown. May be empty."""
    if len(value) > LENGTHS["long_description"]:
        raise ValueError(f"Enter at most {LENGTHS['long_description']:,} characters.")
    if _CONTROL_BUT_LINES.search(value):
        raise ValueError("Enter text without control characters.")


def support_url(value: str) -> None:
    """A link, or an e-mail address as `mailto:help@example.com`. May be empty."""
    if not value.startswith("mailto:"):
        return _public_link(value, "Enter an e-mail address, or a link that starts with https://.")
    try:
        return validate_email(value.removeprefix("mailto:"))
    except ValidationError:
        raise ValueError("Enter an e-mail address such as help@example.com.") from None


def with_mailto(value: str) -> str:
    """An e-mail address as a link, and anything else as it is."""
    return f"mailto:{value}" if "@" in value and ":" not in value else value


def privacy_url(value: str) -> None:
    """A link. May be empty."""
    _public_link(value, "Enter a link that starts with https://.")


def data_country(value: str) -> None:
    if value not in CODES:
        raise ValueError(
            f"Unknown country: {value[:20]}. Enter a code of ISO 3166-1 in capitals, such as DE."
        )


def data_countries(value: Sequence[str]) -> None:
    if len(value) > MAX_COUNTRIES:
        raise ValueError(f"Choose at most {MAX_COUNTRIES} countries.")


def data_retention_days(value: int | None) -> None:
    """None: as long as the app is installed. `services.apps` wants countries with a number."""
    if value is not None and not 0 <= value <= MAX_DAYS:
        raise ValueError(f"Enter a whole number of days from 0 to {MAX_DAYS:,}.")


def data_processors(value: str) -> None:
    """May be empty."""
    if len(value) > MAX_PROCESSORS:
        raise ValueError(f"Enter at most {MAX_PROCESSORS} characters.")
    if _CONTROL_BUT_LINES.search(value):
        raise ValueError("Enter text without control characters.")
    check_no_address(value, what="a text")


def screenshot_alt(value: str) -> None:
    if len(value) > MAX_ALT_TEXT:
        raise ValueError(f"Describe a screenshot in at most {MAX_ALT_TEXT} characters.")
    if _CONTROL.search(value):
        raise ValueError("Describe a screenshot in one line, without control characters.")


def _public_link(value: str, message: str) -> None:
    if not value:
        return
    if not value.startswith("https://"):
        raise ValueError(message)
    url_policy.check_page_url(value, debug=False)


def slug(value: str) -> None:
    _at_most("slug", value)
    if not SLUG.fullmatch(value):
        raise ValueError(
            "Enter a slug of lowercase letters, digits, hyphens and underscores, such as loyalty-stars."
        )


def category(value: str) -> None:
    if value not in Category.values:
        raise ValueError(f"Choose one of: {', '.join(Category.values)}.")


def version(value: str) -> None:
    _at_most("version", value)
    if not SEMVER.fullmatch(value):
        raise ValueError("Enter a Semantic Versioning 2.0 version, such as 1.4.0.")


def numbers_of(version: str) -> tuple[int, int, int]:
    """The three numbers of a version, without what says that it is a preview."""
    major, minor, patch = (int(each) for each in re.findall("[0-9]+", version)[:3])
    return major, minor, patch


def scope(value: str) -> None:
    if value not in SCOPES:
        raise ValueError(f"Unknown scope. The scopes are: {', '.join(SCOPES)}.")


def scopes(value: Sequence[str]) -> None:
    if not value:
        raise ValueError("Choose at least one scope.")


def screenshots(value: Sequence[object]) -> None:
    if len(value) > MAX_SCREENSHOTS:
        raise ValueError(f"Choose at most {MAX_SCREENSHOTS} screenshots.")


def webhook_event(value: str) -> None:
    if value not in NAMEABLE_EVENTS:
        raise ValueError(f"Unknown event. The events are: {', '.join(NAMEABLE_EVENTS)}.")


def redirect_url(value: str) -> None:
    url_policy.check_redirect_url(value, debug=settings.DEBUG)


def webhook_url(value: str) -> None:
    """May be empty. The host name is not resolved here, see `reachable`."""
    if value:
        url_policy.check_destination_url(
            value, debug=settings.DEBUG, allow_local=settings.ALLOW_LOCAL_DESTINATIONS, resolve=False
        )


def reachable(value: str) -> None:
    """The slow part of the rule for Webhook URLs: the host must not have a private address."""
    if value:
        url_policy.check_destination_url(
            value, debug=settings.DEBUG, allow_local=settings.ALLOW_LOCAL_DESTINATIONS
        )


def how_to_test(value: str) -> None:
    _remark("how_to_test", value)


def scope_reason(value: str) -> None:
    _remark("scope_reason", value)


def notes(value: str) -> None:
    """From the reviewer to the developer."""
    _remark("notes", value)


def reason(value: str) -> None:
    """The reason for a suspension."""
    _remark("reason", value)


def text(value: str) -> None:
    """A message between a developer and the reviewers."""
    if not value:
        raise ValueError("Enter a message.")
    _remark("text", value)


RULES: Final[dict[str, Callable[[Any], None]]] = {
    "name": name,
    "slug": slug,
    "description": description,
    "category": category,
    "scopes": scopes,
    "redirect_url": redirect_url,
    "webhook_url": webhook_url,
    "version": version,
    "screenshots": screenshots,
    "long_description": long_description,
    "support_url": support_url,
    "privacy_url": privacy_url,
    "data_countries": data_countries,
    "data_retention_days": data_retention_days,
    "data_processors": data_processors,
    "how_to_test": how_to_test,
    "scope_reason": scope_reason,
    "notes": notes,
    "reason": reason,
    "text": text,
}
ITEM_RULES: Final[dict[str, Callable[[str], None]]] = {
    "scopes": scope,
    "webhook_events": webhook_event,
    "screenshot_alts": screenshot_alt,
    "data_countries": data_country,
}


def check(fields: Mapping[str, Any]) -> None:
    """Raise `Invalid` with all problems of these fields."""
    if problems := problems_of(fields):
        raise Invalid(" ".join(problem["message"] for problem in problems), problems)


def incomplete(app: App) -> list[ErrorDetail]:
    """The problems that block a submission of the working copy, except those that need a name lookup."""
    fields = {field: getattr(app, field) for field in SUBMITTED}
    kept = {"name"} if app.approved_version and app.approved_version.name == app.name else set()
    problems = problems_of({field: value for field, value in fields.items() if field not in kept})
    refused = {problem["field"] for problem in problems}
    return [*problems, *_of_the_platform({name: fields[name] for name in _OF_SERVERS if name not in refused})]


def _of_the_platform(urls: Mapping[str, str]) -> Iterator[ErrorDetail]:
    """URLs of ours are for trying an app: no merchant's browser, and no production store's event, may end there."""
    for field, url in urls.items():
        if url and is_own(url):
            message = f"Enter a {_OF_SERVERS[field]} of your own server. Ours is only for your sandbox store."
            yield {"field": field, "message": message}


def unreachable(app: App) -> list[ErrorDetail]:
    """The problems of the Webhook URL that need a name lookup (`reachable`)."""
    problems: list[ErrorDetail] = []
    _try(reachable, app.webhook_url, "webhook_url", problems)
    return problems


def problems_of(fields: Mapping[str, Any]) -> list[ErrorDetail]:
    """All problems of these fields. An item of a list is named like `scopes[1]`."""
    problems: list[ErrorDetail] = []
    for field, value in fields.items():
        if field in RULES:
            _try(RULES[field], value, field, problems)
        for index, item in enumerate(value if field in ITEM_RULES else ()):
            _try(ITEM_RULES[field], item, f"{field}[{index}]", problems)
    return problems


def _try(rule: Callable[[Any], None], value: object, field: str, problems: list[ErrorDetail]) -> None:
    try:
        rule(value)
    except ValueError as error:
        problems.append({"field": field, "message": str(error)})


def _text(field: str, value: str, forbidden: re.Pattern[str]) -> None:
    _at_most(field, value)
    if forbidden.search(value):
        raise ValueError(f"Enter a {field} without control characters.")


def _remark(field: str, value: str) -> None:
    """A text of a review: it may have several lines, and may be empty."""
    if len(value) > REMARKS[field]:
        raise ValueError(f"Enter at most {REMARKS[field]} characters.")
    if _CONTROL_BUT_LINES.search(value):
        raise ValueError("Enter text without control characters.")


def _at_most(field: str, value: str) -> None:
    if not value:
        raise ValueError(f"Enter a {field}.")
    if len(value) > LENGTHS[field]:
        raise ValueError(f"Enter a {field} of at most {LENGTHS[field]} characters.")
