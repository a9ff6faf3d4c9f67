"""`/oauth/authorize`: where an app sends people, and where they answer (contract section 3)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import View
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauthlib.oauth2.rfc6749.errors import (
    AccessDeniedError,
    InvalidRedirectURIError,
    MismatchingRedirectURIError,
    MissingRedirectURIError,
    OAuth2Error,
)

from accounts.models import Business, User
from common.auth_limits import limit
from common.errors import Conflict, NotFound
from installations.consent_page import ConsentPage
from installations.forms import ShopForm
from installations.oauth import AuthorizationCore, authorization_core
from installations.queries import businesses_to_install_on, offered
from marketplace.models import App, AppVersion

CONSENTS = 60  # a minute, of one person
UNKNOWN_APP = "The link that led here names no app we know."
WRONG_REDIRECT = "The link that led here would take you to an address that the app has not registered."
BROKEN = "The link that led here is broken: it names something twice, or can't be read."
CHANGED = "What the app asks for has changed while this page was open. Look at it again before you decide."

# Those that oauthlib tells nobody but the person, apart from a link that is broken as a whole.
REDIRECT_ERRORS = (InvalidRedirectURIError, MismatchingRedirectURIError, MissingRedirectURIError)


class Problem(Exception):
    """Told to the person on a page of ours: nobody is ever redirected to an address that was not checked."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class SentBack(Exception):
    """Told to the app, at its Redirect URL."""

    def __init__(self, error: OAuth2Error, redirect_uri: str) -> None:
        super().__init__(error.error)
        self.url = error.in_uri(redirect_uri)


@dataclass(frozen=True, slots=True)
class Asked:
    """An authorization request that was found right."""

    core: AuthorizationCore
    offered: App | AppVersion
    scopes: list[str]
    credentials: dict[str, Any]
    businesses: list[Business]


@method_decorator(never_cache, name="dispatch")
class AuthorizeView(View):
    """Shows what an app asks for, and takes the answer. The request is in the address, for GET and POST alike."""

    http_method_names = ["get", "head", "post", "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.app = _app(request)
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            self.asked = _asked(request, self.app)
            response = super().dispatch(request, *args, **kwargs)
        except Problem as problem:
            context = {"problem": problem, "app": getattr(self, "app", None)}
            return render(request, "installations/consent_problem.html", context, status=problem.status)
        except SentBack as sent:
            return _redirect(request, sent.url)
        assert isinstance(response, HttpResponse)
        return response

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.POST.get("answer") != "install":
            raise self._denied()
        form = ShopForm(request.POST, businesses=businesses_to_install_on(_person(request)))
        if request.POST.get("scopes") != " ".join(self.asked.scopes):
            return self._page(request, notice=CHANGED, status=422)
        if len(self.asked.businesses) == 1:
            return self._install(request, self.asked.businesses[0])
        if not form.is_valid():
            return self._page(request, form=form, status=422)
        return self._install(request, form.cleaned_data["business"])

    def _install(self, request: HttpRequest, business: Business) -> HttpResponse:
        limit(request, "consent", key=str(_person(request).pk), per_minute=CONSENTS)
        asked = self.asked
        credentials = asked.credentials | {"business": business}
        try:
            url, _, _, _ = asked.core.create_authorization_response(request, asked.scopes, credentials, True)
        except OAuthToolkitError as error:
            raise _failed(error) from error
        except (Conflict, NotFound):  # somebody changed the app between our look at it and its lock
            self.app = _app(request)
            self.asked = _asked(request, self.app)
            return self._page(request, notice=CHANGED, status=422)
        return HttpResponseRedirect(url)

    def _denied(self) -> SentBack:
        credentials = self.asked.credentials
        return SentBack(AccessDeniedError(state=credentials["state"]), credentials["redirect_uri"])

    def _page(
        self, request: HttpRequest, *, form: ShopForm | None = None, notice: str = "", status: int = 200
    ) -> HttpResponse:
        asked = self.asked
        page = ConsentPage(self.app, asked.offered, asked.scopes, asked.businesses, timezone.now())
        context: dict[str, Any] = {
            "page": page,
            "form": form or ShopForm(businesses=businesses_to_install_on(_person(request))),
            "notice": notice,
            "redirect_uri": asked.credentials["redirect_uri"],
            "here": request.get_full_path(),
        }
        response = render(request, "installations/consent.html", context, status=status)
        policy = {"form-action": _may_lead_to(context["redirect_uri"])}
        response._csp_update = policy  # type: ignore[attr-defined]  # noqa: SLF001
        return response


def _app(request: HttpRequest) -> App:
    """The app that asks, looked up before anybody is asked to sign in. Raises `Problem`."""
    client_id = request.GET.get("client_id", "")
    apps = App.objects.live().select_related("approved_version__icon", "icon", "developer")
    app = None if "\0" in client_id else apps.filter(client_id=client_id).first()
    if app is None:
        raise Problem(UNKNOWN_APP)
    redirect_uri = request.GET.get("redirect_uri")
    if redirect_uri and redirect_uri not in app.redirect_uris.split():
        raise Problem(WRONG_REDIRECT)
    return app


def _asked(request: HttpRequest, app: App) -> Asked:
    """What is asked of the person signed in. Raises `Problem` or `SentBack`."""
    user = _person(request)
    state = offered(app=app, user=user)
    if state is None:
        raise Problem(_why_not(app, user), 403)
    core = authorization_core(app, state)
    try:
        scopes, credentials = core.validate_authorization_request(request)
    except OAuthToolkitError as error:
        raise _failed(error) from error
    businesses = list(businesses_to_install_on(user))
    if wanted := request.GET.get("business_id"):
        businesses = [business for business in businesses if business.id == _uuid(wanted)]
        if not businesses:
            raise SentBack(AccessDeniedError(state=credentials["state"]), credentials["redirect_uri"])
    if not businesses:
        raise Problem("You have no shop to install it on.", 403)
    return Asked(core, state, scopes, credentials, businesses)


def _failed(error: OAuthToolkitError) -> Problem | SentBack:
    if isinstance(error, FatalClientError):
        is_about_redirect = isinstance(error.oauthlib_error, REDIRECT_ERRORS)
        return Problem(WRONG_REDIRECT if is_about_redirect else BROKEN)
    return SentBack(error.oauthlib_error, error.oauthlib_error.redirect_uri)


def _why_not(app: App, user: User) -> str:
    if not (user.is_merchant or user.is_developer):
        return "Apps are installed by merchants, and by developers on their sandbox. This account is neither."
    if app.suspended_at is not None:
        return "The app is suspended, and can't be installed until its review is done."
    return "The app is not in the marketplace, so only its own developer can install it."


def _redirect(request: HttpRequest, url: str) -> HttpResponse:
    """Send somebody to the app with an error.

    A browser that comes from a form of ours (the sign-in page) may not be redirected to another site: it
    holds the whole chain to the `form-action` of that form's page. A page breaks the chain.
    """
    from_a_form = request.method == "GET" and request.headers.get("Sec-Fetch-Site") == "same-origin"
    if not from_a_form:
        return HttpResponseRedirect(url)
    return render(request, "installations/consent_return.html", {"url": url})


def _may_lead_to(redirect_uri: str) -> list[str]:
    """Where the form may lead: to the app, and to wherever that sends people next (docs/decisions/0013)."""
    return ["https:", "http:"] if redirect_uri.startswith("http:") else ["https:"]


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
