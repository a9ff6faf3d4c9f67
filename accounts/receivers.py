"""What follows from signing in and out on a page, and from changes of accounts and of people's rights, by whichever way: the security log."""

from collections.abc import Iterable
from typing import Any, Final

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth.models import Group
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import User, normalize_email
from accounts.services import connections, security_log
from accounts.sign_in import limits, pending
from accounts.sign_in.origins import origin_of
from accounts.sign_in.sessions import DEVICE, NETWORK, SIGNED_IN_AT
from common.errors import Conflict
from common.processes.background import enqueue_after_commit
from common.web.forms.pages import refusals_shown


@receiver(user_logged_in)
def begin_session(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """The page about sessions shows where each one began, and earlier failures no longer count."""
    limits.signed_in(request, user.email)
    origin = origin_of(request)
    request.session[DEVICE], request.session[NETWORK] = origin
    request.session[SIGNED_IN_AT] = timezone.now().isoformat()
    security_log.record(user_id=user.pk, kind=SecurityEventKind.SIGNED_IN, origin=origin)
    _connect_by_link(request, user)


def _connect_by_link(request: HttpRequest, user: User) -> None:
    """After the mailed link, and after the second factor of who has one."""
    kept = pending.take(request)
    if kept is None or kept.user_id != str(user.pk):
        return
    with refusals_shown(request, Conflict):  # either side was connected in the meantime
        connections.connect_by_link(user=user, identity=kept.identity, origin=origin_of(request))


@receiver(user_logged_out)
def note_sign_out(sender: Any, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        security_log.record(user_id=user.pk, kind=SecurityEventKind.SIGNED_OUT, origin=origin_of(request))


@receiver(user_login_failed)
def note_failed_sign_in(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
) -> None:
    """For pages and the API, whether there is such an account or not."""
    email = normalize_email(str(credentials.get("email") or credentials.get("username") or ""))[:254]
    enqueue_after_commit("accounts.tasks.record_failed_sign_in", email, *origin_of(request), expires=3600)


@receiver([password_changed, password_reset, password_set])
def note_new_password(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    security_log.record(user_id=user.pk, kind=SecurityEventKind.PASSWORD_CHANGED, origin=origin_of(request))


@receiver(authenticator_added)
def note_second_factor(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.SECOND_FACTOR_ADDED, request, user, authenticator)


@receiver(authenticator_removed)
def note_second_factor_gone(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.SECOND_FACTOR_REMOVED, request, user, authenticator)


@receiver(authenticator_reset)
def note_recovery_codes(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.RECOVERY_CODES_CREATED, request, user, authenticator)


def _note_authenticator(
    kind: SecurityEventKind, request: HttpRequest, user: User, authenticator: Authenticator | None
) -> None:
    about = authenticator.get_type_display() if authenticator else "Second factor"
    security_log.record(user_id=user.pk, kind=kind, about=str(about), origin=origin_of(request))


# --- Changes of rights -------------------------------------------------------------------------------

# Changes of a person in the administration are written, too. They are by the person of the current request.

FLAGS: Final = ("is_active", "is_staff", "is_superuser")
DETAILS: Final = ("email", "name", "password")
# The side of a change of many rows that gives its rights to the other one.
RELATIONS: Final = {
    User.groups.through: ("groups", "user_set"),
    User.user_permissions.through: ("user_permissions", "user_set"),
    Group.permissions.through: ("permissions", "group_set"),
}
VERBS: Final = {"post_add": "Given", "post_remove": "Taken", "pre_clear": "Taken"}


def _in_administration() -> bool:
    return getattr(context.request, "in_administration", False)


def _actor() -> User | None:
    user = getattr(context.request, "user", None)
    return user if isinstance(user, User) else None


def _note(person_id: Any, kind: SecurityEventKind, about: str = "") -> None:
    origin = origin_of(context.request)
    security_log.record(user_id=person_id, kind=kind, about=about, actor=_actor(), origin=origin)


def _note_group(group: Group, about: str) -> None:
    """For each member, and for who did it."""
    actor = _actor()
    people = {*group.user_set.values_list("pk", flat=True), *([actor.pk] if actor else [])}
    for person_id in sorted(people):
        _note(person_id, SecurityEventKind.GROUP_CHANGED, f"{group.name}: {about}")


@receiver(pre_save, sender=User)
def note_changed_person(
    sender: Any, instance: User, raw: bool = False, update_fields: Iterable[str] | None = None, **kwargs: Any
) -> None:
    watched: tuple[str, ...] = (*DETAILS, *FLAGS) if _in_administration() else FLAGS
    if update_fields is not None:
        watched = tuple(name for name in watched if name in update_fields)
    if raw or instance._state.adding or not watched or instance.deleted_at:  # noqa: SLF001
        return
    before = User.objects.filter(pk=instance.pk).values(*watched).first() or {}
    changed = [name for name in before if before[name] != getattr(instance, name)]
    for name in changed:
        if name == "email":
            _note(instance.pk, SecurityEventKind.EMAIL_CHANGED, f"From {before[name]}")
        elif name == "password":
            _note(instance.pk, SecurityEventKind.PASSWORD_CHANGED)
        elif name == "name":
            _note(instance.pk, SecurityEventKind.DETAILS_CHANGED, f"Name, from {before[name]}")
    if flags := [f"{name} {'on' if getattr(instance, name) else 'off'}" for name in changed if name in FLAGS]:
        _note(instance.pk, SecurityEventKind.RIGHTS_CHANGED, ", ".join(flags))


@receiver(post_save, sender=User)
def note_new_staff(
    sender: Any, instance: User, created: bool = False, raw: bool = False, **kwargs: Any
) -> None:
    """Others register themselves, which writes a line of its own."""
    if created and not raw and (instance.is_staff or instance.is_superuser):
        about = "Superuser" if instance.is_superuser else "Staff"
        _note(instance.pk, SecurityEventKind.REGISTERED, about)


@receiver(post_delete, sender=User)
def note_deleted_person(sender: Any, instance: User, **kwargs: Any) -> None:
    """The row is gone, so the line says who of the staff it was."""
    _note(instance.pk, SecurityEventKind.ACCOUNT_DELETED, instance.email if instance.is_staff else "")


@receiver(m2m_changed)
def note_rights(
    sender: Any,
    instance: Model,
    action: str,
    reverse: bool,
    model: type[Model],
    pk_set: set[Any] | None,
    **kwargs: Any,
) -> None:
    """Groups and permissions that were given to people and groups, or taken from them."""
    if sender not in RELATIONS or action not in VERBS:
        return
    others: Any = getattr(instance, RELATIONS[sender][reverse]).all()
    if pk_set is not None:
        others = model._default_manager.filter(pk__in=pk_set)  # noqa: SLF001
    holders: Any
    rights: Any
    holders, rights = (others, [instance]) if reverse else ([instance], others)
    named = ", ".join(right.name for right in rights)
    for holder in holders if named else ():
        about = f"{VERBS[action]}: {named}"
        if isinstance(holder, Group):
            _note_group(holder, about)
        else:
            _note(holder.pk, SecurityEventKind.RIGHTS_CHANGED, about)


@receiver(pre_save, sender=Group)
def note_renamed_group(sender: Any, instance: Group, raw: bool = False, **kwargs: Any) -> None:
    before = Group.objects.filter(pk=instance.pk).first()
    if before and not raw and before.name != instance.name:
        _note_group(instance, f"Renamed from {before.name}")


@receiver(post_save, sender=Group)
def note_new_group(
    sender: Any, instance: Group, created: bool = False, raw: bool = False, **kwargs: Any
) -> None:
    if created and not raw:
        _note_group(instance, "Created")


@receiver(pre_delete, sender=Group)
def note_deleted_group(sender: Any, instance: Group, **kwargs: Any) -> None:
    _note_group(instance, "Deleted")
