"""What users can set: dataclasses of settings, and how files and flags add up to them."""
