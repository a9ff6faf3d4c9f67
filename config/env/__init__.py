"""Settings from the environment. An invalid value stops the start with a message that names its variable."""
