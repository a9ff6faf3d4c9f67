"""One customer: what is stored, a copy of it, and erasing it (contract, section 12)."""

from typing import Any, Final

import orjson
from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import Business
from common import lengths, places
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound
from common.places import Work
from common.times import iso
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page, orders_page, own_row
from merchants.lists import ROWS
from stores.customers import Person, open_order, orders_of, reviews_of
from stores.models import CustomerErasure
from stores.records import OrderRecord, ReviewRecord
from stores.serializers import order_payload, review_payload
from stores.services.customer_erasure import erase as erase_customer
from webhooks.queries import customer_erasures

SHOWN: Final = 50  # orders, and reviews, of one customer
NOTHING: Final = "Nothing is stored for this customer."


@require_safe
@orders_page
def customers(request: MerchantRequest) -> HttpResponse:
    """Finds by `email` or `phone`, one of the two, and lists who was erased, without a name."""
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    done = customer_erasures(request.business)
    context: dict[str, Any] = {
        "form": CustomerSearch(request.GET if _is_asked(request.GET) else None, store=request.business),
        "page_request": wanted,
        "erasures": list(done[wanted.window]),
        "total": done.count(),
        "may": request.manages,
    }
    form = context["form"]
    if form.is_bound and not form.is_valid():
        return render(request, "merchants/customers/customers.html", context, status=UNPROCESSABLE)
    if form.is_bound:
        context |= _stored(request, form.person)
    return render(request, "merchants/customers/customers.html", context)


def _is_asked(query: QueryDict) -> bool:
    return "email" in query or "phone" in query


def _stored(request: MerchantRequest, person: Person) -> dict[str, Any]:
    places.require(Work.SEARCH)
    orders, reviews = orders_of(request.business, person), reviews_of(request.business, person)
    return {
        "person": person,
        "orders": list(orders[:SHOWN]),
        "order_total": orders.count(),
        "reviews": list(reviews[:SHOWN]),
        "review_total": reviews.count(),
        "most": SHOWN,
    }


def _person(request: MerchantRequest) -> Person:
    """The one that the page was asked for. Raises `Invalid`."""
    given = request.POST if request.method == "POST" else request.GET
    return Person.of(email=given.get("email", ""), phone=given.get("phone", ""), store=request.business)


@require_safe
@merchant_page
def export(request: MerchantRequest) -> HttpResponse:
    """A JSON file with all that is stored, as the app API has it. Raises `NotFound` without any."""
    if not _is_asked(request.GET):
        return redirect("merchants:customers")
    person, business = _person(request), request.business
    places.require(Work.EXPORT)
    orders = [order_payload(OrderRecord.of(order)) for order in orders_of(business, person)]
    reviews = [review_payload(ReviewRecord.of(review)) for review in reviews_of(business, person)]
    if not orders and not reviews:
        raise NotFound(NOTHING)
    record = {
        "businessId": str(business.pk),
        "business": business.name,
        "exportedAt": iso(timezone.now()),
        "customer": {"email": person.email or None, "phone": person.phone or None},
        "orders": orders,
        "reviews": reviews,
    }
    response = HttpResponse(
        orjson.dumps(record, option=orjson.OPT_INDENT_2), content_type="application/json; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="customer-{business.slug}.json"'
    return response


@require_http_methods(GET_OR_POST)
@merchant_page
def erase(request: MerchantRequest) -> HttpResponse:
    """Says what goes and what stays, and asks. 409, with the order, while one of the customer's is open."""
    if request.method != "POST" and not _is_asked(request.GET):
        return redirect("merchants:customers")  # from the sign-in page, which keeps no name
    person = _person(request)
    if request.method == "POST":
        return _erase(request, person)
    stored = _stored(request, person)
    if not stored["orders"] and not stored["reviews"]:
        messages.info(request, NOTHING)
        return redirect("merchants:customers")
    return _ask(request, person, stored)


def _ask(request: MerchantRequest, person: Person, stored: dict[str, Any]) -> HttpResponse:
    waiting = open_order(request.business, person)
    context = stored | {"waiting": waiting, "back": _search_of(person)}
    return render(request, "merchants/customers/erase.html", context, status=409 if waiting else 200)


def _erase(request: MerchantRequest, person: Person) -> HttpResponse:
    """Pressed twice, it is done once: the second finds nothing."""
    try:
        done = erase_customer(business=request.business, person=person, by=request.user)
    except Conflict:
        return _ask(request, person, _stored(request, person))
    except NotFound:
        messages.info(request, NOTHING)
        return redirect("merchants:customers")
    messages.success(request, "The customer is erased.")
    return redirect("merchants:customer_erasure", done.pk)


def _search_of(person: Person) -> str:
    query = QueryDict(mutable=True)
    query.update(person.fields)
    return f"{reverse('merchants:customers')}?{query.urlencode()}"


@require_safe
@orders_page
def erasure(request: MerchantRequest, erasure_id: str) -> HttpResponse:
    """The receipt: when, and what each app answered. Kept forever; it says nothing of the person."""
    found = own_row(request, CustomerErasure.objects.select_related("by"), erasure_id, "Erasure")
    whole = get_or_not_found(customer_erasures(found.business), found.pk, "Erasure not found")
    context = {"erasure": whole, "now": timezone.now()}
    return render(request, "merchants/customers/receipt.html", context)


class CustomerSearch(forms.Form):
    """Exactly one of the two. `person` is the result."""

    use_required_attribute = False
    email = forms.CharField(
        label="E-mail",
        required=False,
        max_length=lengths.EMAIL,
        widget=forms.TextInput({"type": "search", "inputmode": "email", "autocomplete": "off"}),
    )
    phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=60,
        widget=forms.TextInput({"type": "search", "inputmode": "tel", "autocomplete": "off"}),
    )
    person: Person

    def __init__(self, *args: Any, store: Business, **options: Any) -> None:
        super().__init__(*args, **options)
        self.store = store

    def clean(self) -> dict[str, Any]:
        typed = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.person = Person.of(email=typed["email"], phone=typed["phone"], store=self.store)
            except Invalid as error:
                for problem in error.details:
                    self.add_error(problem["field"], problem["message"])
        return typed
