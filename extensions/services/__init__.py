"""Every change to manifests, placements, embeds and settings, by developers and merchants."""
