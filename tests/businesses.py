"""To whom the rows of each table belong (docs/decisions/0084). A new model gets its row here, or a test fails."""

from collections.abc import Iterator

from django.apps import apps
from django.db.models import Field, Model

# The way from a row to its business. These tables would be split.
OF_A_BUSINESS = {
    "accounts.Business": "pk",
    "accounts.ConnectedStore": "business",
    "accounts.ShopPerson": "store",
    "accounts.ShopTicket": "person__store",
    "accounts.Staff": "business",
    "appapi.Export": "installation__business",
    "appapi.IdempotencyKey": "installation__business",
    "extensions.Breaker": "installation__business",
    "extensions.ExtensionState": "installation__business",
    "extensions.HookCall": "installation__business",
    "extensions.HookPreference": "installation__business",
    "extensions.MerchantNotice": "installation__business",
    "extensions.Placement": "installation__business",
    "extensions.RelayedCall": "installation__business",
    "extensions.ShopCommand": "business",
    "extensions.StorefrontCost": "installation__business",
    "installations.Grant": "business",
    "installations.HistoryEntry": "installation__business",
    "installations.Installation": "business",
    "installations.Trial": "store",
    "stores.BuyerMails": "business",
    "stores.Cart": "business",
    "stores.Shopper": "business",
    "stores.CustomerErasure": "business",
    "stores.MerchantNews": "business",
    "stores.MirrorState": "business",
    "stores.MirroredRow": "business",
    "stores.Order": "business",
    "stores.OrderChange": "order__business",
    "stores.OrderHookPart": "order__business",
    "stores.OrderItem": "order__business",
    "stores.Payment": "order__business",
    "stores.Product": "business",
    "stores.ProductPicture": "product__business",
    "stores.Quote": "business",
    "stores.Review": "business",
    "stores.ShopPayment": "business",
    "stores.SitePage": "business",
    "stores.StorePicture": "business",
    "stores.StoreSettings": "business",
    "stores.StoreTotals": "business",
    "stores.StoreVisits": "business",
    "stores.WaitingMail": "business",
    "teststores.TestStore": "business",
    "webhooks.Attempt": "delivery__business_id",
    "webhooks.Delivery": "business_id",
    "webhooks.Erasure": "installation__business",
    "webhooks.Event": "business",
    "webhooks.Webhook": "installation__business",
    # With `installation`, where the call had a token; without, it stays with the app.
    "activity.ApiCall": "installation__business",
    "activity.DeprecatedUse": "installation__business",
    "activity.StoreScopeUse": "installation__business",
}
OF_AN_APP = {
    "activity.LogGap",
    "activity.ScopeUse",
    "conformance.Run",
    "conformance.WeeklyCheck",
    "extensions.ApprovedManifest",
    "extensions.CountedCalls",
    "extensions.Definition",
    "extensions.LiveDefinition",
    "extensions.Manifest",
    "extensions.ManifestSave",
    "extensions.ReachRequest",
    "extensions.ScriptChange",
    "extensions.WatchedScript",
    "marketplace.App",
    "marketplace.AppTotals",
    "marketplace.Membership",
    "marketplace.AppVersion",
    "marketplace.CheckRun",
    "marketplace.Picture",
    "marketplace.Release",
    "marketplace.ReviewEntry",
    "marketplace.ReviewMessage",
    "marketplace.Submission",
    "webhooks.DailyDeliveryCount",
    "webhooks.Inbox",
    "webhooks.InboxEntry",
}
OF_A_PERSON = {
    "account.EmailAddress",
    "account.EmailConfirmation",
    "accounts.DeveloperToken",
    "accounts.DeviceGrant",
    "accounts.Mail",
    "accounts.SecurityEvent",
    "accounts.Session",
    "accounts.SignIn",
    "accounts.User",
    "accounts.User_groups",
    "accounts.User_user_permissions",
    "accounts.WrongCode",
    "admin.LogEntry",
    "mfa.Authenticator",
    "oauth2_provider.AccessToken",
    "oauth2_provider.DeviceGrant",
    "oauth2_provider.IDToken",
    "oauth2_provider.RefreshToken",
    "socialaccount.SocialAccount",
    "socialaccount.SocialToken",
}
# The last six are of a database: each part of a split has its own.
OF_ALL = {
    "accounts.ShopKey",
    "accounts.ShopSystem",
    "auth.Group",
    "auth.Group_permissions",
    "auth.Permission",
    "contenttypes.ContentType",
    "common.KeptAnswer",
    "installations.SigningKey",
    "config.BackupRecord",
    "socialaccount.SocialApp",
    "streams.Stream",
    "webhooks.DispatcherSlot",
    "webhooks.Endpoint",
}


def models() -> list[type[Model]]:
    return list(apps.get_models(include_auto_created=True))


def split_models() -> list[type[Model]]:
    return [model for model in models() if model._meta.label in OF_A_BUSINESS]


def references(model: type[Model]) -> Iterator["Field[object, object]"]:
    """The columns that name a row of a table."""
    return (field for field in model._meta.local_concrete_fields if field.is_relation)
