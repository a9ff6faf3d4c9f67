"""This app has no models any more. Its first migration belongs to release 0.2.0."""
