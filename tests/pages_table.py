"""Every page of both hosts: who reads it, who may send it a form, and where it differs from others.

The tests of pages read all that they know of a route from here. `tests/wire/test_tables.py` holds the rows to the URL conf, and fails
for a list of routes anywhere else. Endpoints of the APIs are in `tests/endpoints_table.py`; lists and forms that Django's
admin makes of a model have no row.
"""

import re
from collections.abc import Iterator
from typing import Final

APIS: Final = ("appapi:", "storeapi:", "developer_api:", "auth:")
ADMIN_OF_DJANGO: Final = re.compile(
    r"admin:(?:(?:login|logout|password_change|password_change_done|autocomplete|jsi18n|view_on_site|app_list)?$|.*_(?:add|history|delete|change|changelist|password_change)$)"
)

# The callers: everybody, a person who is signed in, one who makes apps or reviews them, or a role on an app or in a store and those above it.
NOBODY, ANYONE, PERSON, AUTHOR, REVIEWER = "", "ANYONE", "PERSON", "AUTHOR", "REVIEWER"
VIEWER, DEVELOPER, OWNER, ORDERS, MANAGER = "VIEWER", "DEVELOPER", "OWNER", "ORDERS", "MANAGER"
ON_APPS: Final = (VIEWER, DEVELOPER, OWNER)  # the least first
IN_STORES: Final = (ORDERS, MANAGER, OWNER)

# What a GET answers, if not a page that everyone of these people can see.
FETCHED = "leads elsewhere, or to something that is no page"
NOT_SHOWN = "has nothing to show to the cast: a link of a mail, what a device shows, or a page for others"
BY_KEY = "has a key in its address that only a mail or a device knows: tests/accounts and tests/browser/test_account.py look at it"
BY_A_LINK = "is for the person who has the link of a mail"
NO_SANDBOX = "is refused to a developer, who has one store and works in it alone"
PUBLIC = "may be kept by caches, since it is the same for everyone; each shopper's cart is a page of its own"
NOTED = "is noted, as a visit of the merchant's own store"
ANY_LENGTH = "has fields without a maximum: values of an app's schema, or a page without a purpose"
# What a form is, if not one into which people type: that has a row in `tests/wire/test_forms.py`.
PRESS = "has nothing to type"
UNKEPT = "keeps no field: it is for scripts, or promises to store nothing"
NO_TOKEN = "proves by a secret who sends it, or leads to the store's own host: no cookie counts"
NAMED_INSIDE = (
    "is a 404 for its owner too, since an empty form names no block, and no reviewer is there to read"
)
FRAMED = "may be shown in a frame on the operator's own pages (`EMBED_ORIGINS`)"
UPLOAD = "takes pictures, so that `deploy/nginx.conf` lets larger bodies through"
CONNECTED = "is there in a connected store, too, whose other pages of the dashboard are 404"
BY_TICKET = "is there for people of connected stores, whose account has no other page"
ORDERS_TOO = "is there for everybody who works in a connected store, though only managers open it in others"
ENDS = "would work without a field, and take the next role's object away"


class Page:
    """A route by its name, with the least role of those who read it and who write to it. Without readers it is a button.

    `shot` is the row of `tools.screenshots` that shows it after a press, where none has its path.
    """

    def __init__(self, name: str, reads: str, writes: str = NOBODY, *marks: str, shot: str = "") -> None:
        self.name, self.reads, self.writes, self.marks, self.shot = name, reads, writes, marks, shot


ROWS: Final = [
    # The platform
    Page("home", ANYONE, NOBODY, PUBLIC),
    Page("theme", NOBODY, ANYONE),
    Page("licenses", ANYONE, NOBODY, PUBLIC),
    Page("brand_part", ANYONE, NOBODY, FETCHED, PUBLIC, NOT_SHOWN),
    Page("search", ANYONE),
    Page("styleguide", ANYONE, ANYONE, PUBLIC, ANY_LENGTH),
    Page("mails", ANYONE, NOBODY, PUBLIC),
    Page("no_server", ANYONE, NOBODY, PUBLIC),
    Page("", ANYONE, ANYONE, FETCHED, PUBLIC, NO_TOKEN),
    Page("llms", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("llms_full", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("inbox_receiver", NOBODY, ANYONE, NO_TOKEN),
    Page("oauth:token", NOBODY, ANYONE, NO_TOKEN),
    Page("oauth:revoke", NOBODY, ANYONE, NO_TOKEN),
    Page("shops:placements", ANYONE, NOBODY, FETCHED, PUBLIC, NOT_SHOWN),
    Page("shops:script", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("oauth:jwks", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("oauth:metadata", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("oauth:protected_resource", ANYONE, NOBODY, FETCHED, PUBLIC),
    # Accounts, with those of allauth
    Page("accounts:home", PERSON, PERSON, FETCHED, BY_TICKET),
    Page("accounts:profile", PERSON),
    Page("accounts:change_name", NOBODY, PERSON),
    Page("accounts:new_email", PERSON, PERSON, FETCHED),
    Page("accounts:forget_new_email", NOBODY, PERSON),
    Page("accounts:confirm_new_email", PERSON, PERSON, NOT_SHOWN, BY_KEY),
    Page("accounts:notices", NOBODY, PERSON),
    Page("accounts:delete", PERSON, PERSON),
    Page("accounts:deleted", ANYONE),
    Page("accounts:tokens", AUTHOR, AUTHOR),
    Page("accounts:revoke_token", NOBODY, AUTHOR),
    Page("accounts:security_log", PERSON, PERSON),
    Page("accounts:sessions", PERSON, PERSON),
    Page("accounts:end_sessions", NOBODY, PERSON),
    Page("accounts:times", NOBODY, PERSON, BY_TICKET),
    Page("accounts:ticket", ANYONE, ANYONE, NOT_SHOWN, BY_KEY, PRESS, BY_TICKET),
    Page("accounts:send_confirmation_again", NOBODY, PERSON),
    Page("account_signup", ANYONE, ANYONE),
    Page("account_login", ANYONE, ANYONE, BY_TICKET),
    Page("account_logout", NOBODY, ANYONE, BY_TICKET),
    Page("account_reset_password", ANYONE, ANYONE),
    Page("account_reset_password_done", ANYONE),
    Page("account_reset_password_from_key_done", ANYONE, NOBODY, BY_KEY),
    Page("account_reset_password_from_key", ANYONE, ANYONE, NOT_SHOWN, BY_KEY),
    Page("account_change_password", PERSON, PERSON),
    Page("account_set_password", PERSON, PERSON, FETCHED),
    Page("account_email_verification_sent", ANYONE),
    Page("account_confirm_email", ANYONE, ANYONE),
    Page("openid_connect_login", ANYONE, ANYONE, FETCHED, NOT_SHOWN, PRESS, BY_TICKET),
    Page("openid_connect_callback", ANYONE, NOBODY, FETCHED, NOT_SHOWN, BY_KEY, BY_TICKET),
    Page("prove_by_provider", PERSON, PERSON, NOT_SHOWN, BY_KEY, PRESS),
    Page("accounts:provider_role", ANYONE, ANYONE, NOT_SHOWN, BY_KEY, PRESS),
    Page("accounts:provider_mail", ANYONE, ANYONE, NOT_SHOWN, BY_KEY, PRESS),
    Page("accounts:connect_by_link", ANYONE, ANYONE, NOT_SHOWN, BY_KEY, PRESS),
    Page("accounts:connect_provider", PERSON, PERSON, FETCHED, NOT_SHOWN, BY_KEY, PRESS),
    Page("accounts:disconnect_provider", PERSON, PERSON, FETCHED, NOT_SHOWN, BY_KEY, PRESS),
    Page("mfa_authenticate", ANYONE, ANYONE, shot="sign-in-second-step"),
    Page("mfa_login_webauthn", ANYONE, ANYONE, FETCHED),
    Page("account_reauthenticate", PERSON, PERSON, FETCHED),
    Page("mfa_reauthenticate", PERSON, PERSON, BY_KEY),
    Page("mfa_reauthenticate_webauthn", PERSON, PERSON, BY_KEY),
    Page("mfa_index", PERSON),
    Page("mfa_activate_totp", PERSON, PERSON),
    Page("mfa_deactivate_totp", PERSON, PERSON, NOT_SHOWN),
    Page("mfa_add_webauthn", PERSON, PERSON),
    Page("mfa_remove_webauthn", PERSON, PERSON, NOT_SHOWN, BY_KEY),
    Page("mfa_view_recovery_codes", PERSON, NOBODY, NOT_SHOWN),
    Page("mfa_generate_recovery_codes", PERSON, PERSON, NOT_SHOWN),
    # Documentation, SDKs
    Page("docs:index", ANYONE),
    Page("docs:openapi", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("docs:search", ANYONE),
    Page("docs:overview", ANYONE),
    Page("docs:group", ANYONE),
    Page("docs:run", ANYONE, ANYONE),
    Page("docs:events", ANYONE),
    Page("docs:event_schema", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("docs:hooks", ANYONE),
    Page("docs:errors", ANYONE),
    Page("docs:limits", ANYONE),
    Page("docs:changelog", ANYONE),
    Page("docs:changelog_feed", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("docs:guide_source", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("docs:guide", ANYONE),
    Page("sdks:python", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("sdks:project", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("sdks:wheel", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("sdks:node", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("sdks:tarball", ANYONE, NOBODY, FETCHED, PUBLIC),
    # The portal
    Page("portal:app_list", AUTHOR),
    Page("portal:device", AUTHOR, AUTHOR),
    Page("portal:app_create", AUTHOR, AUTHOR),
    Page("portal:app", VIEWER),
    Page("portal:app_edit", VIEWER, DEVELOPER, UPLOAD),
    Page("portal:redirect_result", VIEWER),
    Page("portal:credentials", VIEWER),
    Page("portal:client_secret", DEVELOPER, DEVELOPER),
    Page("portal:manifest", VIEWER, DEVELOPER),
    Page("portal:manifest_check", NOBODY, VIEWER, UNKEPT),
    Page("portal:manifest_download", VIEWER, NOBODY, FETCHED),
    Page("portal:manifest_history", VIEWER),
    Page("portal:manifest_restore", VIEWER, DEVELOPER, PRESS),
    Page("portal:scripts", VIEWER),
    Page("portal:test_install", VIEWER, DEVELOPER, PRESS),
    Page("portal:test_uninstall", VIEWER, DEVELOPER, PRESS),
    Page("portal:test_change", NOBODY, DEVELOPER, PRESS),
    Page("portal:test_effects", VIEWER, NOBODY, FETCHED),
    Page("portal:erase_now", NOBODY, DEVELOPER, PRESS),
    Page("portal:inbox", VIEWER, DEVELOPER),
    Page("portal:inbox_entries", VIEWER, NOBODY, FETCHED),
    Page("portal:test_event", VIEWER, DEVELOPER, FETCHED, PRESS),
    Page("portal:webhooks", VIEWER),
    Page("portal:webhook_add", VIEWER, DEVELOPER),
    Page("portal:webhook_edit", VIEWER, DEVELOPER),
    Page("portal:webhook_delete", VIEWER, DEVELOPER, PRESS),
    Page("portal:webhook_test", NOBODY, DEVELOPER, PRESS),
    Page("portal:webhook_pause", VIEWER, DEVELOPER, PRESS),
    Page("portal:webhook_resume", NOBODY, DEVELOPER, PRESS),
    Page("portal:logs", VIEWER),
    Page("portal:log_news", VIEWER, NOBODY, FETCHED),
    Page("portal:requests", VIEWER),
    Page("portal:request_news", VIEWER, NOBODY, FETCHED),
    Page("portal:request", VIEWER),
    Page("portal:thread", VIEWER),
    Page("portal:scopes", VIEWER, DEVELOPER),
    Page("portal:deliveries", VIEWER),
    Page("portal:delivery_news", VIEWER, NOBODY, FETCHED),
    Page("portal:deliveries_resend", VIEWER, DEVELOPER, FETCHED),
    Page("portal:group_resend", NOBODY, DEVELOPER, PRESS),
    Page("portal:why", VIEWER),
    Page("portal:recover", VIEWER, DEVELOPER),
    Page("portal:delivery", VIEWER),
    Page("portal:delivery_compare", VIEWER),
    Page("portal:delivery_resend", NOBODY, DEVELOPER, PRESS),
    Page("portal:hooks", VIEWER),
    Page("portal:hook", VIEWER),
    Page("portal:hook_try", VIEWER, DEVELOPER),
    Page("portal:hook_call", VIEWER, NOBODY, shot="portal-hook-call"),
    Page("portal:hook_reset", NOBODY, DEVELOPER, PRESS),
    Page("portal:erasures", VIEWER),
    Page("portal:analytics", VIEWER),
    Page("portal:analytics_csv", VIEWER, NOBODY, FETCHED),
    Page("portal:checks", VIEWER, DEVELOPER, PRESS),
    Page("portal:check", VIEWER, NOBODY, shot="portal-check"),
    Page("portal:signature_checker", VIEWER, VIEWER, UNKEPT),
    Page("portal:review", VIEWER),
    Page("portal:submit", VIEWER, DEVELOPER),
    Page("portal:review_message", VIEWER, DEVELOPER, FETCHED, NAMED_INSIDE),
    Page("portal:withdraw", VIEWER, DEVELOPER, PRESS),
    Page("portal:release", VIEWER),
    Page("portal:release_move", NOBODY, DEVELOPER, PRESS),
    Page("portal:take_back", VIEWER, DEVELOPER, PRESS),
    Page("portal:versions", VIEWER),
    Page("portal:version_restore", VIEWER, DEVELOPER, PRESS),
    Page("portal:members", VIEWER, OWNER),
    Page("portal:member_role", NOBODY, OWNER, PRESS),
    Page("portal:member_remove", OWNER, OWNER, PRESS),
    Page("portal:secret_kept", NOBODY, DEVELOPER, PRESS),
    Page("portal:transfer", OWNER, OWNER),
    Page("portal:transfer_withdraw", NOBODY, OWNER, PRESS),
    Page("portal:transfer_accept", DEVELOPER, DEVELOPER, NOT_SHOWN, PRESS),
    Page("portal:invitation", ANYONE, AUTHOR, NOT_SHOWN, BY_A_LINK, PRESS),
    Page("portal:invitation_register", NOBODY, ANYONE, BY_A_LINK),
    Page("portal:app_delete", OWNER, OWNER),
    # The dashboard, consent, the marketplace
    Page("merchants:home", ORDERS, NOBODY, CONNECTED),
    Page("merchants:notices", ORDERS, ORDERS, CONNECTED),
    Page("merchants:businesses", PERSON, NOBODY, NO_SANDBOX, NOT_SHOWN),
    Page("merchants:business_add", PERSON, PERSON, NO_SANDBOX, NOT_SHOWN),
    Page("merchants:business_switch", NOBODY, PERSON, PRESS),
    Page("merchants:business_leave", PERSON, PERSON, NOT_SHOWN, PRESS),
    Page("merchants:staff", OWNER, OWNER, NO_SANDBOX),
    Page("merchants:staff_role", NOBODY, OWNER, PRESS),
    Page("merchants:staff_remove", OWNER, OWNER, PRESS, ENDS),
    Page("merchants:invitation", ANYONE, PERSON, NOT_SHOWN, BY_A_LINK, PRESS, CONNECTED),
    Page("merchants:invitation_register", NOBODY, ANYONE, BY_A_LINK, CONNECTED),
    Page("merchants:orders", ORDERS),
    Page("merchants:orders_export", ORDERS, NOBODY, FETCHED),
    Page("merchants:orders_move", ORDERS, ORDERS, FETCHED),
    Page("merchants:order_news", ORDERS, NOBODY, FETCHED),
    Page("merchants:order", ORDERS),
    Page("merchants:packing_slip", ORDERS),
    Page("merchants:order_status", NOBODY, ORDERS, PRESS),
    Page("merchants:order_cancel", ORDERS, ORDERS, PRESS, ENDS),
    Page("merchants:order_refund", ORDERS, ORDERS),
    Page("merchants:order_note", ORDERS, ORDERS, FETCHED),
    Page("merchants:products", MANAGER),
    Page("merchants:product_add", MANAGER, MANAGER, UPLOAD),
    Page("merchants:product", MANAGER, MANAGER, UPLOAD),
    Page("merchants:product_samples", NOBODY, MANAGER, PRESS),
    Page("merchants:product_row", MANAGER, MANAGER, FETCHED),
    Page("merchants:product_archive", NOBODY, MANAGER, PRESS, ENDS),
    Page("merchants:product_restore", NOBODY, MANAGER, PRESS),
    Page("merchants:product_delete", MANAGER, MANAGER, PRESS, ENDS),
    Page("merchants:reviews", ORDERS),
    Page("merchants:review_delete", ORDERS, ORDERS, PRESS, ENDS),
    Page("merchants:customers", ORDERS, ORDERS),
    Page("merchants:customer", ORDERS),
    Page("merchants:customer_export", MANAGER, NOBODY, FETCHED),
    Page("merchants:customer_erase", MANAGER, MANAGER, PRESS),
    Page("merchants:customer_erasure", ORDERS),
    Page("merchants:scripts", MANAGER),
    Page("merchants:scripts_export", MANAGER, NOBODY, FETCHED),
    Page("merchants:store", MANAGER, MANAGER, UPLOAD),
    Page("merchants:view_store", MANAGER, NOBODY, FETCHED, NOTED),
    Page("merchants:pages", MANAGER, NOBODY, CONNECTED),
    Page("merchants:page_add", MANAGER, MANAGER),
    Page("merchants:page_picture", NOBODY, MANAGER, UNKEPT, UPLOAD),
    Page("merchants:page_delete", MANAGER, MANAGER, PRESS, ENDS),
    Page("merchants:page_editor", MANAGER, MANAGER, CONNECTED),
    Page("merchants:preview_text", NOBODY, MANAGER, UNKEPT),
    Page("merchants:block_tokens", MANAGER, NOBODY, FETCHED, CONNECTED),
    Page("merchants:page_undo", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:add_block", NOBODY, MANAGER, NAMED_INSIDE, PRESS, CONNECTED),
    Page("merchants:save_block", MANAGER, MANAGER, FETCHED, CONNECTED),
    Page("merchants:preview_block", NOBODY, MANAGER, UNKEPT, CONNECTED),
    Page("merchants:move_block", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:remove_block", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:installed", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:installation", MANAGER, MANAGER, FRAMED, CONNECTED),
    Page("merchants:welcome", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:activity", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:reconsent", MANAGER, MANAGER, PRESS, CONNECTED),
    Page("merchants:app_settings", MANAGER, MANAGER, NOT_SHOWN, FRAMED, CONNECTED),
    Page("merchants:checkout", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:checkout_refusal", MANAGER, MANAGER, FETCHED, FRAMED, CONNECTED),
    Page("merchants:hook_reset", NOBODY, MANAGER, PRESS, FRAMED, CONNECTED),
    Page("merchants:embeds", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:embed_settings", MANAGER, MANAGER, ANY_LENGTH, FRAMED, CONNECTED),
    Page("merchants:place_block", NOBODY, MANAGER, NAMED_INSIDE, PRESS, CONNECTED),
    Page("merchants:admin_page", MANAGER, NOBODY, FRAMED, CONNECTED, ORDERS_TOO),
    Page("merchants:session_token", MANAGER, NOBODY, FETCHED, CONNECTED, ORDERS_TOO),
    Page("merchants:pause", NOBODY, MANAGER, PRESS, FRAMED, CONNECTED),
    Page("merchants:resume", NOBODY, MANAGER, PRESS, FRAMED, CONNECTED),
    Page("merchants:uninstall", MANAGER, MANAGER, ENDS, CONNECTED),
    Page("merchants:receipt", MANAGER, NOBODY, FRAMED, CONNECTED),
    Page("merchants:marketplace", ANYONE, NOBODY, FRAMED),
    Page("merchants:listing", ANYONE, NOBODY, FRAMED),
    Page("merchants:listing_preview", PERSON, NOBODY, NOT_SHOWN, FRAMED),
    Page("merchants:try", NOBODY, PERSON, PRESS, CONNECTED),
    Page("merchants:trial", PERSON, NOBODY, NOT_SHOWN, CONNECTED, shot="trial-never-made"),
    Page("merchants:trial_back", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:trial_copy", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:trial_end", NOBODY, MANAGER, PRESS, CONNECTED),
    Page("merchants:picture", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("merchants:store_picture", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("merchants:store_thumbnail", ANYONE, NOBODY, FETCHED, PUBLIC),
    Page("merchants:authorize", PERSON, PERSON, PRESS),
    Page("merchants:continue", ANYONE, NOBODY, FETCHED, NOT_SHOWN, CONNECTED),
    Page("merchants:kept_request", ANYONE, NOBODY, FETCHED, NOT_SHOWN),
    # Stores' own hosts
    Page("storefront:cart_attributes", NOBODY, ANYONE, UNKEPT),
    Page("storefront:order_is_mine", NOBODY, ANYONE, PRESS),
    Page("storefront:order_again", NOBODY, ANYONE, PRESS),
    Page("storefront:order_as_from_mail", NOBODY, ANYONE, PRESS),
    Page("storefront:home", ANYONE, NOBODY, PUBLIC),
    Page("storefront:product", ANYONE, NOBODY, PUBLIC),
    Page("storefront:add_to_cart", NOBODY, ANYONE),
    Page("storefront:review", NOBODY, ANYONE),
    Page("storefront:page", ANYONE, NOBODY, PUBLIC),
    Page("storefront:cart", ANYONE),
    Page("storefront:cart_change", NOBODY, ANYONE),
    Page("storefront:cart_remove", NOBODY, ANYONE),
    Page("storefront:app_costs", NOBODY, ANYONE),
    Page("storefront:checkout", ANYONE, ANYONE, shot="store-checkout"),
    Page("storefront:visit", NOBODY, ANYONE),
    Page("storefront:session_tokens", ANYONE, NOBODY, FETCHED),
    Page("storefront:order", ANYONE),
    Page("storefront:payment_state", ANYONE, NOBODY, FETCHED),
    Page("storefront:pay_again", ANYONE, ANYONE),
    # The review desk
    Page("admin:index", REVIEWER, REVIEWER),
    Page("admin:marketplace_submission_take", NOBODY, REVIEWER, PRESS),
    Page("admin:marketplace_submission_release", NOBODY, REVIEWER, PRESS),
    Page("admin:marketplace_submission_findings", REVIEWER, REVIEWER, FETCHED),
    Page("admin:marketplace_submission_checks", REVIEWER, NOBODY, FETCHED),
    Page("admin:marketplace_submission_message", REVIEWER, REVIEWER, FETCHED),
    Page("admin:marketplace_submission_install", NOBODY, REVIEWER, PRESS),
    Page("admin:marketplace_submission_uninstall", NOBODY, REVIEWER, PRESS),
    Page("admin:marketplace_submission_approve", REVIEWER, REVIEWER),
    Page("admin:marketplace_submission_reject", REVIEWER, REVIEWER),
    Page("admin:marketplace_app_suspend", REVIEWER, REVIEWER),
    Page("admin:marketplace_app_reinstate", REVIEWER, REVIEWER, PRESS),
    # Shop systems
    Page("admin:accounts_shopsystem_connect", REVIEWER, REVIEWER),
    Page("admin:accounts_shopsystem_key", NOBODY, REVIEWER, PRESS),
    Page("admin:accounts_shopsystem_end_old_key", NOBODY, REVIEWER, PRESS),
    Page("admin:accounts_shopsystem_secret", NOBODY, REVIEWER, PRESS),
    Page("admin:accounts_shopsystem_urls", REVIEWER, REVIEWER),
    Page("admin:accounts_shopsystem_disconnect", REVIEWER, REVIEWER),
]
PAGES: Final = {row.name: row for row in ROWS}
BUTTONS: Final = frozenset(row.name for row in ROWS if not row.reads)


def marked(*marks: str) -> frozenset[str]:
    """The names of the pages that have one of these marks."""
    return frozenset(row.name for row in ROWS if set(marks) & set(row.marks))


def below(namespace: str) -> Iterator[Page]:
    return (row for row in ROWS if row.name.startswith(namespace))
