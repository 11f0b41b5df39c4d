"""`afrieval doctor`: what this machine and its configs need, and whether it is there."""
