"""`/auth`, as those who call it want to know it (`common.api_reference`)."""

from accounts.api.serializers import LoginBody, RefreshTokenBody, RegisterBody
from accounts.enums import SELF_REGISTERED, Role
from common.api_reference import WHOLE, Bodies, Operation, ref
from common.currencies import CURRENCIES
from common.json_schema import Schema, identifier, integer, one_of, or_null, record, text

ACCOUNTS = "Accounts"
GROUPS = {ACCOUNTS: "A developer's way to the token of the developer API."}

_PASSWORD = text("At least eight characters, and none that is easily guessed.", "a-long-passphrase-7")
_EMAIL = text("The login name.", "dana@example.com")


def tokens() -> dict[str, Schema]:
    jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2ln"
    return {
        "accessToken": text("The token of the developer API, for an hour.", jwt),
        "refreshToken": text("Good for one new pair, for 30 days.", jwt),
        "tokenType": text("Always Bearer.", "Bearer", enum=["Bearer"]),
        "expiresIn": integer("Seconds that the access token lives.", 3600, minimum=1),
    }


def signed_in() -> Schema:
    person = record(
        id=identifier("The account.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0b"),
        email=_EMAIL,
        name=text("The name.", "Dana"),
        role=one_of("What the account is for.", Role.values, "DEVELOPER"),
    )
    business = identifier(
        "A developer's sandbox, a merchant's business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05"
    )
    return record(user=person, **tokens(), businessId=or_null(business))


RECORDS: dict[str, Schema] = {"SignedIn": signed_in(), "TokenPair": record(**tokens())}

BODIES: Bodies = {
    RegisterBody: {
        "email": _EMAIL | {"format": "email", "maxLength": 254},
        "password": _PASSWORD | {"minLength": 8, "maxLength": 4096, "format": "password"},
        "name": text("What others read.", "Dana", maxLength=120),
        "role": one_of("What the account is for.", [str(role) for role in SELF_REGISTERED], "DEVELOPER"),
        "businessName": text("A merchant's business; required for MERCHANT.", "Dana's Coffee", maxLength=120),
        "businessType": text("What kind of business it is.", "Cafe", maxLength=60),
        "address": text("The business's address.", "1 Harbour Street"),
        "currency": text("ISO 4217; USD where it is left out.", "USD", enum=sorted(CURRENCIES)),
        WHOLE: {
            "if": {"properties": {"role": {"const": "MERCHANT"}}, "required": ["role"]},
            "then": {
                "properties": {"businessName": {"type": "string", "pattern": r"\S"}},
                "required": ["businessName"],
            },
        },
    },
    LoginBody: {"email": _EMAIL, "password": text("The password.", "a-long-passphrase-7", format="password")},
    RefreshTokenBody: {"refreshToken": tokens()["refreshToken"]},
}

OPERATIONS: dict[str, Operation] = {
    "POST /auth/register": Operation(
        "register", ACCOUNTS, "Register",
        status=201,
        answer=ref("SignedIn"),
        answered="The account, signed in, with its sandbox or business.",
        body=RegisterBody,
        errors={409: "There is an account with this address.", 429: "More than 60 a minute from one address."},
        example={"role": "DEVELOPER"},
    ),
    "POST /auth/login": Operation(
        "login", ACCOUNTS, "Sign in",
        answer=ref("SignedIn"),
        body=LoginBody,
        errors={
            401: "Unknown account or wrong password.",
            429: "More than 10 a minute for one account or 60 from one address.",
        },
    ),
    "POST /auth/refresh": Operation(
        "refresh", ACCOUNTS, "Get a new pair of tokens", "The refresh token sent no longer works after this.",
        answer=ref("TokenPair"),
        body=RefreshTokenBody,
        errors={401: "The refresh token is unknown, used or expired."},
    ),
    "POST /auth/logout": Operation(
        "logout", ACCOUNTS, "Sign out", "Ends the refresh token.",
        status=204,
        body=RefreshTokenBody,
        errors={401: "The refresh token is unknown, used or expired."},
    ),
}  # fmt: skip
