"""Files that must not be committed are found before they are."""

import base64
import hashlib

import pytest

from tools.tracked_files import MAX_BYTES, check

KEY = hashlib.sha256(b"a key").digest()
RANDOM = base64.urlsafe_b64encode(KEY).decode().rstrip("=")
CREDENTIALS = {
    "access token": f"fbat_{RANDOM}",
    "access token of a test install": f"TOKEN=fbat_test_{RANDOM}",
    "developer token": f"fbdt_{RANDOM}",
    "client secret": f'"client_secret": "fbcs_{RANDOM}"',
    "webhook secret": f"whsec_test_{base64.b64encode(KEY).decode()}",
    "setting": f"FIELD_ENCRYPTION_KEYS={base64.urlsafe_b64encode(KEY).decode()}",
    "key in code": f'API_KEY = "{KEY.hex()}"',
    "token of GitHub": "github_pat_" + "x" * 40,
    "key of Google": "AIza" + "x" * 35,
    "token of npm": "npm_" + "x" * 36,
}
HARMLESS = [
    "fbat_…",
    'accessToken: "fbat_test_5e…"',
    "SECRET_KEY = secret_key(debug=DEBUG, var_dir=VAR_DIR)",
    '"CLIENT_SECRET_GENERATOR_CLASS": "marketplace.credentials.ClientSecretGenerator",',
    '"CLIENT_SECRET_HASHER": "pbkdf2_random_secret",',
    'PASSWORD = "correct horse battery staple"',
    "csrf_token: \"{% url 'merchants:installed-apps-overview' %}\"",
]


@pytest.mark.parametrize("line", CREDENTIALS.values(), ids=CREDENTIALS)
def test_credential_is_found_with_its_line(line: str) -> None:
    problems = list(check("app/notes.py", f"first\n{line}\n".encode()))
    assert problems
    assert all(problem.startswith("app/notes.py:2: ") for problem in problems)


@pytest.mark.parametrize("line", HARMLESS)
def test_name_or_placeholder_is_no_credential(line: str) -> None:
    assert not list(check("app/notes.py", line.encode()))


def test_invented_token_may_be_in_a_test_but_a_key_of_others_may_not() -> None:
    assert not list(check("tests/test_app.py", CREDENTIALS["access token"].encode()))
    assert list(check("tests/test_app.py", CREDENTIALS["token of GitHub"].encode()))


def test_file_over_the_limit_is_found_wherever_it_is_but_under_vendor() -> None:
    assert list(check("docs/images/film.png", b"\0" * (MAX_BYTES + 1)))
    assert not list(check("docs/images/film.png", b"\0" * MAX_BYTES))
    assert not list(check("static/vendor/editor.js", b"x" * (MAX_BYTES + 1)))
