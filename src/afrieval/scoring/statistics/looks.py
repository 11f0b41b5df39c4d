"""When a growing sample is looked at, so that intervals hold although somebody stops at the moment that suits.

A sample of 50 questions is doubled until all are asked. Each look at it gets an equal share of the level (Bonferroni):
then the intervals of all looks hold at once in 95 % of evaluations, whatever is decided in between, and whatever the
metric. The number of looks depends on the size of the test set only, never on where one stops: a run may be continued
later, to more precision or to all questions.

Confidence sequences hold at every question instead of at the looks (Waudby-Smith & Ramdas 2024, "Estimating means of
bounded random variables by betting"), and Pocock's levels are a little larger than equal shares (1977, "Group
sequential methods in the design and analysis of clinical trials"). docs/cost.md compares them in simulations: the
sequences take 1.5 to 2 times as many questions for the same width, and Pocock's levels, which are for normal means,
cover a little less than 95 % with few questions.
"""

FIRST = 50


def looks(rows: int) -> list[int]:
    """Returns the sizes of the sample at each look, ascending: 50, 100, 200 and so on, and all rows.

    Args:
        rows: of the largest test set.
    """
    sizes = []
    size = FIRST
    while size < rows:
        sizes.append(size)
        size *= 2
    return [*sizes, rows]


def up_to(rows: int, ceiling: int | None) -> list[int]:
    """Returns the looks up to a sample size; all of them without one.

    A size between two looks ends at the smaller one: another look would have no share of the level.
    """
    if ceiling is None:
        return looks(rows)
    return [size for size in looks(rows) if size <= ceiling] or [ceiling]
