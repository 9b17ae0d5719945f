"""Primitives: the only functions through which a mechanism draws noise that protects somebody.

Each primitive knows how far one neighbour step moves the number to which it adds noise. A primitive therefore knows the
cost of its draw, and deducts the cost from a line of the run's meter before it draws (`confide.privacy.meter`). Nothing
is paid for noise outside a metered run, such as in a notebook.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
