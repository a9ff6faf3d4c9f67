"""How an app behaves: the rules of `extension-platform check` and of reviews, tried on a throwaway store."""
