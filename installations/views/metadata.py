"""For OAuth clients: the authorization server (RFC 8414), and the app API as the resource that it protects (RFC 9728)."""

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema

from common.web.methods import require_safe
from installations import serializers
from installations.signing_keys import session_keys
from marketplace.scopes import SCOPES


@extend_schema("getOAuthMetadata", tags=["OAuth"], responses=serializers.OAuthMetadataSerializer)
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
        "jwks_uri": _url("oauth:jwks"),
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "authorization_response_iss_parameter_supported": True,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": serializers.AUTHENTICATION,
        "revocation_endpoint_auth_methods_supported": serializers.AUTHENTICATION,
    }
    return JsonResponse(document, headers={"Access-Control-Allow-Origin": "*"})


@extend_schema(
    "getProtectedResourceMetadata", tags=["OAuth"], responses=serializers.ProtectedResourceSerializer
)
@require_safe
def protected_resource(request: HttpRequest) -> JsonResponse:
    """Get the metadata of the app API.

    RFC 9728. The 401s of the app API name this document as `resource_metadata`.
    """
    document = {
        "resource": settings.BASE_URL,
        "authorization_servers": [settings.BASE_URL],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": settings.PLATFORM_NAME,
        "resource_documentation": _url("docs:index"),
    }
    return JsonResponse(document, headers={"Access-Control-Allow-Origin": "*"})


@extend_schema("getSigningKeys", tags=["OAuth"], responses=serializers.JwksSerializer)
@require_safe
def jwks(request: HttpRequest) -> JsonResponse:
    """Get the platform's public keys.

    A JWK Set (RFC 7517). They sign the session tokens of apps with `sessionTokenAlg: EdDSA`.
    """
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=300"}
    return JsonResponse({"keys": [each.public for each in session_keys()]}, headers=headers)


def _url(name: str) -> str:
    return settings.BASE_URL + reverse(name)
