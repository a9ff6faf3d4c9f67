"""Putting a block on a page from the app's side: whose block, whose page."""

import pytest

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import Placement
from stores.services.pages import create_page
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app, page_of, signed_in


@pytest.mark.spec("Contract 6 Extensions", "Host pages: blocks are placed on the merchant's own site pages")
def test_only_own_blocks_go_on_own_pages(dana: User, mira: User, shop: Business, sandbox: Business) -> None:
    stars, other = listed_app(dana, ["read_orders"]), listed_app(dana, ["read_orders"])
    block, foreign = (define(app, ExtensionType.BLOCK, "wall") for app in (stars, other))
    installation, _ = installed(stars, shop), installed(other, shop)
    own, elsewhere = create_page(business=shop, title="Ours"), create_page(business=sandbox, title="Theirs")
    browser, address = signed_in(mira), page_of(installation, "blocks/")

    def press(choice: object, page: object) -> int:
        return int(browser.post(address, {"choice": str(choice), "page": str(page)}).status_code)

    assert press(foreign.pk, own.pk) == 404
    assert press(block.pk, elsewhere.pk) == 404
    assert press("nonsense", own.pk) == 404
    assert press(block.pk, "nonsense") == 404
    assert signed_in(dana).post(address, {"choice": str(block.pk), "page": str(own.pk)}).status_code == 404
    assert not Placement.objects.exists()
    assert press(block.pk, own.pk) == 302
    assert Placement.objects.get().page == own
