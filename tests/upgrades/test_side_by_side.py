"""The newest recorded release and this version serve one installation, as they do in the middle of an upgrade."""

from pathlib import Path

import pytest

from tests.by_hand import Platform
from tests.faults.servers import skipped_if_missing
from tests.whole_life import SUPERUSER, AppServer, Mail, WholeLife, app_server
from tools.released_tree import check_out
from tools.soak.site import ROOT, Site

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(1200)]


def test_whole_life_of_an_app_at_both_versions_side_by_side(tmp_path: Path) -> None:
    """One web server and one worker are new, the other two and the scheduler are the release's. Each request goes to the other version
    than the one before it, and the second life begins at the other version than the first.
    """
    for folder in ("release", "site"):
        (tmp_path / folder).mkdir()
    release = check_out(tmp_path / "release")
    if release is None:
        pytest.skip("needs the whole history, for the release to run beside")
    mail = Mail(tmp_path / "mail")
    with skipped_if_missing():
        site = Site(tmp_path / "site", release)
    with app_server(tmp_path) as (receiver, trusted):
        site.environment |= {
            "EMAIL_URL": mail.url, "SSL_CERT_FILE": str(trusted), "DATA_ERASURE_DELAY": "1", **SUPERUSER
        }  # fmt: skip
        with site:
            site.run("manage.py", "migrate", "--verbosity=0", tree=ROOT)
            site.run("manage.py", "collectstatic", "--noinput", "--verbosity=0", tree=ROOT)
            for role in ("web", "worker"):
                site.replace(site.of_role(role)[1], ROOT)
            server = AppServer(receiver, f"https://127.0.0.1:{receiver.port}")
            for number, addresses in enumerate((site.addresses, site.addresses[::-1]), 1):
                platform = Platform(site.url, site.environment["STORES_URL"], addresses)
                life = WholeLife(platform, server, mail, number)
                site.run(*life.reviewer.made_by)
                life.begin()
                life.end()
