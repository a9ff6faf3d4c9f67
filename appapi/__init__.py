"""The REST API for installed apps: `/app-api` and `/webhooks`, authenticated by access token."""
