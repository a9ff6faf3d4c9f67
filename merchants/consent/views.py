"""`/oauth/authorize`: the page on which a merchant or developer agrees to install an app (contract, section 3)."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django.views.generic import View
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauthlib.oauth2.rfc6749 import errors

from accounts.access import copies_of, stores_of
from accounts.models import Business, User
from accounts.services.confirmation import UNCONFIRMED, must_confirm
from accounts.sign_in import ways
from common.errors import Conflict, NotFound
from common.web.forms.pages import refusals_shown
from common.web.limits import limit
from common.web.methods import GET_OR_POST, require_safe
from common.web.requests import LONGEST
from installations.models import Trial
from installations.oauth import AuthorizationCore, answer_url, authorization_core
from installations.queries import businesses_to_install_on, granted_by, installs_listed_apps, offered
from installations.services.authorization import OTHER_TRIAL, is_tried_on
from installations.services.consent import approve_scopes, decline_scopes
from marketplace import rules
from marketplace.access import may_develop
from marketplace.models import App, AppVersion
from merchants.access import MerchantRequest, app_page
from merchants.consent.page import ConsentPage, PermissionRequest, question_of
from merchants.frame import InstalledApp
from merchants.store.forms import ShopForm
from teststores import trials

APPROVE, DECLINE = "approve", "decline"
NEWER_VERSION = "The app has a newer version. Review what it asks for now."
KEPT_FROM: Final = 1000  # characters of an address, from which it is kept
CONSENTS = 60  # a minute, of one person
UNKNOWN_APP = "No app has the client_id of this link."
WRONG_REDIRECT = "The redirect_uri of this link is not a Redirect URL of the app."
UNUSABLE_REDIRECT = (
    "The app's Redirect URL is not a valid URL, so the app can't be connected until its developer changes it."
)
BROKEN = "This link is broken: it repeats a parameter or can't be read."
TOO_LONG = f"This link is too long: it may have at most {LONGEST:,} characters."
NOT_KEPT = "This browser doesn't know this link any more. Go back to the app, and start again there."
NOT_MANAGED = "Only the owner and the managers of {store} can install apps there. Your role is Orders."
CHANGED = "The app's request changed while this page was open. Review it again before you decide."
# Errors about the redirect_uri. Like a link that can't be read, they are shown here and not sent to the app.
REDIRECT_ERRORS = (errors.MismatchingRedirectURIError, errors.MissingRedirectURIError)


class ConsentProblem(Exception):
    """An error shown on a page of ours, because a browser is never redirected to an unchecked address."""

    def __init__(self, message: str, status: int = 400) -> None:
        self.message = message
        self.status = status


class WrongRedirect(ConsentProblem):
    """The link's redirect_uri is not the Redirect URL. The app's developer is shown both."""

    def __init__(self, message: str = WRONG_REDIRECT) -> None:
        super().__init__(message)


class RedirectToApp(Exception):
    """An error that the app gets at its Redirect URL."""

    def __init__(self, error: errors.OAuth2Error, redirect_uri: str) -> None:
        self.url = answer_url(redirect_uri, error.twotuples)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid request: the app as this person would install it, and what it asks for."""

    core: AuthorizationCore
    offered: App | AppVersion
    scopes: list[str]
    credentials: dict[str, Any]
    businesses: list[Business]


@method_decorator(never_cache, name="dispatch")
class AuthorizeView(View):
    """Shows what an app asks for, and takes the answer. GET and POST both have the request in the URL."""

    http_method_names = ["get", "head", "post", "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.app = _app(request)
            if not request.user.is_authenticated:
                return redirect_to_login(ways.kept(request, request.get_full_path(), KEPT_FROM))
            self.authorization = _authorization(request, self.app)
            response = super().dispatch(request, *args, **kwargs)
        except ConsentProblem as problem:
            return _problem_page(request, problem)
        except RedirectToApp as error:
            return _redirect(request, error.url)
        assert isinstance(response, HttpResponse)
        return response

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.POST.get("answer") != "install":
            self._end_trial()
            raise self._denied()
        form = ShopForm(request.POST, businesses=businesses_to_install_on(_person(request)))
        if not self._is_what_was_shown(request.POST):
            return self._page(request, notice=CHANGED, status=422)
        if len(self.authorization.businesses) == 1:
            return self._install(request, self.authorization.businesses[0])
        if not form.is_valid():
            return self._page(request, form=form, status=422)
        return self._install(request, form.cleaned_data["business"])

    def _is_what_was_shown(self, sent: QueryDict) -> bool:
        """An approval since the page was opened may have added scopes, or scripts, widgets and hooks."""
        page = self._consent_page()
        return (
            sent.get("scopes") == " ".join(page.scopes) and sent.get("version", page.version) == page.version
        )

    def _install(self, request: HttpRequest, business: Business) -> HttpResponse:
        limit(request, "consent", key=str(_person(request).pk), per_minute=CONSENTS)
        asked = self.authorization
        credentials = asked.credentials | {"business": business}
        trials.want_settings(app=self.app, store=business, wanted="take_settings" in request.POST)
        try:
            url, _, _, _ = asked.core.create_authorization_response(request, asked.scopes, credentials, True)
        except (Conflict, NotFound):  # the app was changed after we had read it and before we locked it
            self.app = _app(request)
            self.authorization = _authorization(request, self.app)
            return self._page(request, notice=CHANGED, status=422)
        return HttpResponseRedirect(url)

    def _end_trial(self) -> None:
        """A merchant who cancels on the page of a copy ends the trial. An app that is installed there is left to the bar."""
        page = self._consent_page()
        if page.business and page.business.copy_of_id and not page.existing:
            trials.end(Trial.objects.get(copy=page.business))

    def _denied(self) -> RedirectToApp:
        credentials = self.authorization.credentials
        return RedirectToApp(
            errors.AccessDeniedError(state=credentials["state"]), credentials["redirect_uri"]
        )

    def _consent_page(self) -> ConsentPage:
        asked = self.authorization
        return ConsentPage(self.app, asked.offered, asked.scopes, asked.businesses, timezone.now())

    def _page(
        self, request: HttpRequest, *, form: ShopForm | None = None, notice: str = "", status: int = 200
    ) -> HttpResponse:
        asked = self.authorization
        page = self._consent_page()
        context: dict[str, Any] = {
            "page": page,
            "form": form or ShopForm(businesses=businesses_to_install_on(_person(request))),
            "notice": notice,
            "redirect_uri": asked.credentials["redirect_uri"],
            "here": request.get_full_path(),
        }
        response = render(request, "merchants/consent/consent.html", context, status=status)
        policy = {"form-action": _may_lead_to(context["redirect_uri"])}
        response._csp_update = policy  # type: ignore[attr-defined]  # noqa: SLF001
        return response


@require_safe
@never_cache
def go_on(request: HttpRequest, key: str) -> HttpResponse:
    """Go on with a request, or to a page, that was kept while the person signed in."""
    address = ways.way_of(request, key)
    if address is None:
        return _problem_page(request, ConsentProblem(NOT_KEPT, 410))
    return HttpResponseRedirect(address)


def _app(request: HttpRequest) -> App:
    """The app that asks, found before anybody has to sign in. Raises `Problem`."""
    if len(request.get_full_path()) > LONGEST:
        raise ConsentProblem(TOO_LONG)
    app = _find_app(request)
    if app is None:
        raise ConsentProblem(UNKNOWN_APP)
    redirect_uri = request.GET.get("redirect_uri")
    if redirect_uri and redirect_uri not in app.redirect_uris.split():
        raise WrongRedirect
    return app


def _find_app(request: HttpRequest) -> App | None:
    apps = App.objects.live().select_related("approved_version__icon", "icon", "developer")
    return apps.filter(client_id=request.GET.get("client_id", "")).first()


def _authorization(request: HttpRequest, app: App) -> AuthorizationRequest:
    """What the app asks of the signed-in person. Raises `Problem` or `RedirectToApp`."""
    user = _person(request)
    state = offered(app=app, user=user)
    if state is None:
        raise ConsentProblem(_why_not(app, user), 403)
    if must_confirm(user):
        raise ConsentProblem(UNCONFIRMED.format(email=user.email), 403)
    core = authorization_core(app, state)
    try:
        scopes, credentials = core.validate_authorization_request(request)
    except OAuthToolkitError as error:
        raise _failed(error) from error
    businesses = list(businesses_to_install_on(user))
    _require_manager(request, user, businesses)
    if wanted := request.GET.get("business_id"):
        known = _uuid(wanted)
        named = copies_of(user, timezone.now()).filter(pk__in=[known] if known else [])
        businesses = [business for business in businesses if business.id == known] or list(named)
        if businesses and businesses[0].copy_of_id and not is_tried_on(businesses[0], app):
            raise ConsentProblem(OTHER_TRIAL, 409)
        if not businesses:
            raise RedirectToApp(
                errors.AccessDeniedError(state=credentials["state"]), credentials["redirect_uri"]
            )
    if not businesses:
        raise ConsentProblem("You have no store to install the app on. Add a business first.", 403)
    return AuthorizationRequest(core, state, scopes, credentials, businesses)


def _require_manager(request: HttpRequest, user: User, managed: list[Business]) -> None:
    """Raises `ConsentProblem` for who only works with the orders of the store that is meant, or of all of theirs."""
    stores = stores_of(user)
    if wanted := request.GET.get("business_id"):
        stores = stores.filter(pk__in=[found] if (found := _uuid(wanted)) else [])
    elif managed:
        return
    store = stores.exclude(pk__in=[each.pk for each in managed]).first()
    if store is not None:
        raise ConsentProblem(NOT_MANAGED.format(store=store.name), 403)


def _problem_page(request: HttpRequest, problem: ConsentProblem) -> HttpResponse:
    app = _find_app(request)
    context: dict[str, Any] = {"problem": problem, "app": app}
    if app and isinstance(problem, WrongRedirect) and may_develop(app, request.user):
        context["redirect"] = _redirect_mistake(request.GET.get("redirect_uri", ""), app)
    return render(request, "merchants/consent/problem.html", context, status=problem.status)


def _redirect_mistake(given: str, app: App) -> dict[str, str]:
    """For the app's developer: the URL in the link, the registered ones, and how they differ."""
    approved = app.approved_version.redirect_url if app.approved_version else ""
    registered = app.redirect_url
    difference = ""
    if given == approved:
        difference = "It is the Redirect URL of the approved version. Your own install uses the working copy."
    elif given.rstrip("/") == registered.rstrip("/"):
        difference = "They differ only in the slash at the end."
    elif given.partition("://")[2] == registered.partition("://")[2]:
        difference = "They differ only in http and https."
    elif given.lower() == registered.lower():
        difference = "They differ only in upper and lower case."
    return {
        "given": given,
        "registered": registered,
        "approved": approved,
        "difference": difference,
        "unusable": _fault_of(registered),
    }


def _fault_of(redirect_url: str) -> str:
    """Why it couldn't be saved today; empty for a good one."""
    try:
        rules.redirect_url(redirect_url)
    except ValueError as error:
        return str(error)
    return ""


def _failed(error: OAuthToolkitError) -> ConsentProblem | RedirectToApp:
    if isinstance(error, FatalClientError):
        return _fatal(error.oauthlib_error)
    return RedirectToApp(error.oauthlib_error, error.oauthlib_error.redirect_uri)


def _fatal(error: errors.OAuth2Error) -> ConsentProblem:
    if isinstance(
        error, errors.InvalidRedirectURIError
    ):  # it is the app's own, saved before the rules of today
        return WrongRedirect(UNUSABLE_REDIRECT)
    return WrongRedirect() if isinstance(error, REDIRECT_ERRORS) else ConsentProblem(BROKEN)


def _why_not(app: App, user: User) -> str:
    if not installs_listed_apps(user):
        return "Only merchants and developers can install apps. Sign in with another account."
    if app.suspended_at is not None:
        return "The app is suspended. It can be installed again once the suspension is lifted."
    return "The app is not in the marketplace, so only its developer can install it."


def _redirect(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser to the app with an error.

    After a form of ours (sign-in), browsers apply the `form-action` of that form's page to every redirect that follows,
    and so refuse one to another site. A page in between breaks the chain.
    """
    from_a_form = request.method == "GET" and request.headers.get("Sec-Fetch-Site") == "same-origin"
    if not from_a_form:
        return HttpResponseRedirect(url)
    return render(request, "merchants/consent/return.html", {"url": url})


def _may_lead_to(redirect_uri: str) -> list[str]:
    """Where the form may lead: to the app, and to any site that the app redirects to (docs/decisions/0013)."""
    return ["https:", "http:"] if redirect_uri.startswith("http:") else ["https:"]


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@require_http_methods(GET_OR_POST)
@app_page
def reconsent(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """Shows the request; POST answers it. Without an open request, redirects to the app's page."""
    installation = app.installation
    question = question_of(app, granted_by(installation), with_use=True)
    if question is None:
        return redirect("merchants:installation", installation.pk)
    if request.method == "POST":
        return _answer(request, question)
    return render(
        request, "merchants/consent/reconsent.html", {"installation": installation, "question": question}
    )


def _answer(request: MerchantRequest, question: PermissionRequest) -> HttpResponse:
    """An approval holds only for the version that was shown."""
    installation, answer = question.installation, request.POST.get("answer")
    if answer not in (APPROVE, DECLINE) or request.POST.get("version") != str(question.version):
        messages.warning(request, NEWER_VERSION)
        return redirect("merchants:reconsent", installation.pk)
    name = installation.app_fields.name
    with refusals_shown(request):  # uninstalled, or another version approved, since the page was opened
        if answer == APPROVE:
            approve_scopes(
                installation=installation,
                user=request.user,
                scopes=question.scopes,
                version=installation.runs,
            )
            messages.success(request, question.approved.format(name=name))
        else:
            decline_scopes(installation=installation, user=request.user)
            messages.success(request, question.declined.format(name=name))
    return redirect("merchants:installation", installation.pk)
