"""The parts of a store that apps extend: manifests, blocks, embeds, admin pages, hooks and their settings."""
