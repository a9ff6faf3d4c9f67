"""The start page of a store, its businesses and settings, and which notices are mailed."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from django import forms
from django.db import transaction
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.enums import Frequency, StoreNotice, StoreRole
from accounts.forms import NoticesForm
from accounts.models import User
from accounts.services import create_business
from accounts.services.businesses import BusinessChanges
from accounts.services.outbox import (
    OF_ORDERS,
    choose_frequencies,
    choose_mails,
    frequency_of,
    mail_address_of,
)
from common.errors import ServiceError
from common.web.csv_files import CsvLines
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from common.web.requests import is_own_page
from extensions.in_store.embeds_and_blocks import embeds_among
from extensions.in_store.script_inventory import Inventory, InventoryEntry, inventory_of
from merchants import access
from merchants.frame import checkout_concerns, concerns_of, recent_news
from merchants.store import overview
from merchants.store.forms import BusinessForm, StoreForm
from merchants.store.overview import RANGES, sales_of
from merchants.store.queries import waiting_in
from merchants.templatetags.installed_apps import app_rows
from merchants.templatetags.merchant_store import newest_row
from stores import queries
from stores.addresses import store_url
from stores.services import settings as store_settings
from stores.services.merchant_mails import choices_changed

COLUMNS: Final = (
    "Kind", "Address", "Name", "Whose", "Why", "Since", "SHA-256", "Pinned to", "Bytes", "Last change", "Last look", "State",
)  # fmt: skip
SHOWN = 5
FIELDS = {wire: column for column, wire in store_settings.WIRE_NAMES.items()}
OF_BUSINESS = BusinessChanges.__annotations__.keys()


@require_http_methods(GET_OR_POST)
@access.merchant_page
def settings(request: access.MerchantRequest) -> HttpResponse:
    current = queries.store_settings(request.business)
    form = StoreForm(
        typed(request),
        request.FILES or None,
        business=request.business,
        current=current,
        currency_is_fixed=store_settings.currency_is_fixed(request.business),
    )
    if response := saved(request, form, lambda: _save(request, form), names=FIELDS, conflict="currency"):
        return response
    return form_page(request, "merchants/store/store.html", {"form": form, "current": current})


@require_safe
@access.merchant_page
def view(request: access.MerchantRequest) -> HttpResponse:
    """The store as shoppers see it. The first visit ticks a step of a new store."""
    store_settings.mark_seen(request.business)
    return redirect(store_url(request.business.slug))


def _save(request: access.MerchantRequest, form: StoreForm) -> HttpResponse:
    changes = form.changes
    for name in ("logo", "hero_picture"):
        if changes.pop(f"remove_{name}", False):
            changes.setdefault(name, None)
    if "hero_picture" in changes:
        changes["hero_alt"] = form.cleaned_data["hero_alt"]
    of_business = {name: value for name, value in changes.items() if name in OF_BUSINESS}
    look = {name: value for name, value in changes.items() if name not in OF_BUSINESS}
    try:
        with transaction.atomic():
            if look:
                store_settings.change_look(business=request.business, **cast(store_settings.Look, look))
            if of_business:
                store_settings.change_business(business=request.business, **cast(Any, of_business))
    except ServiceError:
        request.business.refresh_from_db()  # the frame shows what is saved
        raise
    return done(request, "Saved.", "merchants:store")


@require_safe
@access.orders_page
def home(request: access.MerchantRequest) -> HttpResponse:
    """What needs attention, the sales of the last days (`days`: 7, 30 or 90), the newest orders, and apps.

    People who only work with orders begin at these, and those of a store without this page at its apps or notices.
    """
    if not request.business.capabilities.overview:
        return redirect("merchants:installed" if request.manages else "merchants:notices")
    if not request.manages:
        return redirect("merchants:orders")
    business, apps = request.business, request.apps
    chosen = request.GET.get("days", "")
    days = int(chosen) if chosen in map(str, RANGES) else RANGES[0]
    sales = sales_of(business, days=days)
    waiting, to_confirm = waiting_in(business), business.to_confirm  # type: ignore[attr-defined]  # annotated
    orders = list(map(newest_row, overview.newest_orders(business)))
    context = {
        "sales": sales,
        "chart": sales.chart(business),
        "ranges": RANGES,
        "orders": orders,
        "first_order": orders[0] if len(orders) == 1 else None,
        "has_products": waiting.has_products,
        "concerns": [*concerns_of(apps), *overview.store_concerns(to_confirm, waiting)],
        "steps": overview.first_steps(business, has_products=waiting.has_products, has_apps=bool(apps)),
        "apps": app_rows(apps[:SHOWN]),
    }
    return render(request, "merchants/store/home.html", context)


@require_safe
@access.merchants_only
def business_list(request: access.MerchantRequest) -> HttpResponse:
    """Own ones first, and those in which the person works."""
    return render(request, "merchants/store/businesses.html")


@require_http_methods(GET_OR_POST)
@access.merchants_only
def business_add(request: access.MerchantRequest) -> HttpResponse:
    form = BusinessForm(typed(request))

    def save() -> HttpResponse:
        fields = {name: value for name, value in form.cleaned_data.items() if name != "form_token"}
        made = create_business(owner=request.user, **fields)
        made.store_role = StoreRole.OWNER
        access.switch_to(request, made)
        return done(request, f"{made.name} created.", "merchants:home")

    if response := saved(request, form, save, again=partial(sent_again, request, "merchants:businesses")):
        return response
    return form_page(request, "merchants/store/business_add.html", {"form": form})


@require_POST
@access.merchants_only
def business_switch(request: access.MerchantRequest) -> HttpResponse:
    """Body: `business`, and `next`, a page to go on with."""
    access.switch_to(request, access.own_business(request, request.POST.get("business")))
    page = request.POST.get("next", "")
    return redirect(page if is_own_page(page, request) else "merchants:home")


class MerchantNoticesForm(NoticesForm):
    """The person's mails about apps, and how often each kind of notice about their stores is mailed.

    Staff who don't manage the store choose notices about its orders and reviews. There are none in a store without this news.
    """

    def __init__(self, data: Any, *, user: User, manages: bool, has_news: bool = True) -> None:
        super().__init__(data, user=user)
        if not manages:
            del self.fields["mails"]
        elif not user.capabilities.accounts:
            self.fields["mails"].help_text = ""  # there is no security of an account to mail about
        self.kinds = () if not has_news else tuple(StoreNotice) if manages else OF_ORDERS
        for kind in self.kinds:
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label, choices=Frequency.choices, initial=frequency_of(user, kind).value
            )

    @property
    def how_often(self) -> list[BoundField]:
        return [self[kind.value] for kind in self.kinds]

    def save(self, user: User) -> None:
        changes = self.changes
        if "mails" in changes:
            choose_mails(user=user, wanted=changes["mails"])
        chosen = {kind: Frequency(changes[kind.value]) for kind in self.kinds if kind.value in changes}
        if chosen:
            choose_frequencies(user=user, chosen=chosen)
            choices_changed(person=user)


@require_http_methods(GET_OR_POST)
@access.orders_page
def notices(request: access.MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    form = MerchantNoticesForm(
        typed(request) if request.user.is_merchant else None,
        user=request.user,
        manages=request.manages,
        has_news=request.business.capabilities.merchants_news,
    )

    def save() -> HttpResponse:
        form.save(request.user)
        return done(request, "Saved.", "merchants:notices")

    if response := saved(request, form, save):
        return response
    context = {
        "form": form,
        "concerns": [*concerns_of(request.apps), *checkout_concerns(request.business)],
        "news": recent_news(request.business) if request.manages else (),
        "mails_to": mail_address_of(request.user),
    }
    return form_page(request, "merchants/store/notices.html", context)


@require_safe
@access.merchant_page
def scripts(request: access.MerchantRequest) -> HttpResponse:
    return render(request, "merchants/store/scripts.html", {"inventory": _inventory(request)})


@require_safe
@access.merchant_page
def export(request: access.MerchantRequest) -> HttpResponse:
    """The same as CSV, for an assessor."""
    lines = "".join(_lines(_inventory(request), request.business.timezone))
    response = HttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="scripts-{request.business.slug}.csv"'
    return response


def _inventory(request: access.MerchantRequest) -> Inventory:
    of_apps = [embed for app in request.apps for embed in app.embeds]
    return inventory_of(request.business, embeds_among(of_apps))


def _lines(inventory: Inventory, timezone: str) -> Iterator[str]:
    file, zone = CsvLines(), ZoneInfo(timezone)
    yield "\ufeff"  # by which spreadsheets recognize UTF-8
    yield file.line(COLUMNS)
    for each in inventory.entries:
        yield file.line(_values(each, zone))


def _values(each: InventoryEntry, zone: ZoneInfo) -> list[Any]:
    def local(moment: datetime | None) -> str:
        return moment.astimezone(zone).isoformat(sep=" ", timespec="seconds") if moment else ""

    return [
        each.kind,
        each.url,
        each.name,
        each.owner,
        each.why,
        local(each.since),
        each.sha256,
        each.pin,
        "" if each.size is None else each.size,
        local(each.changed_at),
        local(each.seen_at),
        state_of(each),
    ]


def state_of(each: InventoryEntry) -> str:
    if each.is_held_back:
        return "Not on pages: it isn’t what its developer pinned"
    return f"Not reached at the last look: {each.problem}" if each.problem else "On pages"
