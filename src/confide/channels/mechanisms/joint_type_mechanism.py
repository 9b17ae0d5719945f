"""Any channel that treats rows alike as a mechanism, such as what a program over joint types found.

Source: spec privacy_notions 4 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from confide.channels.joint_types import JointTypeChannel
from confide.channels.mechanisms.base import GivenChannel
from confide.channels.mechanisms.coded_types import CodedTypes, coded_types
from confide.channels.priors import Exchangeable
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.contract.wire import wire

__all__ = ["JointTypeMechanism"]


@wire("JointTypeMechanism", "dp_at_most identifiability_at_most prior prior_provenance types")
@dataclass(frozen=True, kw_only=True, eq=False)
class JointTypeMechanism(GivenChannel):
    """A channel over joint types in whole numbers, whose levels are analysed again.

    Epsilon is no input (there is no `for_budget`), because the channel is given, and has the level that it has.

    Raises:
        InvalidInput: no channel over joint types, or an identifiability without a prior.
        NotGuaranteed: from a release or its levels: the channel is above what is asked for by more than rounding.

    Example:
        >>> from confide.channels import Exchangeable, privacy_distortion
        >>> from confide.privacy import Noise
        >>> mixture = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], records=10)
        >>> it = privacy_distortion("dp", mixture, 3.6).mechanism
        >>> type(it).__name__, it.levels().distortion <= 3.6
        ('JointTypeMechanism', True)
        >>> it.release([0, 0, 0, 1, 0, 0, 1, 0, 0, 0], Noise.simulated(1)).shape
        (10,)
    """

    types: Annotated[JointTypeChannel, Parameter("channel over joint types")]
    prior: Annotated[Exchangeable | None, Parameter("law of the rows that it was fitted to; needed for "
                                                    "identifiability_at_most")] = None

    def __post_init__(self) -> None:
        if not isinstance(self.types, JointTypeChannel):  # which sizes the prior
            raise InvalidInput("types", f"{type(self.types).__name__} is no JointTypeChannel")
        super().__post_init__()

    def _size(self) -> tuple[int, int]:
        return self.types.letters, self.types.records

    def _code(self) -> CodedTypes:
        return coded_types(self.types, dp=self.dp_at_most, identifiability=self.identifiability_at_most,
                           prior=self.prior)
