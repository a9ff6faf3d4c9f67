from accounts.models.credentials import DeveloperToken, DeviceGrant, SecurityEvent, Session, SignIn, WrongCode
from accounts.models.mails import Mail
from accounts.models.people import (
    LASTS,
    Business,
    BusinessQuerySet,
    Invitable,
    InvitableQuerySet,
    Staff,
    User,
    normalize_email,
)
from accounts.models.shops import (
    EXTERNAL_ID,
    PERSON_ID,
    ConnectedStore,
    ShopKey,
    ShopPerson,
    ShopSystem,
    ShopTicket,
)
