"""Registration, publishing, resending, disabling and erasure: every change to webhook data except sending itself."""
