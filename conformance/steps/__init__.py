"""The steps of a run, in order. It ends with an erasure, so that the app's server keeps nothing of the throwaway store."""

from typing import Final

from conformance.steps import frames, hooks, install, lifecycle, webhooks
from conformance.subject import Step

STEPS: Final[tuple[Step, ...]] = (
    *install.sequence("IN001"),
    install.Reload(),
    install.ForgedState(),
    webhooks.WebhookSignatures(),
    webhooks.Repeat(),
    webhooks.Variety(),
    webhooks.OutOfOrder(),
    hooks.Responses(),
    hooks.PayByHook(),
    hooks.HookSignatures(),
    frames.Pages(),
    frames.Scripts(),
    frames.Scripts(),
    frames.Messages(),
    lifecycle.EndedToken(),
    lifecycle.Uninstall(),
    *install.sequence("LC001"),
    lifecycle.InstalledAgain(),
    lifecycle.ForgedErasure(),
    lifecycle.EraseCustomer(),
    lifecycle.EraseData(),
    lifecycle.RepeatedErasure(),
    *install.sequence("LC004"),
    lifecycle.EraseData(),
)
