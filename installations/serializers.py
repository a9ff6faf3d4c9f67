"""OAuth requests and responses in the OpenAPI document. django-oauth-toolkit reads and writes them."""

from functools import partial

from rest_framework import serializers

from common import lengths
from common.rest.fields import Boolean, StringList, Text
from marketplace.scopes import SCOPES

BASE = "https://platform.example"
# Unlike in JSON bodies, a NUL is accepted here. `ClientView` checks the length.
Parameter = partial(Text, max_length=lengths.TOKEN)
Optional = partial(Parameter, required=False, allow_blank=True, schema={"pattern": ""})
AUTHENTICATION = ["client_secret_basic", "client_secret_post"]


class CodeExchangeSerializer(serializers.Serializer):
    grant_type = Text("The grant.", "authorization_code", schema={"enum": ["authorization_code"]})
    code = Parameter("The code that your Redirect URL received at most 60 seconds ago.", "q7Rk2…")
    redirect_uri = Optional("As in the authorization request.", "https://stars.example.com/callback")
    code_verifier = Optional("With PKCE.", "a-verifier-of-at-least-forty-three-characters-length")


class RevocationSerializer(serializers.Serializer):
    token = Parameter("The access token.", "fbat_5e…")
    token_type_hint = Optional("Accepted and ignored.", "access_token")


class TokenSerializer(serializers.Serializer):
    access_token = Text("The token of the app API, valid until the uninstall.", "fbat_5e…")
    token_type = Text("Always Bearer.", "Bearer", schema={"enum": ["Bearer"]})
    scope = Text("What the token may do, separated by spaces.", "read_products read_orders")
    installationId = Text("The installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a")
    webhookSecret = Text("Signs webhooks and hook calls.", "whsec_kT0g…")
    businessId = Text("The business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05")
    isTestInstall = Boolean("Whether it is a test install on a sandbox.", False)


class OAuthErrorSerializer(serializers.Serializer):
    """RFC 6749, section 5.2."""

    error = Text("The code of RFC 6749.", "invalid_grant")
    error_description = Text("What went wrong.", "The code is unknown, expired or used.", required=False)


class JwkSerializer(serializers.Serializer):
    """RFC 8037."""

    kty = Text("The kind of key.", "OKP", schema={"enum": ["OKP"]})
    crv = Text("The curve.", "Ed25519", schema={"enum": ["Ed25519"]})
    x = Text("The public key, in base64url.", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    kid = Text("Its thumbprint (RFC 7638), which tokens name.", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    use = Text("What it is for.", "sig", schema={"enum": ["sig"]})
    alg = Text("How it signs.", "EdDSA", schema={"enum": ["EdDSA"]})


class JwksSerializer(serializers.Serializer):
    keys = JwkSerializer(many=True, help_text="The first one signs.")


def endpoint(about: str, path: str) -> Text:
    return Text(about, BASE + path, schema={"format": "uri"})


class OAuthMetadataSerializer(serializers.Serializer):
    issuer = endpoint("This service.", "")
    authorization_endpoint = endpoint("The consent page.", "/oauth/authorize")
    token_endpoint = endpoint("Exchanges a code.", "/oauth/token")
    revocation_endpoint = endpoint("Revokes a token.", "/oauth/revoke")
    jwks_uri = endpoint("The keys of session tokens.", "/.well-known/jwks.json")
    scopes_supported = StringList("The scopes.", list(SCOPES))
    response_types_supported = StringList("The response types.", ["code"])
    response_modes_supported = StringList("The response modes.", ["query"])
    grant_types_supported = StringList("The grants.", ["authorization_code"])
    authorization_response_iss_parameter_supported = Boolean("Redirects carry `iss` (RFC 9207).", True)
    code_challenge_methods_supported = StringList("PKCE.", ["S256"])
    token_endpoint_auth_methods_supported = StringList("How clients authenticate.", AUTHENTICATION)
    revocation_endpoint_auth_methods_supported = StringList("How clients authenticate.", AUTHENTICATION)


class ProtectedResourceSerializer(serializers.Serializer):
    resource = endpoint("This service.", "")
    authorization_servers = StringList("Issuers; each has metadata by RFC 8414.", [BASE])
    scopes_supported = StringList("The scopes.", list(SCOPES))
    bearer_methods_supported = StringList("Where the token goes.", ["header"])
    resource_name = Text("The platform's name.", "Example Apps")
    resource_documentation = endpoint("The documentation.", "/docs/")
