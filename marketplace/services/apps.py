"""What developers do with an app, except for reviews.

Only `create_app` and `rotate_client_secret` return a raw client secret; it is stored as a hash.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import IntegrityError, transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import User
from accounts.services import security_log
from accounts.services.confirmation import require_confirmed
from common.errors import Conflict, ErrorDetail, Invalid
from common.secrets import last_four, new_client_secret
from marketplace import rules
from marketplace.access import require_role
from marketplace.models import FROZEN_FIELDS, App, AppTotals
from marketplace.scopes import in_order, unknown
from marketplace.services import pictures, reviews
from marketplace.services.locks import lock_app
from marketplace.services.pictures import Decoded
from marketplace.signals import app_deleted, app_updated, fields_to_check

TRIMMED = (
    "name", "description", "redirect_url", "webhook_url", "long_description", "support_url", "privacy_url",
    "data_processors",
)  # fmt: skip


MOST_APPS: Final = 200  # of a developer; deleted ones don't count


class SlugTaken(Conflict):
    """Another app has the slug. Only validation errors have `details`, so pages look for this class."""

    code = "slug_taken"


@dataclass(frozen=True, slots=True)
class IssuedApp:
    """A new app with its raw client secret, which is shown once."""

    app: App
    client_secret: str


def create_app(
    *,
    developer: User,
    name: str,
    slug: str,
    description: str,
    category: str,
    scopes: Sequence[str],
    redirect_url: str,
    webhook_url: str = "",
    webhook_events: Sequence[str] = (),
    webhook_filter: dict[str, Any] | None = None,
    version: str = "0.1.0",
    long_description: str = "",
    support_url: str = "",
    privacy_url: str = "",
    data_countries: Sequence[str] = (),
    data_retention_days: int | None = None,
    data_processors: str = "",
    now: datetime | None = None,
) -> IssuedApp:
    """Register an app as a draft. Raises `Invalid`, `SlugTaken`, `NotAllowed` until the address is confirmed, and `Conflict` for a developer who
    has `MOST_APPS`.
    """
    require_confirmed(developer)
    fields = _normalized(
        {
            "name": name, "slug": slug, "description": description, "category": category, "scopes": scopes,
            "redirect_url": redirect_url, "webhook_url": webhook_url, "webhook_events": webhook_events,
            "webhook_filter": webhook_filter, "version": version, "long_description": long_description,
            "support_url": support_url, "privacy_url": privacy_url, "data_countries": data_countries,
            "data_retention_days": data_retention_days, "data_processors": data_processors,
        }
    )  # fmt: skip
    rules.check(fields)
    _check_days_have_countries(App(), fields)
    _ask_about(fields["webhook_events"], fields["webhook_filter"])
    _check_reachable(fields["webhook_url"])
    now = now or timezone.now()
    app = App(developer=developer, created_at=now, updated_at=now, **_written(fields))
    secret = _set_client_secret(app, now)
    with transaction.atomic():
        require_room(developer)
        _insert(app)
    return IssuedApp(app, secret)


def update_app(*, app: App, changes: Mapping[str, Any], now: datetime | None = None) -> App:
    """Edit the working copy. Returns the changed app.

    `changes` has the names of the model's fields. `icon` is a `Decoded` picture or None, and `screenshots` a list of
    pictures; both may use the ids of pictures that the app already shows. `screenshot_alts` are the descriptions of all
    screenshots, in their order; without it, the screenshots that stay keep theirs. Changing a frozen field makes an APPROVED app
    a DRAFT. Raises `Invalid` (for instance for another slug), `NotFound` for a deleted app, and `Conflict` while it is
    in review.
    """
    changes = _normalized(changes)
    kept = {"slug"} | (
        {"name"} if changes.get("name") == app.name else set()
    )  # a name of before there was a rule stays
    rules.check({field: value for field, value in changes.items() if field not in kept})
    if changes.get("webhook_url", app.webhook_url) != app.webhook_url:
        _check_reachable(changes["webhook_url"])
    now = now or timezone.now()
    with transaction.atomic():
        locked = lock_app(app)
        _check_slug_unchanged(locked, changes)
        _check_days_have_countries(locked, changes)
        reviews.require_editable(locked)
        _check_filter(locked, changes)
        _apply(locked, _written(changes), now)
    return locked


@transaction.atomic
def delete_app(*, app: App, now: datetime | None = None) -> None:
    """Delete an app that was never approved, end its test installs and take it out of the review queue.

    Its slug becomes available again. Raises `Conflict` for an app that was approved, because merchants may use it, and
    `NotFound` for one that is already deleted.
    """
    locked = lock_app(app)
    if locked.approved_version_id is not None:
        raise Conflict(
            "The app has been approved, so merchants may use it. It can no longer be deleted.",
            code="app_approved",
        )
    _end(locked, now or timezone.now())


@transaction.atomic
def end_apps_of(*, developer: User, now: datetime) -> None:
    """Delete all apps of an account that is deleted. The caller knows that no merchant uses one."""
    for app in App.objects.owned_by(developer).live().select_for_update(no_key=True).order_by("pk"):
        _end(app, now)


@transaction.atomic
def rotate_client_secret(*, app: App, by: User, now: datetime | None = None) -> str:
    """Give the app a new client secret, in any state. The old one stops working with the commit."""
    locked = lock_app(app)
    require_role(locked, by)
    secret = _set_client_secret(locked, now or timezone.now())
    locked.developer_left_at = None
    locked.save(
        update_fields=["client_secret", "client_secret_hint", "client_secret_issued_at", "developer_left_at"]
    )
    security_log.record(
        user_id=locked.developer_id,
        kind=SecurityEventKind.CLIENT_SECRET_ROTATED,
        about=locked.name,
        actor=by,
    )
    return secret


@transaction.atomic
def keep_client_secret(*, app: App, by: User) -> None:
    """Close the offer to regenerate the client secret after a developer left (contract, section 11)."""
    locked = lock_app(app)
    require_role(locked, by)
    locked.developer_left_at = None
    locked.save(update_fields=["developer_left_at"])


def _end(locked: App, now: datetime) -> None:
    """From the commit on, its client credentials and codes are refused (`App.is_usable`)."""
    reviews.close_deleted(locked, now)
    locked.deleted_at = locked.updated_at = now
    locked.icon, locked.screenshot_ids, locked.alt_texts = None, [], {}
    locked.save(update_fields=["deleted_at", "updated_at", "icon", "screenshot_ids", "alt_texts"])
    locked.versions.update(developer_name="")
    locked.submissions.update(developer_name="")
    pictures.drop_unused(locked)
    app_deleted.send(App, app=locked, now=now)


def _normalized(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Trim texts, put scopes into the table's order, remove duplicates, and make an e-mail address a link.

    Unknown scopes keep their positions, so that `rules.check` can report them.
    """
    values = dict(fields)
    values |= {key: values[key].strip() for key in TRIMMED if isinstance(values.get(key), str)}
    if "scopes" in values and not unknown(values["scopes"]):
        values["scopes"] = in_order(values["scopes"])
    if "support_url" in values:
        values["support_url"] = rules.with_mailto(values["support_url"])
    if "screenshot_alts" in values:
        values["screenshot_alts"] = [text.strip() for text in values["screenshot_alts"]]
    for name in ("webhook_events", "data_countries"):
        if name in values:
            values[name] = list(dict.fromkeys(values[name]))
    return values


def _written(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as their columns have them: a filter is the text of its JSON."""
    if fields.get("webhook_filter") is None:
        return dict(fields)
    return {**fields, "webhook_filter": orjson.dumps(fields["webhook_filter"]).decode()}


def _check_filter(app: App, changes: Mapping[str, Any]) -> None:
    """The filter and the events are checked together whenever one of them changes."""
    if not changes.keys() & {"webhook_events", "webhook_filter"}:
        return
    saved = app.webhook_filter and orjson.loads(app.webhook_filter)
    _ask_about(changes.get("webhook_events", app.webhook_events), changes.get("webhook_filter", saved))


def _ask_about(webhook_events: Sequence[str], webhook_filter: Any) -> None:
    asked: list[tuple[Any, Any]] = fields_to_check.send(
        App, webhook_events=webhook_events, webhook_filter=webhook_filter
    )
    problems: list[ErrorDetail] = [problem for _, found in asked for problem in found]
    if problems:
        raise Invalid(" ".join(problem["message"] for problem in problems), problems)


def _check_reachable(webhook_url: str) -> None:
    """Call it outside of transactions, because a name lookup may take seconds."""
    try:
        rules.reachable(webhook_url)
    except ValueError as error:
        raise Invalid.field("webhook_url", str(error)) from None


def _check_slug_unchanged(app: App, changes: Mapping[str, Any]) -> None:
    if changes.get("slug", app.slug) != app.slug:
        raise Invalid.field("slug", "The slug can't be changed after the app has been created.")


def _check_days_have_countries(app: App, changes: Mapping[str, Any]) -> None:
    """Data is kept somewhere: a number of days needs countries (contract, section 22)."""
    after = {
        name: changes.get(name, getattr(app, name)) for name in ("data_countries", "data_retention_days")
    }
    if after["data_retention_days"] is None or after["data_countries"]:
        return
    if changes.get("data_retention_days") is not None:
        raise Invalid.field("data_retention_days", "Choose the countries, too, in which the data is kept.")
    message = "Choose at least one country, or leave out for how many days the data is kept."
    raise Invalid.field("data_countries", message)


def require_room(developer: User) -> None:
    """Raise `Conflict` for one who has `MOST_APPS`. The row is locked, so that two at once are counted one after the other."""
    User.objects.select_for_update(no_key=True).get(pk=developer.pk)
    if App.objects.owned_by(developer).live().count() >= MOST_APPS:
        raise Conflict(
            f"A developer has at most {MOST_APPS} apps. Delete one that you no longer need.",
            code="too_many_apps",
        )


def _insert(app: App) -> None:
    try:
        with transaction.atomic():
            app.save(force_insert=True)
    except IntegrityError:
        if not App.objects.live().filter(slug=app.slug).exists():
            raise
        raise SlugTaken("Another app has this slug. Choose another one.") from None


def _set_client_secret(app: App, now: datetime) -> str:
    """The library's field hashes the secret when it is saved."""
    secret = new_client_secret()
    app.client_secret = secret
    app.client_secret_hint = last_four(secret)
    app.client_secret_issued_at = now
    return secret


def _apply(app: App, changes: Mapping[str, Any], now: datetime) -> None:
    pictures_of = ("icon", "screenshots", "screenshot_alts")
    values = {field: value for field, value in changes.items() if field not in pictures_of}
    values |= _picture_values(app, changes, now)
    changed = {field for field, value in values.items() if getattr(app, field) != value}
    if not changed:
        return
    for field in changed:
        setattr(app, field, values[field])
    if changed & {*FROZEN_FIELDS, "icon_id"}:
        reviews.reopen(app)
    app.updated_at = now
    app.save(update_fields=[*changed, "status", "updated_at"])
    if changed & {"icon_id", "screenshot_ids"}:
        pictures.drop_unused(app)
    app_updated.send(App, app=app, changed=frozenset(changed), now=now)


def _picture_values(app: App, changes: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Store the new pictures. Returns the new `icon_id`, `screenshot_ids` and `alt_texts`."""
    values: dict[str, Any] = {}
    if "icon" in changes:
        kept = [str(app.icon_id)] if app.icon_id else []
        chosen = [changes["icon"]] if changes["icon"] is not None else []
        ids = _picture_ids(app, chosen, kept, "icon", now)
        values["icon_id"] = UUID(ids[0]) if ids else None
    if "screenshots" in changes:
        values["screenshot_ids"] = _picture_ids(
            app, changes["screenshots"], app.screenshot_ids, "screenshots", now
        )
    if "screenshots" in changes or "screenshot_alts" in changes:
        ids = values.get("screenshot_ids", app.screenshot_ids)
        values["alt_texts"] = _alt_texts(app, ids, changes.get("screenshot_alts"))
    return values


def _alt_texts(app: App, ids: Sequence[str], chosen: Sequence[str] | None) -> dict[str, str]:
    """The descriptions by screenshot id: the chosen ones, or those that these screenshots have."""
    if chosen is None:
        return {picture_id: app.alt_texts[picture_id] for picture_id in ids if picture_id in app.alt_texts}
    if len(chosen) > len(ids):
        message = f"The app has {len(ids)} screenshots, so it can have at most {len(ids)} descriptions."
        raise Invalid.field("screenshot_alts", message)
    return {picture_id: text for picture_id, text in zip(ids, chosen, strict=False) if text}


def _picture_ids(
    app: App, chosen: Iterable[Decoded | UUID], shown: Sequence[str], field: str, now: datetime
) -> list[str]:
    ids = []
    for picture in chosen:
        if isinstance(picture, Decoded):
            ids.append(str(pictures.store(app, picture, now=now).id))
        elif str(picture) in shown:
            ids.append(str(picture))
        else:
            raise Invalid.field(
                field, "Upload the picture. An id can only refer to a picture that the app already shows."
            )
    return ids


@transaction.atomic(savepoint=False)
def count_installs(*, app: App, by: int) -> None:
    """Add to the number of stores that have the app. It never goes below 0, so a wrong count can't block an uninstall."""
    moved = {"installs": Greatest(F("installs") + by, Value(0))}
    row = AppTotals.objects.filter(app=app)
    if not row.update(**moved):
        AppTotals.objects.get_or_create(app=app)
        row.update(**moved)
