"""What can be wrong with a graph or an investigation, beyond a bad parameter."""

from __future__ import annotations

from confide.contract.errors import InvalidInput

__all__ = ["DegreeBoundViolated"]


class DegreeBoundViolated(InvalidInput):
    """Some vertex has more neighbours than the public bound admits. How many, and whose, is not said.

    The promise is made for graphs within the bound, so there is nothing to run: cutting lists short would change other
    people's lists too, and taking the largest degree as the bound would tell it.

    Args:
        bound: the public one.
        after: what follows from it, for the end of the message.
    """

    def __init__(self, bound: int, after: str = "") -> None:
        self.bound = bound
        super().__init__("degree_bound", "the graph is not admissible: some vertex has more neighbours than the bound",
                         f"degrees must be at most {bound}{after}")
