"""Commands that nothing in the core knows."""
