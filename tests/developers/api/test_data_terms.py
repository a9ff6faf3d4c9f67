"""`dataCountries`, `dataRetentionDays` and `dataProcessors` (contract, section 22), as a developer's script meets them."""

from typing import Any

import pytest

from common.text.countries import CODES
from extensions.services.manifests import restore_version
from marketplace.models import App
from tests import factories
from tests.approvals import approve
from tests.clients import BODY, Api
from tests.merchants.pages import installed

SECTION = "Contract 22 Where the data goes"
KEPT = {"dataCountries": ["DE", "FR"], "dataRetentionDays": 30, "dataProcessors": "Mailer Ltd."}


def change(api: Api, app: App, **fields: Any) -> Any:
    return api("patch", f"/developer/apps/{app.pk}", fields)


def named(response: Any) -> list[str]:
    assert response.status_code == 400
    return [each["field"] for each in response.json()["details"]]


@pytest.mark.spec(SECTION, "The app has the three fields in the developer API")
def test_fields_are_kept_as_they_were_sent(api: Api, app: App) -> None:
    created = api("post", "/developer/apps", BODY | KEPT).json()
    assert {name: created[name] for name in KEPT} == KEPT
    changed = change(api, app, dataCountries=["JP", "DE", "JP"], dataProcessors="  Mailer  ").json()
    assert (changed["dataCountries"], changed["dataProcessors"]) == (["JP", "DE"], "Mailer")
    assert change(api, app, dataRetentionDays=3650).json()["dataRetentionDays"] == 3650
    gone = change(api, app, dataCountries=[], dataRetentionDays=None, dataProcessors=None).json()
    assert [gone[name] for name in KEPT] == [[], None, ""]


@pytest.mark.spec(SECTION, "Bad values are 400 and named")
@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"dataCountries": ["DE", "de"]}, "dataCountries[1]"),
        ({"dataCountries": ["XX"]}, "dataCountries[0]"),
        ({"dataCountries": ["DEU"]}, "dataCountries[0]"),
        ({"dataCountries": list(CODES[:31])}, "dataCountries"),
        ({"dataCountries": "DE"}, "dataCountries"),
        ({"dataCountries": ["DE"], "dataRetentionDays": -1}, "dataRetentionDays"),
        ({"dataCountries": ["DE"], "dataRetentionDays": 3651}, "dataRetentionDays"),
        ({"dataCountries": ["DE"], "dataRetentionDays": "30"}, "dataRetentionDays"),
        ({"dataProcessors": "x" * 501}, "dataProcessors"),
        ({"dataProcessors": "Mailer, see https://mailer.example"}, "dataProcessors"),
        ({"dataProcessors": "mailer.example/privacy"}, "dataProcessors"),
        ({"dataProcessors": "a\x07b"}, "dataProcessors"),
    ],
)
def test_bad_value_is_named(api: Api, app: App, fields: dict[str, Any], fault: str) -> None:
    assert named(change(api, app, **fields)) == [fault]
    assert named(api("post", "/developer/apps", BODY | fields)) == [fault]
    app.refresh_from_db()
    assert (app.data_countries, app.data_retention_days, app.data_processors) == ([], None, "")


def test_thirty_countries_are_not_too_many(api: Api, app: App) -> None:
    assert len(change(api, app, dataCountries=list(CODES[:30])).json()["dataCountries"]) == 30


@pytest.mark.spec(
    SECTION, "Days without countries are 400 at dataRetentionDays; the last country 400 at dataCountries"
)
def test_days_need_countries(api: Api, app: App) -> None:
    assert named(change(api, app, dataRetentionDays=30)) == ["dataRetentionDays"]
    assert named(change(api, app, dataCountries=[], dataRetentionDays=0)) == ["dataRetentionDays"]
    assert named(api("post", "/developer/apps", BODY | {"dataRetentionDays": 0})) == ["dataRetentionDays"]
    change(api, app, dataCountries=["DE"], dataRetentionDays=0)
    assert named(change(api, app, dataCountries=[])) == ["dataCountries"]
    assert change(api, app, dataCountries=[], dataRetentionDays=None).status_code == 200


@pytest.mark.spec(SECTION, "An approval freezes them")
def test_edit_of_an_approved_app_waits_for_the_next_version(api: Api, app: App) -> None:
    change(api, app, **KEPT)
    version = factories.approve(App.objects.get(pk=app.pk))
    assert change(api, app, dataRetentionDays=31).json()["status"] == "DRAFT"
    version.refresh_from_db()
    assert (version.data_countries, version.data_retention_days, version.data_processors) == (
        ["DE", "FR"],
        30,
        "Mailer Ltd.",
    )


@pytest.mark.spec(SECTION, "restore is 409 where it would ask")
@pytest.mark.parametrize(
    ("first", "second", "asks"),
    [
        ({"data_countries": ["DE", "FR"]}, {"data_countries": ["DE"]}, True),
        ({"data_countries": ["DE"], "data_retention_days": 31}, {"data_countries": ["DE"], "data_retention_days": 30}, True),
        ({"data_countries": ["DE"]}, {"data_countries": ["DE"], "data_retention_days": 3650}, True),
        ({"data_countries": ["DE"], "data_processors": "A"}, {"data_countries": ["DE"], "data_processors": ""}, True),
        ({"data_countries": ["DE"], "data_retention_days": 0}, {"data_countries": ["DE", "FR"]}, False),
        ({}, {"data_countries": ["DE"]}, False),
        ({"data_countries": ["FR"]}, {}, False),
    ],
)  # fmt: skip
def test_restore_that_would_ask_is_refused(
    api: Api, app: App, first: dict[str, Any], second: dict[str, Any], asks: bool
) -> None:
    nothing = {"data_countries": [], "data_retention_days": None, "data_processors": ""}
    approve(app, "ALL", **nothing | first)
    approve(app, "ALL", **nothing | second)
    restored = api("post", f"/developer/apps/{app.pk}/versions/1/restore")
    if asks:
        assert (restored.status_code, restored["X-Error-Code"]) == (409, "version_adds_reach")
        assert "where their data goes" in restored.json()["message"]
    else:
        assert restored.status_code == 200
        assert restored.json()["dataCountries"] == first.get("data_countries", [])


def test_restore_is_compared_with_what_stores_keep(api: Api, app: App, shop: Any) -> None:
    """The version between says nothing, so the store still holds what it agreed to with the second."""
    app = approve(app, "ALL", data_countries=["US"])
    app = approve(app, "ALL", data_countries=["DE"])
    installed(app, shop)
    approve(app, "ALL", data_countries=[])
    assert api("post", f"/developer/apps/{app.pk}/versions/1/restore").status_code == 409
    restore_version(app=app, developer=app.developer, number=2)
