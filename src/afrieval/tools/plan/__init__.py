"""`afrieval plan`: what a run would take."""
