"""Answer types: how rows get right answers, what is asked for them, and how responses are read."""
