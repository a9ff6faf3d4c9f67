"""For developers: the portal, the developer API, and the pages on which reviewers decide about apps."""
