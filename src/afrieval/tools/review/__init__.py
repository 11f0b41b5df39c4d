"""`afrieval review`: sheets for speakers who review native prompts."""
