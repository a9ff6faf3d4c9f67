"""Decides which business a page under `/merchant/` shows, and asks `accounts.access` whether the person's role there is enough.

A developer sees their sandbox store, and a reviewer the test store on which apps in review are tried. A merchant sees the businesses
that they own or work in. With several it is that of the page's object, such as an order; else the one that the address names (`?store=`), or that was chosen, which
the session remembers. A form is for the business that its page showed (docs/decisions/0090). Only **Open** chooses another one. Times
are in the time zone of the business.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlencode, urlsplit

from django.core.exceptions import PermissionDenied
from django.db.models import DateTimeField, Model, QuerySet, UUIDField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import resolve
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounts.access import copies_of, dashboards_of, may, require_rank, with_roles
from accounts.enums import StoreRole
from accounts.models import Business, User
from common.db.compiled import Compiled, Param
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound
from common.ids import parse_id
from common.web.errors import answer_to
from common.web.forms.kept import asked_again, count_form, signed_in
from common.web.forms.stamps import stamp_of
from installations.models import Trial
from installations.queries import own_installation
from merchants import frame
from merchants.frame import Frame, InstalledApp, StoreApps
from merchants.lists import NAMED_BY
from merchants.navigation import MenuEntry, entries_of
from merchants.store.queries import with_orders_to_confirm

Page = Callable[..., HttpResponse]
Row = TypeVar("Row", bound=Model)
SESSION_KEY = "business"
NO_LONGER_YOURS: Final = "This page was of a store that you no longer manage. Nothing was saved."
NO_PAGE: Final = "This store doesn’t have this page."
OF_WHICH_STORE: Final = "Nothing is saved yet: the form doesn’t say which of your stores it is for."


class MerchantRequest(HttpRequest):
    """A request that passed `merchant_page`. The layout of these pages reads all of it.

    `businesses` are the person's, own ones first, each with their `store_role`; `stores` those that aren't copies for a trial. `apps` are those of the one that is shown, which isn't
    always the `chosen` one; none for a person who may not see them. `frame` is what every page shows of them. `least` is the role that
    the page asks for, if it is of a store, `needs` the capability, and `closed_by` one with which only managers open the page.
    """

    user: User
    businesses: list[Business]
    stores: list[Business]
    tried: Business | None  # the copy of this store, while an app is tried on it
    trial: Trial | None  # of which this store is the copy
    chosen: Business
    business: Business
    apps: list[InstalledApp]
    frame: Frame
    least: StoreRole | None
    needs: str
    closed_by: str
    manages: bool  # whether the role is MANAGER or OWNER
    owns: bool
    navigation: list[tuple[MenuEntry, str]]  # each with its address
    form_about: str  # for the stamps of forms
    layout: str  # of the pages


def merchant_area(view: Page) -> Page:
    """For merchants and developers, and reviewers with a test store. Visitors are sent to sign in, others get a 403.

    The request's `business` is None for a merchant who has none yet.
    """
    return _area(view, None)


def _area(view: Page, least: StoreRole | None, closed_by: str = "") -> Page:
    @signed_in
    @wraps(view)
    def guarded(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST":
            count_form(request)
        if not hasattr(request, "businesses"):
            request.businesses = _businesses(request.user)
        request.stores = [each for each in request.businesses if each.copy_of_id is None]
        request.least, request.needs = least, _needs_of(getattr(request.resolver_match, "func", None))
        request.closed_by, request.manages, request.owns = closed_by, False, False
        request.layout = "merchants/store/layout.html"
        request.chosen = cast(Business, _chosen(request))
        business = _business_of(request)
        if business is None and not request.user.is_merchant:
            raise PermissionDenied(
                "Only merchants and developers can open these pages. Sign in with another account."
            )
        _show(request, _until_known(request, business))
        try:
            return _staying(request, view(request, *args, **kwargs))
        finally:
            if request.method == "POST" and request.business is not None:
                frame.changed(request.business.pk)

    return guarded


# Every page asks this.
_PERSON: Final[Any] = Param("person", UUIDField())
_STORES: Final = Compiled(
    lambda: with_orders_to_confirm(
        with_roles(dashboards_of(_PERSON, Param("now", DateTimeField())).main_first(), _PERSON)
    ),
    prepared_as="merchants_stores",
)


def _businesses(user: User) -> list[Business]:
    """Own ones first, and of these the main one; copies on which apps are tried last."""
    found = _STORES.rows(person=user.pk, now=timezone.now())
    return sorted(found, key=lambda each: (each.copy_of_id is not None, each.store_role != StoreRole.OWNER))


def _until_known(request: MerchantRequest, business: Business | None) -> Business | None:
    """The store to begin with. On the page of an object it may be another one in which the role is enough, until the object says."""
    match, least = request.resolver_match, request.least
    if business is None or least is None or not (match and match.kwargs):
        return business
    enough = [
        each
        for each in (business, *request.businesses)
        if may(each.store_role, _least_in(each, least, request.closed_by)) and _has(each, request.needs)
    ]
    return next(iter(enough), business)


def page_for(least: StoreRole, *, closed_by: str = "") -> Callable[[Page], Page]:
    """Like `merchant_area`, for a page of a store. Below the role it is a 403, whichever store the page turns out to show.

    Stores with the capability `closed_by` ask for a manager instead. A merchant without a business is sent to add one.
    """

    def decorate(view: Page) -> Page:
        @wraps(view)
        def with_business(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.business is None:
                return redirect("merchants:business_add")
            if request.method == "POST" and _is_of_any_store(request):
                return _asked_for_which(request)
            return view(request, *args, **kwargs)

        return _area(with_business, least, closed_by)

    return decorate


def _least_in(business: Business, least: StoreRole, closed_by: str) -> StoreRole:
    return StoreRole.MANAGER if closed_by and _has(business, closed_by) else least


merchant_page = page_for(StoreRole.MANAGER)
orders_page = page_for(StoreRole.ORDERS)
"""For everybody who works in the store."""
owners_page = page_for(StoreRole.OWNER)
_page_of_an_app = page_for(StoreRole.ORDERS, closed_by="private_app_pages")


class CapabilityMiddleware:
    """Refuses pages that `only_with` marks to people who have none such. Has to be outside of what refuses methods, and forms of
    strangers. Which store has them, the page decides, which knows of which one it is.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: MerchantRequest, view: Page, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        needs = _needs_of(view)
        if not needs or not request.user.is_authenticated:
            return None
        if not getattr(request.user.capabilities, needs) and not _is_on_copy(request):
            return answer_to(request, NotFound(NO_PAGE))
        return None


def _is_on_copy(request: MerchantRequest) -> bool:
    """A copy of a store has pages that the store itself hasn't, as a store of its own."""
    known = request.session.get(SESSION_KEY)
    return any(str(each.pk) == known for each in copies_of(request.user, timezone.now()))


def _needs_of(view: Any) -> str:
    return getattr(view, "needs", "")


def _has(business: Business, capability: str) -> bool:
    return not capability or getattr(business.capabilities, capability)


def merchants_only(view: Page) -> Page:
    """For merchants only: a developer has one store, the sandbox."""

    @merchant_area
    @wraps(view)
    def guarded(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_merchant:
            raise PermissionDenied(
                "Only merchants have several businesses. A developer has one store, the sandbox."
            )
        return view(request, *args, **kwargs)

    return guarded


def sees_apps(request: HttpRequest) -> bool:
    """Whether the store with which the dashboard would begin has its apps open to this merchant, for links that lead there."""
    known = cast(MerchantRequest, request)
    known.businesses = _businesses(known.user)
    store = _chosen(known)
    return store is None or may(store.store_role, StoreRole.MANAGER)


def switch_to(request: MerchantRequest, business: Business) -> None:
    """Show this business, one of the person's, from now on."""
    request.session[SESSION_KEY] = str(business.pk)
    request.chosen = business
    _show(request, business)


def own_business(request: MerchantRequest, business_id: object) -> Business:
    """One of those that the person owns or works in. Raises `NotFound` for another one and for an invalid id."""
    wanted = parse_id(str(business_id))
    found = next((each for each in request.businesses if each.pk == wanted), None)
    if found is None:
        raise NotFound("Business not found")
    return found


def own_row(request: MerchantRequest, rows: QuerySet[Row], row_id: object, noun: str) -> Row:
    """A row of one of the person's businesses, which the page then shows. Raises `NotFound`."""
    found = get_or_not_found(rows.filter(business__in=request.businesses), row_id, f"{noun} not found")
    return _shown(request, found)


def own_row_of(request: MerchantRequest, row: Compiled[Row], row_id: object, noun: str) -> Row:
    """The same by SQL that is written once, which takes an `id` and the ids of `businesses`."""
    known_id = parse_id(row_id)
    found = row.first(id=known_id, businesses=[each.pk for each in request.businesses]) if known_id else None
    if found is None:
        raise NotFound(f"{noun} not found")
    return _shown(request, found)


def _shown(request: MerchantRequest, found: Row) -> Row:
    row: Any = found
    row.business = _show_own(request, row.business_id)
    return found


def _show_own(request: MerchantRequest, business_id: object) -> Business:
    business = next(each for each in request.businesses if each.pk == business_id)
    if business != request.business:
        _show(request, business)
    return business


def _show(request: MerchantRequest, business: Business | None) -> None:
    """Raises `NotFound` where the store has no such page, and `NotAllowed` where the role is not enough for it.

    Its apps are read once, by the first view or template that needs them.
    """
    request.business = cast(Business, business)
    request.tried = request.trial = None
    if business is None:
        return
    if business.copy_of_id is None:
        request.tried = next((each for each in request.businesses if each.copy_of_id == business.pk), None)
    else:
        request.trial = cast(
            Trial,
            SimpleLazyObject(
                lambda: Trial.objects.select_related("app__approved_version").get(copy=business)
            ),
        )
    if not _has(business, request.needs):
        raise NotFound(NO_PAGE)
    role = StoreRole(business.store_role)
    request.manages, request.owns = may(role, StoreRole.MANAGER), role == StoreRole.OWNER
    request.navigation = entries_of(business, request.user)
    request.form_about = str(business.pk)
    request.apps, request.frame = [], Frame(0, [], [])
    if request.manages or not business.capabilities.private_app_pages:
        store = StoreApps(business)
        request.apps = cast(list[InstalledApp], SimpleLazyObject(lambda: store.all))
        manages = request.manages
        request.frame = cast(
            Frame, SimpleLazyObject(lambda: store.frame if manages else store.frame.pages_alone)
        )
    timezone.activate(business.timezone)
    if request.least is not None:
        require_rank(business, role, _least_in(business, request.least, request.closed_by))


def _chosen(request: MerchantRequest) -> Business | None:
    """The one that the session remembers, or the main one."""
    main = next(iter(request.businesses), None)
    known = request.session.get(SESSION_KEY)
    return next((each for each in request.businesses if str(each.pk) == known), main)


def _business_of(request: MerchantRequest) -> Business | None:
    """The one of the form that was sent, or that the address names, or the chosen one."""
    if request.method == "POST":
        return _business_of_form(request)
    if NAMED_BY not in request.GET:
        return request.chosen
    named = (each for each in request.businesses if each.slug == request.GET[NAMED_BY])
    if (found := next(named, None)) is None:
        raise NotFound("Store not found")
    return found


def _business_of_form(request: MerchantRequest) -> Business | None:
    """Raises `Conflict` if it is no longer the person's."""
    stamp = stamp_of(request)
    if stamp is None or not stamp.about:
        return request.chosen
    own = (each for each in request.businesses if str(each.pk) == stamp.about)
    if (found := next(own, None)) is None:
        raise Conflict(NO_LONGER_YOURS)
    return found


def _is_of_any_store(request: MerchantRequest) -> bool:
    """Whether a form may be for any of several stores: it has no stamp, as on a page of an earlier release, and its address names
    no object.
    """
    match = request.resolver_match
    return len(request.businesses) > 1 and not (match and match.kwargs) and stamp_of(request) is None


def _asked_for_which(request: MerchantRequest) -> HttpResponse:
    """The form again, filled, for the store that is chosen."""
    asked = asked_again(request, f"{OF_WHICH_STORE} If it is {request.chosen.name}, press the button again.")
    if asked is None:
        raise Invalid(f"{OF_WHICH_STORE} Open its page again, and send it from there.")
    return asked


def _staying(request: MerchantRequest, response: HttpResponse) -> HttpResponse:
    """A redirect from a page of another business than the chosen one stays with that, if its address names no object."""
    if isinstance(response, HttpResponseRedirect) and request.business != request.chosen:
        url = urlsplit(response.url)
        if url.path.startswith("/merchant/") and not resolve(url.path).kwargs:
            query = "&".join(filter(None, (url.query, urlencode({NAMED_BY: request.business.slug}))))
            response["Location"] = url._replace(query=query).geturl()
    return response


def _with_installation(kind: Callable[[Page], Page], view: Page) -> Page:
    """Passes the installation in the URL to the view, ended ones too. Another owner's is a 404."""

    @kind
    @wraps(view)
    def with_installation(
        request: MerchantRequest, installation_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        installation = own_installation(request.businesses, installation_id)
        _show_own(request, installation.business_id)
        return view(request, installation, *args, **kwargs)

    return with_installation


def _unless_ended(view: Page) -> Page:
    """An ended installation redirects to its receipt."""

    @wraps(view)
    def with_active(request: MerchantRequest, installation: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not installation.is_active:
            return redirect("merchants:receipt", installation.pk)
        return view(request, installation, *args, **kwargs)

    return with_active


def installation_page(view: Page) -> Page:
    return _with_installation(merchant_page, view)


def active_page(view: Page) -> Page:
    return _with_installation(merchant_page, _unless_ended(view))


def active_page_of_app(view: Page) -> Page:
    """For who opens the app's own pages."""
    return _with_installation(_page_of_an_app, _unless_ended(view))


def _with_app(kind: Callable[[Page], Page], view: Page) -> Page:
    @kind
    @wraps(view)
    def with_app(request: MerchantRequest, installation_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        app = _app_among(request, installation_id)
        if app is None:
            _show_own(request, own_installation(request.businesses, installation_id).business_id)
            app = _app_among(request, installation_id)
        return view(request, app, *args, **kwargs) if app else redirect("merchants:receipt", installation_id)

    return with_app


def app_page(view: Page) -> Page:
    """Like `active_page`, but the view gets an `InstalledApp`, with what all pages of the app show."""
    return _with_app(merchant_page, view)


def own_page_of_app(view: Page) -> Page:
    """The same for a page that the app itself has. In a store without private ones everybody who works there opens it."""
    return _with_app(_page_of_an_app, view)


def _app_among(request: MerchantRequest, installation_id: str) -> InstalledApp | None:
    """Of the store that is shown now."""
    known_id = parse_id(installation_id)
    return next((each for each in request.apps if each.installation.pk == known_id), None)
