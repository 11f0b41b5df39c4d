"""`afrieval check-data`: defects in the data of tasks."""
