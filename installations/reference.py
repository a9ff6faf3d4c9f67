"""OAuth, as an app's server meets it (`common.api_reference`)."""

from common.api_reference import Operation, ref
from common.json_schema import Schema, boolean, identifier, listing, record, shape, text
from marketplace.scopes import SCOPES

OAUTH = "OAuth"
GROUPS = {
    OAUTH: "An app's server exchanges the code that a merchant's consent gave, and gives its token back. "
    "The client authenticates with Client ID and client secret."
}


def token() -> Schema:
    return record(
        access_token=text("Opens the app API until the uninstall.", "fbat_5e…", pattern="^fbat_"),
        token_type=text("Always Bearer.", "Bearer", enum=["Bearer"]),
        scope=text("What the token may do, with spaces between.", "read_products read_orders"),
        installationId=identifier("The installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a"),
        webhookSecret=text("Signs webhooks and hook calls.", "whsec_kT0g…", pattern="^whsec_"),
        businessId=identifier("The business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05"),
        isTestInstall=boolean("Whether it is a test install on a sandbox.", False),
    )


def error() -> Schema:
    fields = {
        "error": text("The code of RFC 6749.", "invalid_grant"),
        "error_description": text("What went wrong.", "The code is unknown, expired or used."),
    }
    return shape(fields, optional=["error_description"], about="RFC 6749, section 5.2.")


def metadata() -> Schema:
    base = "https://platform.example"
    authentication = ["client_secret_basic", "client_secret_post"]
    address = text("An address.", base, format="uri")
    word = text("One of them.", "code")
    return record(
        issuer={**address, "description": "This service."},
        authorization_endpoint={**address, "examples": [f"{base}/oauth/authorize"]},
        token_endpoint={**address, "examples": [f"{base}/oauth/token"]},
        revocation_endpoint={**address, "examples": [f"{base}/oauth/revoke"]},
        scopes_supported={**listing("The scopes.", word), "examples": [list(SCOPES)]},
        response_types_supported=listing("What may be asked for.", word),
        response_modes_supported={**listing("How it is answered.", word), "examples": [["query"]]},
        grant_types_supported={**listing("The grants.", word), "examples": [["authorization_code"]]},
        code_challenge_methods_supported={**listing("PKCE.", word), "examples": [["S256"]]},
        token_endpoint_auth_methods_supported={**listing("Of clients.", word), "examples": [authentication]},
        revocation_endpoint_auth_methods_supported={
            **listing("Of clients.", word), "examples": [authentication],
        },
    )  # fmt: skip


RECORDS: dict[str, Schema] = {"Token": token(), "OAuthError": error(), "OAuthMetadata": metadata()}

_EXCHANGE = shape(
    {
        "grant_type": text("The grant.", "authorization_code", enum=["authorization_code"]),
        "code": text("From your Redirect URL, within 60 seconds.", "q7Rk2…", minLength=1),
        "redirect_uri": text(
            "As in the authorization; left out where it was left out there.",
            "https://stars.example.com/callback",
        ),
        "code_verifier": text("With PKCE.", "a-verifier-of-at-least-forty-three-characters-length"),
    },
    optional=["redirect_uri", "code_verifier"],
)

OPERATIONS: dict[str, Operation] = {
    "POST /oauth/token": Operation(
        "exchangeCode", OAUTH, "Exchange a code for a token",
        "The app is installed with this answer. Client ID and secret may stand in the body instead of the header.",
        answer=ref("Token"),
        body=_EXCHANGE,
        form=True,
        errors={
            400: "The code, the verifier or the `redirect_uri` is wrong, or a parameter is missing.",
            401: "Wrong Client ID or secret, or the app is suspended.",
            429: "More than 60 exchanges a minute from one address.",
        },
    ),
    "POST /oauth/revoke": Operation(
        "revokeToken", OAUTH, "Give a token back", "Uninstalls the app (RFC 7009). An unknown token is a 200 too.",
        answered="The token, if it was one of yours, no longer works.",
        body=shape(
            {
                "token": text("The access token.", "fbat_5e…", minLength=1),
                "token_type_hint": text("May be sent; changes nothing.", "access_token"),
            },
            optional=["token_type_hint"],
        ),
        form=True,
        errors={
            400: "No token was sent.",
            401: "Wrong Client ID or secret, or the app is suspended.",
            429: "More than 60 a minute from one address.",
        },
    ),
    "GET /.well-known/oauth-authorization-server": Operation(
        "getOAuthMetadata", OAUTH, "Get the authorization server's metadata", "RFC 8414.", answer=ref("OAuthMetadata"),
    ),
}  # fmt: skip
