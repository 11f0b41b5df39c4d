"""What each command can be given; `--help` needs no more than this, and so answers at once."""
