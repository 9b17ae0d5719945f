# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.privacy.primitives.additive import add_discrete_gaussian as add_discrete_gaussian
from confide.privacy.primitives.additive import add_discrete_laplace as add_discrete_laplace
from confide.privacy.primitives.additive import add_gaussian as add_gaussian
from confide.privacy.primitives.additive import add_laplace as add_laplace
from confide.privacy.primitives.additive import add_missing_noise as add_missing_noise
from confide.privacy.primitives.additive import add_vector_laplace as add_vector_laplace
from confide.privacy.primitives.choosing import draw_by_logits as draw_by_logits
from confide.privacy.primitives.choosing import draw_digits as draw_digits
from confide.privacy.primitives.choosing import draw_through as draw_through
from confide.privacy.primitives.sessions import NoiseSession as NoiseSession
from confide.privacy.primitives.sessions import open_session as open_session
from confide.privacy.primitives.sessions import pay as pay

__all__ = [
    "NoiseSession", "add_discrete_gaussian", "add_discrete_laplace", "add_gaussian", "add_laplace",
    "add_missing_noise", "add_vector_laplace", "draw_by_logits", "draw_digits", "draw_through", "open_session", "pay",
]
