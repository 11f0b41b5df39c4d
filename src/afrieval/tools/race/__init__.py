"""`afrieval race`: which of several models is best, with as few questions as that takes."""
