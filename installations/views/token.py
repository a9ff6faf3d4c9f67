"""`/oauth/token` and `/oauth/revoke`, which an app's server calls."""

import json
import logging
from abc import ABC, abstractmethod
from base64 import b64decode
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import View
from drf_spectacular.utils import OpenApiResponse, extend_schema
from oauth2_provider.views.mixins import OAuthLibMixin

from common import lengths
from common.errors import ERROR_CODE_HEADER, Invalid, default_code, error_body
from common.rest.errors import code_of, headers_of, status_and_message
from common.rest.schema import problem
from common.web.limits import limit_by_address
from common.web.middleware.bodies import FORM, check_form
from installations import serializers
from installations.oauth import CodeInUse, CodeUsedAgain, WrongRedirectUri
from installations.services import authorization

log = logging.getLogger(__name__)

CHALLENGE = 'Basic realm="OAuth 2.0 client"'
CLIENT: Any = [{"clientCredentials": []}]  # the security requirement in the OpenAPI document

# Messages for errors that oauthlib doesn't describe.
INVALID_GRANT = "The code is unknown, expired or already used, or was issued for another request."
INVALID_CLIENT = "Wrong client ID or client secret, or the app is suspended."
SPACE_AROUND_IT = " The client secret that came has a space or a line break around it: remove that."
MESSAGES = {"invalid_grant": INVALID_GRANT, "invalid_client": INVALID_CLIENT}
# RFC 6749 has no code for the first; the others are those of its section 4.1.2.1.
CODES = {429: "temporarily_unavailable", 503: "temporarily_unavailable", 500: "server_error"}


@method_decorator([csrf_exempt, sensitive_post_parameters()], name="dispatch")
class ClientView(OAuthLibMixin, View, ABC):
    """An endpoint that an app's server calls with its Client ID and client secret."""

    http_method_names = ["post", "options"]
    tag = "OAuth"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = self._dispatch(request, *args, **kwargs)
        except Exception as error:
            response = self._failed(request, error)
        response["Cache-Control"] = "no-store"
        return response

    def _dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_form(request)
        response = super().dispatch(request, *args, **kwargs)
        assert isinstance(response, HttpResponse)
        return response

    def _failed(self, request: HttpRequest, error: Exception) -> HttpResponse:
        status, message = status_and_message(error)
        if status >= 500:
            log.error("%s while answering %s", type(error).__name__, request.path, exc_info=error)
        response = self.refusal(status, CODES.get(status, "invalid_request"), message)
        for name, value in ({ERROR_CODE_HEADER: code_of(error)} | headers_of(error)).items():
            response[name] = value
        return response

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = self.refusal(405, "invalid_request", f'Method "{request.method}" not allowed.')
        response["Allow"] = ", ".join(self._allowed_methods())
        response[ERROR_CODE_HEADER] = default_code(405)
        return response

    @abstractmethod
    def refusal(self, status: int, code: str, message: str) -> HttpResponse:
        """An error in this endpoint's format. `code` is one of RFC 6749, and goes into `X-Error-Code` too."""

    def answer(self, status: int, body: str) -> HttpResponse:
        """The answer of oauthlib; errors in this endpoint's format."""
        if status == 200:
            return HttpResponse(body, status=status, content_type="application/json")
        error = json.loads(body)
        message = error.get("error_description") or MESSAGES.get(error["error"], "")
        if _has_space(self.request):
            message += SPACE_AROUND_IT
        response = self.refusal(status, error["error"], message)
        if status == 401:
            response["WWW-Authenticate"] = CHALLENGE
        return response

    def unreadable(self, request: HttpRequest) -> HttpResponse | None:
        """A 415 for a body that is not a form; before that, a 401 for a wrong client."""
        if request.content_type in (FORM, ""):
            return None
        if not self.authenticate_client(request):
            return self.answer(401, json.dumps({"error": "invalid_client"}))
        response = self.refusal(415, "invalid_request", f"Send the parameters as {FORM}.")
        response[ERROR_CODE_HEADER] = default_code(415)
        return response


def _check_lengths(parameters: QueryDict) -> None:
    for name, value in parameters.items():
        if len(str(value)) > lengths.TOKEN:
            raise Invalid(f"{name[:100]} may have at most {lengths.TOKEN:,} characters.")


def _has_space(request: HttpRequest) -> bool:
    """Whether the client secret that came has white space around it, as one that was copied may have."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    secret = request.POST.get("client_secret", "")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            secret = unquote_plus(b64decode(encoded).decode()).partition(":")[2]
    return secret != secret.strip()


class TokenView(ClientView):
    """Exchanges a code. All its errors have the format of RFC 6749 section 5.2."""

    error_serializer = serializers.OAuthErrorSerializer

    @extend_schema(
        "exchangeCode",
        auth=CLIENT,
        request={FORM: serializers.CodeExchangeSerializer},
        responses={
            200: serializers.TokenSerializer,
            400: problem("The code, the verifier or the `redirect_uri` is wrong, or a parameter is missing."),
            401: problem(INVALID_CLIENT),
            429: problem("More than 60 exchanges a minute from one address."),
        },
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Exchange a code for a token.

        This installs the app. Client ID and secret may be in the body instead of the header.
        """
        limit_by_address(request, "token-exchange")  # first, so that a form that can't be read counts
        _check_lengths(request.POST)
        with authorization.code_use(request.POST.get("code", "")) as use:
            if refusal := self.unreadable(request):
                return refusal
            try:
                return self._exchange(request)
            except CodeUsedAgain as again:
                if use.is_replay(again.used_at):
                    authorization.end_token(grant=again.grant)
                return self.refusal(400, "invalid_grant", INVALID_GRANT)
            except CodeInUse:
                if use.is_alone():
                    raise
                # A 503 would ask for a later use, which ends the token of the first.
                return self.refusal(400, "invalid_grant", INVALID_GRANT)
            except WrongRedirectUri as wrong:
                authorization.note_redirect_uri(grant=wrong.grant, redirect_uri=wrong.redirect_uri)
                return self.refusal(400, "invalid_grant", INVALID_GRANT)

    def _exchange(self, request: HttpRequest) -> HttpResponse:
        """In one transaction, which is rolled back unless the answer is the token."""
        with transaction.atomic():
            _, _, body, status = self.create_token_response(request)
            if status != 200:
                transaction.set_rollback(True)
        return self.answer(status, body)

    def refusal(self, status: int, code: str, message: str) -> HttpResponse:
        body = {"error": code} | ({"error_description": message} if message else {})
        return JsonResponse(body, status=status, headers={ERROR_CODE_HEADER: code})


class RevokeView(ClientView):
    """RFC 7009: an app revokes its own token, which uninstalls it."""

    @extend_schema(
        "revokeToken",
        auth=CLIENT,
        request={FORM: serializers.RevocationSerializer},
        responses={
            200: OpenApiResponse(None, "The token, if it was one of yours, no longer works."),
            400: problem("No token was sent."),
            401: problem(INVALID_CLIENT),
            429: problem("More than 60 a minute from one address."),
        },
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Revoke a token.

        Uninstalls the app (RFC 7009). An unknown token is a 200 too.
        """
        limit_by_address(request, "revocation")
        _check_lengths(request.POST)
        if refusal := self.unreadable(request):
            return refusal
        _, _, body, status = self.create_revocation_response(request)
        return self.answer(status, body)

    def refusal(self, status: int, code: str, message: str) -> HttpResponse:
        body = error_body(status, message)
        return JsonResponse(body, status=status, headers={ERROR_CODE_HEADER: code})
