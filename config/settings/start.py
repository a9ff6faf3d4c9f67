"""What kind of start this is, and the addresses that it answers."""

import sys
import tomllib
from pathlib import Path

from config.env import keys
from config.env.addresses import base_url, hosts, local_destinations, public_link, stores_url
from config.env.brand import (
    platform_accent,
    platform_link,
    platform_logo,
    platform_name,
    platform_support,
)
from config.env.reading import address, at_least, cores, env, flag, folder, port, program

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = folder("VAR_DIR", BASE_DIR / "var")

# Of the service, its APIs and its SDKs: `make release` writes it.
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

# Which process this is, as its sessions in the database say.
PROGRAM = program(sys.argv)

DEBUG = flag("DEBUG")
SECRET_KEY = keys.secret_key(debug=DEBUG, var_dir=VAR_DIR)
SECRET_KEY_FALLBACKS = keys.secret_key_fallbacks()
FIELD_ENCRYPTION_KEYS = keys.field_encryption_keys(debug=DEBUG, var_dir=VAR_DIR)
SESSION_TOKEN_KEYS = keys.session_token_keys()

PORT = port("PORT", 8000)
BASE_URL = base_url(PORT)
LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
STORES_URL = stores_url(base_url=BASE_URL, port=PORT, debug=DEBUG)
STORES_DOMAIN_IS_PUBLIC_SUFFIX = flag("STORES_DOMAIN_IS_PUBLIC_SUFFIX", default=False)
ALLOWED_HOSTS = [*hosts(BASE_URL, STORES_URL), *env.list("ALLOWED_HOSTS", default=LOOPBACK if DEBUG else [])]
CSRF_TRUSTED_ORIGINS = [BASE_URL]

# What the operator calls the platform, and how it looks.
PLATFORM_NAME = platform_name()
PLATFORM_LOGO = platform_logo()
PLATFORM_ACCENT = platform_accent()

# Links of every page's footer: those that the operator has.
FOOTER_LINKS = [
    (words, link)
    for words, link in (
        ("Contact", platform_support() or public_link("CONTACT_URL")),
        ("Terms", platform_link("PLATFORM_TERMS_URL") or public_link("TERMS_URL")),
        ("Privacy", platform_link("PLATFORM_PRIVACY_URL") or public_link("PRIVACY_URL")),
        ("Status", public_link("STATUS_URL")),
    )
    if link
]

# Lets webhooks and hooks go to the loopback interface. For the demo and tests.
ALLOW_LOCAL_DESTINATIONS = local_destinations(debug=DEBUG)
OUTGOING_USER_AGENT = "Service-Webhooks/1.0"

# Whether a new demo starts with a month behind it, and a line in the footer of each page.
DEMO_HISTORY = flag("DEMO_HISTORY", default=True)
FOOTER_NOTE = ""

# How many requests a minute a connected shop may make (`storeapi`).
STORE_API_RATE = at_least(1, "STORE_API_RATE", 6_000)

# Whether calls of apps are logged for their developers (`activity.log`).
LOG_API_CALLS = flag("LOG_API_CALLS", default=True)

# The bearer token for `/metrics`. Without it that page is a 404.
METRICS_TOKEN = keys.metrics_token(debug=DEBUG)

# What `manage.py serve` and `manage.py work` start.
BIND = env.str("BIND", default="") or f"127.0.0.1:{PORT}"
WEB_PROCESSES = at_least(1, "WEB_PROCESSES", cores())
WEB_THREADS = at_least(1, "WEB_THREADS", 8)
WORKER_THREADS = at_least(2, "WORKER_THREADS", 4)  # a dispatcher takes one
HEARTBEAT_FILE = env.str("HEARTBEAT_FILE", default="")
# Where `work`, `schedule` and `deliver` answer `/metrics`; nowhere by default. Web processes do at `BIND`.
METRICS_BIND = address("METRICS_BIND")
