"""Models on this machine and of the harness, with further checks and with the engine."""
