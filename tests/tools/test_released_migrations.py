"""`make lint` notices a changed migration of a release."""

from pathlib import Path

from tools.released_migrations import LIST, changed, record


def test_released_migration_that_changes_or_goes_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "shops" / "migrations"
    folder.mkdir(parents=True)
    (tmp_path / LIST).parent.mkdir(parents=True)
    first, second = folder / "0001_initial.py", folder / "0002_names.py"
    for path in (first, second):
        path.write_text("operations = []\n")
    record(tmp_path)
    assert changed(tmp_path) == []

    (folder / "0003_new.py").write_text("operations = []\n")  # of no release yet
    assert changed(tmp_path) == []

    first.write_text("operations = [1]\n")
    second.unlink()
    assert changed(tmp_path) == ["shops/migrations/0001_initial.py", "shops/migrations/0002_names.py"]
    record(tmp_path)  # of the next release; what is recorded stays
    assert len(changed(tmp_path)) == 2
