"""The URL of a folder in a bucket: `s3://bucket/folder?endpoint=https://s3.example&region=eu-central-1`.

Credentials have no place in it: they are `settings.BUCKET_KEYS`, or those of the machine's role.
This module imports nothing of the extra `s3`.
"""

import re
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def options_of(url: str) -> dict[str, Any]:
    """The options of `common.files.object_storage.ObjectStorage`. Raises `ValueError`, which says what the URL must look like."""
    parts, query = urlsplit(url), parse_qs(urlsplit(url).query)
    endpoint, region = (query.pop(name, [""])[0] for name in ("endpoint", "region"))
    is_whole = parts.scheme == "s3" and _NAME.fullmatch(parts.netloc) and not query
    if not is_whole or (endpoint and not urlsplit(endpoint).hostname):
        raise ValueError(
            "must look like s3://bucket/folder?endpoint=https://s3.example&region=eu-central-1, where folder, endpoint and "
            "region may be left out. Credentials belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return {
        "bucket_name": parts.netloc,
        "location": parts.path.strip("/"),
        "endpoint_url": endpoint or None,
        "region_name": region or None,
    }
