"""Primitives: the only doors through which a mechanism draws noise that protects somebody.

Each knows how far one neighbour step moves what it adds noise to, and pays for the draw on a line of the run's meter
before it draws (`confide.privacy.meter`). Under noise that no run meters, such as in a notebook, nothing is paid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.privacy.primitives.additive import (
        add_discrete_gaussian,
        add_discrete_laplace,
        add_gaussian,
        add_laplace,
        add_missing_noise,
        add_vector_laplace,
    )
    from confide.privacy.primitives.choosing import draw_by_logits, draw_digits, draw_through
    from confide.privacy.primitives.sessions import NoiseSession, open_session, pay

__all__ = [
    "NoiseSession",
    "add_discrete_gaussian",
    "add_discrete_laplace",
    "add_gaussian",
    "add_laplace",
    "add_missing_noise",
    "add_vector_laplace",
    "draw_by_logits",
    "draw_digits",
    "draw_through",
    "open_session",
    "pay",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "additive": (
            "add_discrete_gaussian", "add_discrete_laplace", "add_gaussian", "add_laplace", "add_missing_noise",
            "add_vector_laplace",
        ),
        "choosing": ("draw_by_logits", "draw_digits", "draw_through"),
        "sessions": ("NoiseSession", "open_session", "pay"),
    },
)
