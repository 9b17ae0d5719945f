"""Primitives: the only functions through which a mechanism draws noise that protects somebody.

Each knows how far one neighbour step moves what it adds noise to, and pays for the draw on a line of the run's meter
before it draws (`confide.privacy.meter`). Under noise that no run meters, such as in a notebook, nothing is paid.
"""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
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
