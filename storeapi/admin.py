"""Shop systems in the administration: connecting them, their keys, and how the mirror of each store is (contract, section 17)."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import ShopSystem, User
from accounts.services import shops
from accounts.services.shops import MAX_NAME, MAY_CONNECT, OVERLAP
from common.db.rows import get_or_not_found
from common.errors import Conflict
from common.http.url_policy import MAX_URL_LENGTH
from common.web.admin import ReadOnly
from common.web.forms.kept import typed
from common.web.forms.pages import OneTimeForm, SecretForm, done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST
from storeapi.health import SILENT_AFTER, commands_of, connections, stores_of
from stores.connected.stores import disconnect

LIST, PAGE = "admin:accounts_shopsystem_changelist", "admin:accounts_shopsystem_change"

FIELDS: Final = {"sign-in": "sign_in"}  # of forms, by those of the service's errors

View = Callable[..., HttpResponse]


class UrlsForm(forms.Form):
    commands = forms.CharField(
        label="Commands URL",
        max_length=MAX_URL_LENGTH,
        required=False,
        help_text="Where the platform sends what apps write. Without it, apps only read.",
    )
    sign_in = forms.CharField(
        label="Sign-in URL",
        max_length=MAX_URL_LENGTH,
        required=False,
        help_text="Where people sign in to the shop, who come to the platform without a session.",
    )


class ConnectForm(UrlsForm, SecretForm):
    name = forms.CharField(
        max_length=MAX_NAME,
        help_text="What people know the shop software by. They may read it when they sign in.",
    )
    is_test = forms.BooleanField(
        label="For tests", required=False, help_text="Its stores are sandboxes, whose clock can be moved."
    )


class DisconnectForm(OneTimeForm):
    name = forms.CharField(max_length=MAX_NAME, strip=False)

    def __init__(self, *args: Any, system: ShopSystem, **options: Any) -> None:
        super().__init__(*args, **options)
        self._name = system.name
        self.fields["name"].label = f"Enter the name {system.name}"

    def clean_name(self) -> str:
        if self.cleaned_data["name"].strip() != self._name:
            raise forms.ValidationError("Enter the name exactly as shown.")
        return self._name


@admin.register(ShopSystem)
class ShopSystems(ReadOnly, admin.ModelAdmin):
    """Pages of our own in the place of the list and the form of rows."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_connect(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _may_connect(request)

    def get_urls(self) -> list[URLPattern]:
        name = "accounts_shopsystem"
        actions = {
            "key": new_key,
            "end-old-key": end_old_key,
            "secret": new_secret,
            "urls": change_urls,
            "disconnect": end_connection,
        }
        return [
            path("", _page(listing), name=f"{name}_changelist"),
            path("connect/", _page(connect), name=f"{name}_connect"),
            path("<path:object_id>/change/", _page_of(show), name=f"{name}_change"),
            *(
                path(f"<path:object_id>/{action}/", _page_of(view), name=f"{name}_{action.replace('-', '_')}")
                for action, view in actions.items()
            ),
        ]


def _may_connect(request: HttpRequest) -> bool:
    return cast(User, request.user).has_perm(MAY_CONNECT)


def _page(view: View) -> View:
    """For who may connect shops. Each press asks for a fresh proof, as all of the administration does."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not _may_connect(request):
            raise PermissionDenied("Your account doesn't have permission to do this. Ask an administrator.")
        return view(request, *args, **kwargs)

    guarded.shows_forms_again = True  # type: ignore[attr-defined]
    return cast(View, admin.site.admin_view(never_cache(guarded)))


def _page_of(view: View) -> View:
    """With the connection of the address. Its page says if its state doesn't allow it."""

    @wraps(view)
    def found(request: HttpRequest, object_id: str) -> HttpResponse:
        system = get_or_not_found(ShopSystem.objects.all(), object_id, "Shop system not found")
        try:
            return view(request, system)
        except Conflict as error:
            return _back(request, system, error.message)

    return _page(found)


def _back(request: HttpRequest, system: ShopSystem, message: str) -> HttpResponse:
    messages.error(request, message)
    return redirect(PAGE, system.pk)


def _context(request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": title, **more}


def _log(request: HttpRequest, system: ShopSystem, message: str, flag: int = CHANGE) -> None:
    LogEntry.objects.log_actions(
        cast(User, request.user).pk, [system], flag, change_message=message, single_object=True
    )


def listing(request: HttpRequest) -> HttpResponse:
    found = connections()
    return render(request, "storeapi/systems.html", _context(request, "Shop systems", systems=found))


@require_http_methods(GET_OR_POST)
def connect(request: HttpRequest) -> HttpResponse:
    form = ConnectForm(typed(request))

    def save() -> HttpResponse:
        values = form.cleaned_data
        made = shops.connect(
            name=values["name"],
            commands_url=values["commands"],
            sign_in_url=values["sign_in"],
            is_test=values["is_test"],
        )
        _log(request, made.system, "Connected.")
        return _shown(request, made.system, f"{made.system} is connected", key=made.key, secret=made.secret)

    response = saved(
        request,
        form,
        save,
        again=lambda first: sent_again(request, reverse(LIST), first),
        names=FIELDS,
        conflict="name",
    )
    return response or form_page(
        request, "storeapi/connect.html", _context(request, "Connect a shop system", form=form)
    )


def _shown(request: HttpRequest, system: ShopSystem, title: str, **secrets: str | int) -> HttpResponse:
    """What is shown once."""
    return render(request, "storeapi/shown_once.html", _context(request, title, system=system, **secrets))


def show(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    values = {
        "system": system,
        "keys": shops.keys_of(system, timezone.now()),
        "stores": stores_of(system),
        "commands": commands_of(system),
        "silent_hours": SILENT_AFTER // timedelta(hours=1),
    }
    return render(request, "storeapi/system.html", _context(request, system.name, **values))


def _pressed(request: HttpRequest, system: ShopSystem, made: Callable[[], HttpResponse]) -> HttpResponse:
    """A button whose page shows a secret: reloaded, it makes no other one."""
    form = SecretForm(request.POST)
    response = saved(
        request, form, made, again=lambda first: sent_again(request, reverse(PAGE, args=[system.pk]), first)
    )
    why = str(next(iter(form.non_field_errors()), "Press the button again."))
    return response or _back(request, system, why)


@require_POST
def new_key(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    def made() -> HttpResponse:
        key = shops.new_key(system=system)
        _log(request, system, "New key.")
        return _shown(request, system, f"New key of {system}", key=key, hours=OVERLAP // timedelta(hours=1))

    return _pressed(request, system, made)


@require_POST
def new_secret(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    def made() -> HttpResponse:
        secret = shops.new_secret(system=system)
        _log(request, system, "New secret.")
        return _shown(request, system, f"New secret of {system}", secret=secret)

    return _pressed(request, system, made)


@require_http_methods(GET_OR_POST)
def change_urls(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    if system.ended_at is not None:
        raise Conflict("This shop system is disconnected.")
    now = {"commands": system.commands_url, "sign_in": system.sign_in_url}
    form = UrlsForm(typed(request), initial=now)

    def save() -> HttpResponse:
        values = form.cleaned_data
        shops.change_urls(system=system, commands_url=values["commands"], sign_in_url=values["sign_in"])
        _log(request, system, "Changed the URLs.")
        return done(request, "The URLs are saved.", PAGE, system.pk)

    values = _context(request, f"URLs of {system}", system=system, form=form)
    return saved(request, form, save, names=FIELDS) or form_page(request, "storeapi/urls.html", values)


@require_POST
def end_old_key(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    shops.end_old_key(system=system)
    _log(request, system, "Ended the old key.")
    return done(request, "The old key has ended.", PAGE, system.pk)


@require_http_methods(GET_OR_POST)
def end_connection(request: HttpRequest, system: ShopSystem) -> HttpResponse:
    if system.ended_at is not None:
        raise Conflict("This shop system is disconnected.")
    form = DisconnectForm(typed(request), system=system)

    def save() -> HttpResponse:
        disconnect(system=system)
        _log(request, system, "Disconnected.", DELETION)
        return done(request, f"{system} is disconnected. Its stores are being removed.", LIST)

    values = _context(request, f"Disconnect {system}", system=system, form=form, stores=system.stores.count())
    return saved(request, form, save) or form_page(request, "storeapi/disconnect.html", values)
