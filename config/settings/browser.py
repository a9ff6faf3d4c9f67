"""Cookies, headers and TLS."""

from csp.constants import NONE, SELF

from config.env.addresses import cookie_name, security_txt, trusted_proxies
from config.env.people import embed_origins
from config.env.reading import flag, seconds
from config.settings.start import BASE_URL, DEBUG, STORES_URL

SECURE_BY_TLS = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_BY_TLS
SESSION_COOKIE_NAME = cookie_name("sessionid", BASE_URL, debug=DEBUG)
CSRF_COOKIE_NAME = cookie_name("csrftoken", BASE_URL, debug=DEBUG)
CART_COOKIE_NAME = cookie_name("cart", BASE_URL, debug=DEBUG)
SECURE_SSL_REDIRECT = SECURE_BY_TLS and flag("SECURE_SSL_REDIRECT", default=not DEBUG)
# Health checks and scrapes come to each machine by itself, not through the proxy with its certificate.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)/?$"]
SECURE_HSTS_SECONDS = seconds("SECURE_HSTS_SECONDS", 31_536_000) if SECURE_BY_TLS and not DEBUG else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = flag("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=True)
SECURE_HSTS_PRELOAD = flag("SECURE_HSTS_PRELOAD")
TRUSTED_PROXIES = trusted_proxies()
# `common.web.middleware.zones` removes the header from requests of others.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
# An app's page may be opened in a frame, and a window from there shows these only without an opener policy (docs/decisions/0070).
OPENED_FROM_FRAMES = (
    "/accounts/login",
    "/accounts/register",
    "/accounts/oidc/",
    "/oauth/authorize",
    "/oauth/requests/",
    "/merchant/continue/",
    "/accounts/tickets/",
    "/store/",
)
# Whose pages may frame the pages that are marked for it (`common.web.middleware.frames`).
EMBED_ORIGINS = embed_origins(base_url=BASE_URL, stores_url=STORES_URL)
X_FRAME_OPTIONS = "DENY"
# On every answer, unless its view says otherwise: pictures and static files are there for both hosts.
ANSWER_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(
        f"{feature}=()"
        for feature in (
            "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation",
            "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi",
            "payment", "serial", "usb", "xr-spatial-tracking",
        )
    ),
}  # fmt: skip
SECURITY_TXT = security_txt(BASE_URL, debug=DEBUG)
CSRF_FAILURE_VIEW = "common.web.errors.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
