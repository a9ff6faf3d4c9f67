"""The customers of a store, and one of them: what is stored, a copy of it, and erasing it (contract, section 12).

No address here has a person's contact in it, which would end in logs, histories and referrers. A person is found by a form that is sent, and
has the address of an order or a review that is theirs.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django import forms
from django.contrib import messages
from django.db.models import Max
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import Business
from common import lengths, places
from common.contacts import kept_email_key, kept_phone_key
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound
from common.ids import parse_id
from common.places import Work
from common.times import iso
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from extensions.queries import shown_attributes
from merchants.access import MerchantRequest, merchant_page, orders_page, own_row
from merchants.lists import ROWS, store_query
from merchants.store.queries import SPENT, customers_of
from merchants.templatetags.merchant_store import customer_rows, each_dated, order_rows
from stores.customers import Person, open_order, orders_of, reviews_of
from stores.models import CustomerErasure, Order, Review
from stores.records import OrderRecord, ReviewRecord
from stores.serializers import order_payload, review_payload
from stores.services.customer_erasure import erase as erase_customer
from webhooks.queries import customer_erasures

SHOWN: Final = 50  # orders, and reviews, of one customer
ERASURES: Final = 10
NOTHING: Final = "Nothing is stored for this customer."
BY_PHONE: Final = "phone"


@require_http_methods(GET_OR_POST)
@orders_page
def customers(request: MerchantRequest) -> HttpResponse:
    """The people who ordered, for those who manage the store; who was erased, without a name. Body: `q`, as `CustomerSearch` takes it.

    Links that others have made may have `email` or `phone`. They lead on to the person's page.
    """
    asked = next((name for name in ("email", "phone") if name in request.GET), "")
    data: Any = {"q": request.GET[asked]} if asked else typed(request)
    form = CustomerSearch(data, store=request.business, has_list=request.manages, kind=asked)
    name, person = (form.name, form.person) if form.is_bound and form.is_valid() else ("", None)
    if person and (page := _address_of(request.business, person)):
        return page
    before = parse_id(request.GET.get("before"))
    context = _erasures(request) | {"form": form, "before": before}
    if request.manages and not form.errors and not person:
        found = customers_of(request.business, before=before, search=name, most=ROWS + 1)
        shown, has_older = found[:ROWS], len(found) > ROWS and not name
        context |= {
            "customers": customer_rows(shown),
            "has_older": has_older,
            "last": shown[-1].newest.pk if shown else "",
        }
    return render(
        request, "merchants/customers/customers.html", context, status=UNPROCESSABLE if form.errors else 200
    )


def _erasures(request: MerchantRequest) -> dict[str, Any]:
    wanted = page_request(request.GET, default=ERASURES, maximum=ERASURES)
    done = customer_erasures(request.business)
    return {"page_request": wanted, "erasures": list(done[wanted.window]), "total": done.count()}


def _address_of(business: Business, person: Person) -> HttpResponseRedirect | None:
    """That of the person's newest order, or review. None if nothing is stored."""
    places.require(Work.SEARCH)
    order = orders_of(business, person).prefetch_related(None).first()
    row = order or reviews_of(business, person).first()
    if row is None:
        return None
    page = reverse("merchants:customer", args=[row.pk])
    return HttpResponseRedirect(f"{page}?by={BY_PHONE}" if order and _is_of_mail(order, person) else page)


def _is_of_mail(order: Order, person: Person) -> bool:
    """Whether the order is that of an e-mail address, although its phone number was asked for."""
    return bool(person.phone) and bool(kept_email_key(order.customer_email))


@dataclass(frozen=True, slots=True)
class PersonInRow:
    """A person, with the parts of the addresses of the pages about them."""

    person: Person
    row: Order | Review

    @property
    def query(self) -> str:
        has_mail = isinstance(self.row, Order) and _is_of_mail(self.row, self.person)
        return f"?by={BY_PHONE}" if has_mail else ""

    @property
    def export_page(self) -> str:
        return self.page("customer_export")

    @property
    def erase_page(self) -> str:
        return self.page("customer_erase")

    def page(self, name: str = "customer") -> str:
        return reverse(f"merchants:{name}", args=[self.row.pk]) + self.query


def _found(request: MerchantRequest, row_id: str) -> PersonInRow:
    """The person whose order or review this is. Raises `NotFound`, also once the person is erased."""
    row: Order | Review
    try:
        row = own_row(request, Order.objects.all(), row_id, "Customer")
        email, phone = kept_email_key(row.customer_email), kept_phone_key(row.customer_phone)
    except NotFound:
        row = own_row(request, Review.objects.all(), row_id, "Customer")
        email, phone = kept_email_key(row.author_email), ""
    by = request.POST.get("by") or request.GET.get("by")
    if phone and (not email or by == BY_PHONE):
        return PersonInRow(Person(phone=phone), row)
    if not email:
        raise NotFound(NOTHING)
    return PersonInRow(Person(email=email), row)


@require_safe
@orders_page
def customer(request: MerchantRequest, customer_id: str) -> HttpResponse:
    """What is stored about one person, whose order or review has this id. `by` is `phone` for that of an order with both."""
    found = _found(request, customer_id)
    stored = _stored(request, found.person)
    orders = stored["orders"]
    sums = orders_of(request.business, found.person).order_by().aggregate(spent=SPENT, last=Max("created_at"))
    context = (
        stored
        | sums
        | {
            "found": found,
            "name": orders[0].customer_name if orders else stored["reviews"][0].author_name,
            "rows": each_dated(order_rows(orders, (), may_select=False)),
            "newest": orders[0] if orders else None,
            "notes": [order for order in orders if order.note],
        }
    )
    return render(request, "merchants/customers/customer.html", context)


def _stored(request: MerchantRequest, person: Person) -> dict[str, Any]:
    """Raises `NotFound` without any."""
    places.require(Work.SEARCH)
    orders, reviews = orders_of(request.business, person), reviews_of(request.business, person)
    stored = {
        "person": person,
        "orders": list(orders[:SHOWN]),
        "order_total": orders.count(),
        "reviews": list(reviews[:SHOWN]),
        "review_total": reviews.count(),
        "most": SHOWN,
    }
    if not stored["orders"] and not stored["reviews"]:
        raise NotFound(NOTHING)
    return stored


@require_safe
@merchant_page
def export(request: MerchantRequest, customer_id: str) -> HttpResponse:
    """A JSON file with all that is stored, as the app API has it."""
    person, business = _found(request, customer_id).person, request.business
    places.require(Work.EXPORT)
    record = {
        "businessId": str(business.pk),
        "business": business.name,
        "exportedAt": iso(timezone.now()),
        "customer": {"email": person.email or None, "phone": person.phone or None},
        "orders": [_exported(order) for order in orders_of(business, person)],
        "reviews": [review_payload(ReviewRecord.of(review)) for review in reviews_of(business, person)],
    }
    response = HttpResponse(
        orjson.dumps(record, option=orjson.OPT_INDENT_2), content_type="application/json; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="customer-{business.slug}.json"'
    return response


def _exported(order: Order) -> dict[str, Any]:
    """With what all apps have put there. Keys of customers are each app's own."""
    record = order_payload(OrderRecord.of(order))
    del record["customer"]["key"]
    found = shown_attributes((order.attributes or {}).items())
    return record | {"attributes": {each.slug: dict(each.values) for each in found}}


@require_http_methods(GET_OR_POST)
@merchant_page
def erase(request: MerchantRequest, customer_id: str) -> HttpResponse:
    """Says what goes and what stays, and asks. 409, with the order, while one of the customer's is open. Pressed twice, it is done once."""
    try:
        found = _found(request, customer_id)
        if request.method != "POST":
            return _ask(request, found)
        done = erase_customer(business=request.business, person=found.person, by=request.user)
    except Conflict:
        return _ask(request, found)
    except NotFound as error:
        if str(error.message) != NOTHING:
            raise
        messages.info(request, NOTHING)
        return redirect(reverse("merchants:customers") + store_query(request))
    messages.success(request, "The customer is erased.")
    return redirect("merchants:customer_erasure", done.pk)


def _ask(request: MerchantRequest, found: PersonInRow) -> HttpResponse:
    stored, waiting = _stored(request, found.person), open_order(request.business, found.person)
    context = stored | {"waiting": waiting, "back": found.page()}
    return render(request, "merchants/customers/erase.html", context, status=409 if waiting else 200)


@require_safe
@orders_page
def erasure(request: MerchantRequest, erasure_id: str) -> HttpResponse:
    """The receipt: when, and what each app answered. Kept forever; it says nothing of the person."""
    found = own_row(request, CustomerErasure.objects.select_related("by"), erasure_id, "Erasure")
    whole = get_or_not_found(customer_erasures(found.business), found.pk, "Erasure not found")
    context = {"erasure": whole, "now": timezone.now()}
    return render(request, "merchants/customers/receipt.html", context)


class CustomerSearch(forms.Form):
    """Exactly one e-mail address or phone number: `person` is the result. With a list, it may be a part of a `name` as well.

    `kind` is what the text is said to be, where somebody said it.
    """

    use_required_attribute = False
    q = forms.CharField(
        max_length=lengths.EMAIL, widget=forms.TextInput({"type": "search", "autocomplete": "off"})
    )
    person: Person | None = None
    name = ""

    def __init__(self, *args: Any, store: Business, has_list: bool, kind: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self.store, self.has_list, self.kind = store, has_list, kind
        self.fields["q"].label = "Name, e-mail or phone" if has_list else "E-mail or phone"
        self.fields["q"].error_messages["required"] = "Enter an e-mail address or a phone number."

    def clean_q(self) -> str:
        text: str = self.cleaned_data["q"].strip()
        kind = self.kind or _kind_of(text)
        if self.has_list and not kind:
            self.name = text
            return text
        try:
            self.person = Person.of(store=self.store, **{kind or "email": text})
        except Invalid as error:
            raise forms.ValidationError([problem["message"] for problem in error.details]) from error
        return text


def _kind_of(text: str) -> str:
    """What a text looks like: `email`, `phone`, or a name."""
    if "@" in text:
        return "email"
    return "phone" if re.search(r"\d", text) and not re.search(r"[^\W\d_]", text) else ""
