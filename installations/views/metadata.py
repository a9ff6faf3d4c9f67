"""`/.well-known/oauth-authorization-server`: endpoints and features for OAuth clients (RFC 8414)."""

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema

from common.web.methods import require_safe
from installations.serializers import AUTHENTICATION, OAuthMetadataSerializer
from marketplace.scopes import SCOPES


@extend_schema("getOAuthMetadata", tags=["OAuth"], responses=OAuthMetadataSerializer)
@require_safe
def metadata(request: HttpRequest) -> JsonResponse:
    """Get the authorization server's metadata.

    RFC 8414.
    """
    document = {
        "issuer": settings.BASE_URL,
        "authorization_endpoint": _url("merchants:authorize"),
        "token_endpoint": _url("oauth:token"),
        "revocation_endpoint": _url("oauth:revoke"),
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "authorization_response_iss_parameter_supported": True,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": AUTHENTICATION,
        "revocation_endpoint_auth_methods_supported": AUTHENTICATION,
    }
    return JsonResponse(document, headers={"Access-Control-Allow-Origin": "*"})


def _url(name: str) -> str:
    return settings.BASE_URL + reverse(name)
