"""Commands beside the core line; nothing in the core knows them."""
