"""What programs cost whose model errs: every program fails with the same chance, and is then written again."""

from __future__ import annotations

import math
from dataclasses import dataclass

RATES = (0.0, 0.1, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class Retries:
    """A cost by the number of failed programs before the one that runs.

    Each failure adds a failed program and its error to the history, which all later requests send again: so the cost
    is a polynomial of the second degree in that number, and three conversations say all of it.

    Attributes:
        none: the cost without a failure.
        one: with one.
        two: with two.
    """

    none: float
    one: float
    two: float

    @property
    def _square(self) -> float:
        return (self.two - 2 * self.one + self.none) / 2

    @property
    def _each(self) -> float:
        return self.one - self.none - self._square

    def after(self, failures: int) -> float:
        """The cost with so many failures."""
        return self.none + self._each * failures + self._square * failures**2

    def expected(self, rate: float) -> float:
        """The expected cost when each attempt fails with this chance, independently of the others.

        Failures before a success are distributed geometrically: with the mean m = rate / (1 - rate), their square has
        the mean m + 2 m².
        """
        mean = rate / (1 - rate)
        return self.none + self._each * mean + self._square * (mean + 2 * mean**2)

    def break_even(self, opponent: float) -> float | None:
        """The rate at which the expected cost is the opponent's; None where it is above that without any failure."""
        spare = opponent - self.none
        if spare < 0:
            return None
        linear, square = self._each + self._square, 2 * self._square
        if math.isclose(square, 0, abs_tol=1e-9):
            mean = spare / linear
        else:
            mean = (math.sqrt(linear**2 + 4 * square * spare) - linear) / (2 * square)
        return mean / (1 + mean)
