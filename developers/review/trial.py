"""Where a reviewer tries an app: the pages of the test store on which it runs."""

from django.urls import reverse

from extensions.enums import ExtensionType
from extensions.queries import extensions_on
from installations.models import Installation
from marketplace.listing import authorize_address
from stores.addresses import store_url


def trial_links(installation: Installation) -> list[tuple[str, str]]:
    """Labels and URLs, the app's own page first. Blocks are placed in the page editor, so pages are among them."""
    store = installation.business
    links = [
        (
            "Open the app through the consent page",
            authorize_address(installation.app, redirect_url=installation.app.redirect_url),
        ),
        ("Storefront", store_url(store.slug)),
        ("App in the dashboard", reverse("merchants:installation", args=[installation.pk])),
    ]
    if extensions_on(store, ExtensionType.BLOCK):
        links.append(("Page editor", reverse("merchants:pages")))
    pages = [
        each for each in extensions_on(store, ExtensionType.ADMIN_PAGE) if each.installation == installation
    ]
    links += [
        (
            str(each.definition.content.get("title", each.definition.key)),
            reverse("merchants:admin_page", args=[installation.pk, each.definition.key]),
        )
        for each in pages
    ]
    return links
