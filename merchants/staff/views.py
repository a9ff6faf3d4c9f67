"""The staff of a store: who they are, inviting, changing roles, removing. For its owner; leaving is for the others."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Business, Staff, User
from accounts.services.staff import STAFF
from accounts.views.roster import RosterPages, look_or_accept, people_page, register_invited
from common.web.methods import GET_OR_POST
from merchants.access import SESSION_KEY, MerchantRequest, merchant_area, own_business, own_row, owners_page


def _accepted(store: Business, user: User) -> str:
    return f"{resolve_url('merchants:home')}?store={store.slug}"


PAGES = RosterPages(
    roster=STAFF,
    people="merchants:staff",
    role="merchants:staff_role",
    remove="merchants:staff_remove",
    invitation="merchants:invitation",
    elsewhere=("Open your stores", "merchants:businesses"),
    accepted=_accepted,
)


@require_http_methods(GET_OR_POST)
@owners_page
def staff_list(request: MerchantRequest) -> HttpResponse:
    if request.business.is_sandbox:
        raise PermissionDenied("A sandbox store has no staff.")
    return people_page(request, PAGES, request.business, template="merchants/staff/list.html", context={})


@require_POST
@owners_page
def staff_role(request: MerchantRequest, member_id: str) -> HttpResponse:
    _find(request, member_id)
    role = request.POST.get("role", "")
    changed = STAFF.change_role(request.business, by=request.user, member_id=member_id, role=role)
    messages.success(request, f"The role of {changed.email} is {changed.role.label} now.")
    return redirect("merchants:staff")


@require_http_methods(GET_OR_POST)
@owners_page
def staff_remove(request: MerchantRequest, member_id: str) -> HttpResponse:
    """Asks, then removes somebody or takes an invitation back."""
    member = _find(request, member_id)
    if request.method == "POST":
        STAFF.remove(request.business, by=request.user, member_id=member_id)
        messages.success(request, f"{member.address} was removed.")
        return redirect("merchants:staff")
    return render(request, "merchants/staff/remove.html", {"member": member})


def _find(request: MerchantRequest, member_id: str) -> Staff:
    """Of one of the person's stores, which the page then shows. The owner has no row."""
    rows = Staff.objects.standing(timezone.now()).select_related("user")
    return own_row(request, rows, member_id, "Person")


@require_http_methods(GET_OR_POST)
@merchant_area
def leave(request: MerchantRequest, business_id: str) -> HttpResponse:
    """Asks, then ends one's own role in a store."""
    store = own_business(request, business_id)
    if request.method == "POST":
        STAFF.leave(store, user=request.user)
        if request.session.get(SESSION_KEY) == str(store.pk):
            del request.session[SESSION_KEY]
        messages.success(request, f"You left {store.name}.")
        return redirect("merchants:businesses")
    return render(request, "merchants/staff/leave.html", {"store": store})


@require_http_methods(GET_OR_POST)
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    return look_or_accept(request, PAGES, token)


@require_POST
def invitation_register(request: HttpRequest, token: str) -> HttpResponse:
    return register_invited(request, PAGES, token)
