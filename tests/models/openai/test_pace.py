"""The number of requests at a time grows while all goes well, and is halved when the server is overloaded."""

from tests.models.faulty import faulty
from tests.models.openai.conftest import asked

from afrieval.models.openai.failure import seconds_to_wait
from afrieval.models.openai.schedule import FIRST_PACE, Concurrency


def test_it_grows_by_one_after_each_round() -> None:
    pace = Concurrency(6)
    seen = []
    for _ in range(4 + 5 + 6 + 6):
        seen.append(pace.allowed)
        pace.succeed()
    assert seen == [4] * 4 + [5] * 5 + [6] * 12


def test_it_is_halved_once_for_requests_that_were_sent_together() -> None:
    pace = Concurrency(100)
    pace.allowed = 40
    begun = [pace.begin() for _ in range(40)]
    for each in begun:
        pace.slow_down(each)
    assert pace.allowed == 20
    pace.slow_down(pace.begin())
    assert pace.allowed == 10


def test_one_request_is_always_allowed() -> None:
    pace = Concurrency(2)
    assert pace.allowed == 2 < FIRST_PACE
    for _ in range(5):
        pace.slow_down(pace.begin())
    assert pace.allowed == 1


def test_no_more_are_sent_at_a_time() -> None:
    with faulty(()) as server:
        asked(server.url, max_concurrency=2)
    assert server.most <= 2


def test_waits_are_measured_with_the_clock_of_the_server() -> None:
    begun, until = "Mon, 01 Jan 2001 00:00:00 GMT", "Mon, 01 Jan 2001 00:00:40 GMT"
    assert seconds_to_wait({"date": begun, "retry-after": until}) == 40
    assert seconds_to_wait({"date": until, "retry-after": begun}) == 0
    assert seconds_to_wait({"retry-after": begun}) == 0 and seconds_to_wait({"date": begun}) is None
    assert seconds_to_wait({"date": "now", "retry-after": "7"}) == 7
