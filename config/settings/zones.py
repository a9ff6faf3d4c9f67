"""What a request passes, by the part of the service that it is for."""

from typing import Any

from config.settings.start import DEBUG

MIDDLEWARE = [
    "common.web.middleware.request_ids.RequestIdMiddleware",
    "common.observability.metrics.AnswersMiddleware",
    "common.web.visits.VisitsMiddleware",
    "common.web.middleware.zones.ZoneMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # leads to the page that asks for the password again
]

if DEBUG:
    MIDDLEWARE.insert(0, "common.web.middleware.server_timing.ServerTimingMiddleware")

ZONE_OF = "config.zones.zone_of"
API_RATES = ("appapi.middleware.RATE", "storeapi.views.base.RATE")
ZONES: dict[str, dict[str, Any]] = {
    "platform": {
        "refuses_nul": True,  # views of APIs do it by themselves, with the path of the field
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.middleware.policy.OpenerPolicyMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "common.web.middleware.policy.ContentPolicy",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "common.web.middleware.bodies.FormBodyMiddleware",
            "merchants.access.CapabilityMiddleware",
            "common.web.middleware.same_origin.OwnFormsMiddleware",
            "accounts.sign_in.sessions.Authentication",
            "accounts.times.PersonalTimes",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            "common.web.middleware.frames.FramesMiddleware",
        ],
    },
    "api": {
        "middleware": [
            "appapi.middleware.CallLogMiddleware",
            "common.rest.rates.RateHeadersMiddleware",
            "django.middleware.security.SecurityMiddleware",
            "common.web.api.ApiMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    # What pages of shops ask for, on origins that aren't ours. No cookie is read or set.
    "shops": {
        "middleware": [
            "storeapi.middleware.OriginMiddleware",
            "django.middleware.security.SecurityMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "common.web.api.ApiMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    # Load balancers ask each machine by its address, so nothing here looks at the host.
    "probes": {
        "refuses_nul": True,
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.api.ApiMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    "stores": {
        "refuses_nul": True,
        "urlconf": "config.store_urls",
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.middleware.policy.OpenerPolicyMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "common.web.middleware.policy.ContentPolicy",
            "django.middleware.common.CommonMiddleware",
            "storefront.middleware.StoreMiddleware",  # first of those that refuse, since it knows the language
            "common.web.middleware.same_origin.SameOriginMiddleware",
            "common.web.middleware.bodies.FormBodyMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
}
