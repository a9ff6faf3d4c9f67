"""`NAME_FILE`: a setting that is in a file, as systemd, Compose and Kubernetes hand over secrets."""

from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config.env.keys import field_encryption_keys
from config.env.reading import Environment
from config.env.servers import media_storages
from tests.config.commands import production, run

SECRETS = ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "EMAIL_URL")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "secret"


def test_setting_is_read_from_its_file_without_the_end_of_the_line(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    key = Fernet.generate_key().decode()
    file.write_text(f"{key}\n")
    monkeypatch.delenv("FIELD_ENCRYPTION_KEYS", raising=False)
    monkeypatch.setenv("FIELD_ENCRYPTION_KEYS_FILE", str(file))
    assert field_encryption_keys(debug=False, var_dir=file.parent) == (key,)


def test_setting_and_its_file_are_not_both_given(file: Path) -> None:
    file.write_text("of the file")
    both = Environment({"SECRET_KEY": "of the variable", "SECRET_KEY_FILE": str(file)})
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY and SECRET_KEY_FILE are both set") as refused:
        both["SECRET_KEY"]
    assert "of the" not in str(refused.value)
    assert Environment({"SECRET_KEY": "", "SECRET_KEY_FILE": str(file)})["SECRET_KEY"] == "of the file"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_file_that_cannot_be_read_stops_the_start(file: Path, content: bytes | None) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match="METRICS_TOKEN_FILE must be the path of a text file"):
        Environment({"METRICS_TOKEN_FILE": str(file)})["METRICS_TOKEN"]


def test_keys_of_the_bucket_may_be_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Their library would look into the environment only."""
    monkeypatch.setenv("MEDIA_STORAGE_URL", "s3://bucket")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
        (tmp_path / name).write_text(name.lower())
    options: dict[str, Any] = media_storages(var_dir=tmp_path)["default"]["OPTIONS"]
    assert (options["access_key"], options["secret_key"]) == ("aws_access_key_id", "aws_secret_access_key")


@pytest.mark.slow  # a process of its own
def test_start_with_every_secret_in_a_file(tmp_path: Path) -> None:
    values = production(tmp_path)
    changes = dict.fromkeys(SECRETS, "")
    for name in SECRETS:
        (tmp_path / name).write_text(values[name])
        changes[f"{name}_FILE"] = str(tmp_path / name)
    found = run(
        tmp_path, "-c", "from config import settings as s; print(s.SECRET_KEY, s.DATABASE_URL)", **changes
    )
    assert found.stdout.split() == [values["SECRET_KEY"], values["DATABASE_URL"]], found.stderr
