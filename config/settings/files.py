"""Static files, pictures and their storage."""

from typing import Any

from config.env.servers import bucket_keys, media_storages
from config.settings.start import BASE_DIR, DEBUG, VAR_DIR

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "common.web.sheets.JoiningFinder",
    "developers.sdks.finder.SdkFinder",
]
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # served at "/", such as /favicon.ico
MEDIA_ROOT = VAR_DIR / "media"
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG


def _for_all_hosts(headers: Any, path: str, url: str) -> None:
    headers["Cross-Origin-Resource-Policy"] = "cross-origin"


WHITENOISE_ADD_HEADERS_FUNCTION = _for_all_hosts
BUCKET_KEYS = bucket_keys()
STORAGES = {
    # Neither is served by itself: views check who asks, and set the headers.
    **media_storages(var_dir=VAR_DIR),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# A picture may have 2 MiB, and a form carries six of them.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024 + 1
