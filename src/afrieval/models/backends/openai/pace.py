"""How many requests are sent at a time: more while all goes well, half as many when the server is overloaded."""

FIRST = 4


class Pace:
    """The number of requests that may be in flight.

    Attributes:
        allowed: that number.

    Args:
        most: its upper limit.
    """

    def __init__(self, most: int):
        self._most, self.allowed = most, min(FIRST, most)
        self._succeeded = self._round = 0

    def begin(self) -> int:
        """Returns the round that a request is sent in."""
        return self._round

    def succeed(self) -> None:
        """Counts an answer; as many as are allowed make a round."""
        self._succeeded += 1
        if self._succeeded >= self.allowed:
            self.allowed, self._succeeded = min(self.allowed + 1, self._most), 0

    def slow_down(self, begun: int) -> None:
        """Halves the number, once for all requests that were sent before the server was known to be overloaded.

        Args:
            begun: the round that the rejected request was sent in.
        """
        if begun == self._round:
            self.allowed, self._succeeded = max(1, self.allowed // 2), 0
            self._round += 1
