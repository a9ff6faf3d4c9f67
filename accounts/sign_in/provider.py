"""Sign-in by the operator's identity provider (`settings.IDENTITY_PROVIDER`), over django-allauth's OpenID Connect.

The library builds the request with PKCE and keeps `state` in the session. This module checks what it leaves out: the `nonce`, the
`iss` of the response (RFC 9207), that the provider's own description is that of the issuer, and the signature of the ID token.
"""

import base64
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Client
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse

from accounts.models import normalize_email
from accounts.sign_in.id_tokens import CLOCKS_DIFFER, RefusedToken, names_key_of, read_id_token
from common.http import transport

TIMEOUT: Final = 5.0  # seconds, for each request to the provider
LONGEST_ANSWER: Final = 256 * 1024  # bytes
REMEMBERED: Final = 600.0  # seconds, of its description and its keys
KIND: Final = "openid_connect"
Answer = dict[str, Any]
_answers: dict[str, tuple[float, Answer]] = {}  # by their addresses
# What a sign-in is for, in its state.
LOGIN, CONNECT, PROVE = "login", "connect", "prove"


class ProviderFailed(Exception):
    """The provider can't be reached, or doesn't answer as the standard says. The text is for the log."""


class Cancelled(Exception):
    """The person, or the provider, didn't go on."""


class Unfinished(Exception):
    """A sign-in at the provider that has come to nothing, for the reason of its cause."""

    def __init__(self, process: str, next_url: str) -> None:
        super().__init__(process)
        self.process, self.next_url = process, next_url


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the provider knows them. `email` is "" unless the provider says that it is verified."""

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A sign-in at the provider that has ended well. `proved_at` is when the person last signed in there, if it says so."""

    identity: Identity
    process: str
    next_url: str
    user_id: str  # of the person who began it signed in
    began_at: float
    proved_at: float | None

    @property
    def is_fresh_proof(self) -> bool:
        """Whether the person has signed in at the provider since this was begun."""
        return self.proved_at is not None and self.proved_at >= self.began_at - CLOCKS_DIFFER


def _settings() -> Any:
    """Those of the provider, where there is one."""
    return settings.IDENTITY_PROVIDER


def label() -> str:
    """The provider's name for people; "" without one."""
    found = settings.IDENTITY_PROVIDER
    return found.label if found else ""


def role_of_new_people() -> str:
    """Empty if they choose."""
    return str(_settings().role)


def passwords_for(user: Any) -> bool:
    """Whether this person may sign in with a password: everybody, or only who works in the administration."""
    return bool(settings.PASSWORD_SIGN_IN or user.is_staff or user.is_superuser)


def begin(request: HttpRequest, *, process: str, next_url: str) -> str:
    """The address at the provider to send the browser to. Raises `ProviderFailed`, and `Http404` where there is no provider."""
    provider, nonce = _provider(request), secrets.token_urlsafe(32)
    asked = {"nonce": nonce} | ({"max_age": "0"} if process == PROVE else {})
    user_id = str(request.user.pk) if request.user.is_authenticated else ""
    response = provider.redirect(
        request,
        process=process,
        next_url=next_url,
        auth_params=asked,
        nonce=nonce,
        user_id=user_id,
        began_at=time.time(),
    )
    return str(response.url)


def finish(request: HttpRequest) -> Finished:
    """Read the provider's answer, which works once and in the browser that asked.

    Raises `Unfinished`, and `PermissionDenied` for an answer that this browser didn't ask for.
    """
    provider = _provider(request)
    state = provider.unstash_redirect_state(request, request.GET.get("state", ""))
    try:
        return _finished(request, provider, state)
    except (Cancelled, ProviderFailed, RefusedToken) as error:
        raise Unfinished(state["process"], state.get("next") or "") from error


def _finished(request: HttpRequest, provider: "OperatorsProvider", state: Mapping[str, Any]) -> Finished:
    adapter, who = provider.get_oauth2_adapter(request), _settings()
    _check_issuer_of_response(request, adapter.openid_config, who.issuer)
    if "error" in request.GET or "code" not in request.GET:
        raise Cancelled(request.GET.get("error", "no code"))
    tokens = adapter.exchange(request.GET["code"], state["pkce_code_verifier"])
    claims = read_id_token(
        tokens.get("id_token"),
        adapter.keys_for(tokens.get("id_token")),
        issuer=who.issuer,
        client_id=who.client_id,
        nonce=state["nonce"],
    )
    proved_at = claims.get("auth_time")
    return Finished(
        identity=_identity(claims, adapter.facts(claims, tokens)),
        process=state["process"],
        next_url=state.get("next") or "",
        user_id=state["user_id"],
        began_at=state["began_at"],
        proved_at=proved_at if isinstance(proved_at, int | float) else None,
    )


def _check_issuer_of_response(request: HttpRequest, config: Answer, issuer: str) -> None:
    """Raises `RefusedToken` for the answer of another provider, whose code must not be sent to this one."""
    said = request.GET.get("iss")
    is_said = config.get("authorization_response_iss_parameter_supported") is True
    if (said is not None or is_said) and said != issuer:
        raise RefusedToken(f"The response is of another issuer: {said!r}.")


def _identity(claims: Mapping[str, Any], facts: Mapping[str, Any]) -> Identity:
    email, name = facts.get("email"), claims.get("name") or facts.get("name")
    is_verified = isinstance(email, str) and facts.get("email_verified") is True
    return Identity(
        issuer=claims["iss"],
        subject=claims["sub"],
        email=normalize_email(cast(str, email)) if is_verified else "",
        name=" ".join(name.split()) if isinstance(name, str) else "",
    )


def _provider(request: HttpRequest) -> "OperatorsProvider":
    if settings.IDENTITY_PROVIDER is None:
        raise Http404
    found: OperatorsProvider = ProviderAdapter(request).get_provider(request, KIND)
    return found


class ProviderAdapter(DefaultSocialAccountAdapter):
    """What the library asks about providers: there is the one of the settings, and none of the database."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        who = settings.IDENTITY_PROVIDER
        if who is None:
            return []
        # The issuer is part of the key of a connection, so people of another provider are never taken for those of this one.
        found = {"provider": KIND, "provider_id": who.issuer, "client_id": who.client_id, "name": who.label}
        return [SocialApp(**found, secret=who.client_secret, settings={"server_url": who.issuer})]

    def authenticate_by_email(self, sociallogin: Any) -> None:
        """An address never opens an account."""


class Client(OAuth2Client):
    """Some providers have a query in the address of their sign-in page."""

    def get_redirect_url(self, authorization_url: str, scope: Any, extra_params: Any) -> str:
        whole: str = super().get_redirect_url(authorization_url, scope, extra_params)
        own = f"{authorization_url}?"
        return f"{authorization_url}&{whole.removeprefix(own)}" if "?" in authorization_url else whole


class OperatorsOAuth2Adapter(OpenIDConnectOAuth2Adapter):
    """Asks the provider through the house's transport, with one deadline and a limit of length."""

    client_class = Client

    @property
    def openid_config(self) -> Answer:
        """The provider's own description. Raises `ProviderFailed` if it is of another issuer."""
        if not hasattr(self, "_openid_config"):
            issuer = _settings().issuer
            url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            config = _remembered(url)
            if config.get("issuer") != issuer:
                _answers.pop(url, None)
                raise ProviderFailed(f"{issuer} describes another issuer: {config.get('issuer')!r}.")
            self._openid_config = config
        return self._openid_config

    @property
    def access_token_url(self) -> str:
        return self._endpoint("token_endpoint")

    @property
    def authorize_url(self) -> str:
        return self._endpoint("authorization_endpoint")

    @property
    def profile_url(self) -> str:
        return self._endpoint("userinfo_endpoint")

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return f"{settings.BASE_URL}{reverse('openid_connect_callback')}"

    def keys_for(self, token: object) -> Answer:
        """The JWKS. It is asked for again if it lacks the key of this token, since providers change keys."""
        url = self._endpoint("jwks_uri")
        known = _remembered(url)
        return known if names_key_of(token, known) else _remembered(url, again=True)

    def exchange(self, code: str, verifier: str) -> Answer:
        """The tokens for a code. Raises `ProviderFailed`."""
        who, headers = _settings(), {}
        fields = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        fields["redirect_uri"] = self.get_callback_url(self.request, None)
        if self.basic_auth:  # RFC 6749, section 2.3.1
            pair = f"{quote(who.client_id, safe='')}:{quote(who.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            fields |= {"client_id": who.client_id, "client_secret": who.client_secret}
        return _ask(self.access_token_url, headers, fields)

    def facts(self, claims: Mapping[str, Any], tokens: Answer) -> Mapping[str, Any]:
        """What has the address: the ID token, or userinfo about the same person. Raises `RefusedToken`, `ProviderFailed`."""
        if "email" in claims or "userinfo_endpoint" not in self.openid_config:
            return claims
        found = _ask(self.profile_url, {"Authorization": f"Bearer {tokens.get('access_token')}"})
        if found.get("sub") != claims["sub"]:
            raise RefusedToken("Userinfo is about another person than the ID token.")
        return found

    def _endpoint(self, name: str) -> str:
        url, issuer = self.openid_config.get(name), _settings().issuer
        secure = "https://" if issuer.startswith("https:") else ("https://", "http://")
        if not isinstance(url, str) or not url.startswith(secure):
            raise ProviderFailed(f"The description of {issuer} has no {name} that can be used: {url!r}.")
        return url


class OperatorsProvider(OpenIDConnectProvider):
    """Nothing of a request of the browser gets into the one to the provider, unlike in the library."""

    oauth2_adapter_class = OperatorsOAuth2Adapter
    pkce_enabled_default = True


def forget() -> None:
    """For tests, whose providers change their description at once."""
    _answers.clear()


def _remembered(url: str, *, again: bool = False) -> Answer:
    """What the provider says to everybody. In the memory of the process, since who writes to a cache server must not change keys."""
    known = _answers.get(url)
    if known is None or again or time.monotonic() - known[0] >= REMEMBERED:
        _answers[url] = known = (time.monotonic(), _ask(url))
    return known[1]


def _ask(url: str, headers: Mapping[str, str] | None = None, fields: Answer | None = None) -> Answer:
    """The provider's answer, a JSON object. GET, or POST with `fields`. Raises `ProviderFailed`, and `NoPlace`."""
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
    exchange = transport.send(
        url,
        _settings().issuer,
        headers={"Accept": "application/json", **kind, **(headers or {})},
        body=urlencode(fields or {}).encode(),
        method="POST" if fields else "GET",
        timeout=TIMEOUT,
        max_body=LONGEST_ANSWER,
        of_operator=True,
    )
    if not exchange.succeeded or exchange.truncated:
        raise ProviderFailed(f"{url} answered {exchange.status or 'nothing'}: {exchange.error_class}.")
    try:
        answer = json.loads(exchange.body)
    except ValueError as error:
        raise ProviderFailed(f"{url} answered something else than JSON.") from error
    if not isinstance(answer, dict):
        raise ProviderFailed(f"{url} answered no object.")
    return answer
