"""Accounts, sign-in and OAuth."""

from config.env.people import identity_provider, password_sign_in
from config.env.reading import flag
from config.settings.start import DEBUG, PLATFORM_NAME

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "accounts:home"
LOGOUT_REDIRECT_URL = "home"
PASSWORD_RESET_TIMEOUT = 3600  # seconds that a mailed link works
SESSION_ENGINE = "accounts.sign_in.sessions"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = [
    "accounts.sign_in.hashers.PasswordHasher",
    "accounts.sign_in.hashers.RandomSecretHasher",
]
# Sign-in pages of django-allauth (docs/decisions/0027). `accounts.sign_in.limits` counts guesses instead of the library, whose
# counters would let strangers lock people out.
ACCOUNT_ADAPTER = "accounts.sign_in.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"  # asked for where it matters, by `accounts.services.confirmation`
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900  # seconds after a sign-in or step-up until people are asked again
# Sign-in by the operator's identity provider (`accounts.sign_in.provider`).
IDENTITY_PROVIDER = identity_provider(debug=DEBUG)
PASSWORD_SIGN_IN = password_sign_in(IDENTITY_PROVIDER)
SOCIALACCOUNT_ADAPTER = "accounts.sign_in.provider.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"provider_class": "accounts.sign_in.provider.OperatorsProvider"}
}
MFA_ADAPTER = "accounts.sign_in.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = PLATFORM_NAME
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = DEBUG
MFA_RATE_LIMITS = False
AUTH_RATE_LIMITS = flag("AUTH_RATE_LIMITS", default=True) or not DEBUG
RATELIMIT_FAIL_OPEN = True  # a counter that vanished from the cache refuses no request
# People confirm their address before they submit an app, open a store or install an app. Not in the demo.
CONFIRM_ADDRESSES = not DEBUG
# Reviewers and superusers need a second factor, and people sign in again before sensitive actions.
SECOND_FACTOR_FOR_STAFF = not DEBUG
STEP_UP = not DEBUG
HOME_OF_ROLE = {"DEVELOPER": "portal:app_list", "MERCHANT": "merchants:home", "REVIEWER": "admin:index"}
# Where people begin whom the identity provider has sent: a merchant without a store adds one.
FIRST_PAGE_OF_ROLE = {"DEVELOPER": "portal:app_list", "MERCHANT": "merchants:business_add"}

OAUTH2_PROVIDER_APPLICATION_MODEL = "marketplace.App"
OAUTH2_PROVIDER_GRANT_MODEL = "installations.Grant"
OAUTH2_PROVIDER = {
    "CLIENT_SECRET_HASHER": "pbkdf2_random_secret",
    "CLIENT_SECRET_GENERATOR_CLASS": "marketplace.credentials.ClientSecretGenerator",
    "APPLICATION_ADMIN_CLASS": "developers.review.admin.apps.AppAdmin",
    "OAUTH2_BACKEND_CLASS": "installations.oauth.Core",
    "OAUTH2_SERVER_CLASS": "installations.oauth.Server",
    "OAUTH2_VALIDATOR_CLASS": "installations.oauth.Validator",
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"] if DEBUG else ["https"],
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,  # apps get no refresh tokens; the library's check wants it said
    "PKCE_REQUIRED": False,  # verified when an app sends it; the specification does not ask for it
}
