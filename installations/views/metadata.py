"""`/.well-known/oauth-authorization-server`: all that a client needs to know of us (RFC 8414)."""

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from marketplace.scopes import SCOPES

CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post"]


@csrf_exempt  # so that a wrong method is a 405 here, too
@require_safe
def metadata(request: HttpRequest) -> JsonResponse:
    document = {
        "issuer": settings.BASE_URL,
        "authorization_endpoint": _url("oauth:authorize"),
        "token_endpoint": _url("oauth:token"),
        "revocation_endpoint": _url("oauth:revoke"),
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": CLIENT_AUTHENTICATION,
        "revocation_endpoint_auth_methods_supported": CLIENT_AUTHENTICATION,
    }
    return JsonResponse(document, headers={"Access-Control-Allow-Origin": "*"})


def _url(name: str) -> str:
    return settings.BASE_URL + reverse(name)
