# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.privacy.accounting import Accountant as Accountant
from confide.privacy.clamping import clamped_discrete_laplace as clamped_discrete_laplace
from confide.privacy.clamping import clamping_bound as clamping_bound
from confide.privacy.clamping import clamping_delta as clamping_delta
from confide.privacy.divergences import approx_max_divergence as approx_max_divergence
from confide.privacy.divergences import exact_epsilon as exact_epsilon
from confide.privacy.divergences import exact_mu as exact_mu
from confide.privacy.divergences import hockey_stick as hockey_stick
from confide.privacy.divergences import max_divergence as max_divergence
from confide.privacy.divergences import renyi_divergence as renyi_divergence
from confide.privacy.events import ApproxEvent as ApproxEvent
from confide.privacy.events import BoundedRangeEvent as BoundedRangeEvent
from confide.privacy.events import Composed as Composed
from confide.privacy.events import Event as Event
from confide.privacy.events import GDPEvent as GDPEvent
from confide.privacy.events import PureEvent as PureEvent
from confide.privacy.events import RandomizedResponseEvent as RandomizedResponseEvent
from confide.privacy.events import Repeated as Repeated
from confide.privacy.events import ZCDPEvent as ZCDPEvent
from confide.privacy.filter import Filter as Filter
from confide.privacy.gaussian import gaussian_noise_std as gaussian_noise_std
from confide.privacy.gaussian import gdp_mu as gdp_mu
from confide.privacy.ledger import Account as Account
from confide.privacy.ledger import Ledger as Ledger
from confide.privacy.losses import GDP as GDP
from confide.privacy.losses import ZCDP as ZCDP
from confide.privacy.losses import ApproxDP as ApproxDP
from confide.privacy.losses import PureDP as PureDP
from confide.privacy.losses import RenyiDP as RenyiDP
from confide.privacy.losses import gaussian_delta as gaussian_delta
from confide.privacy.noise import Noise as Noise
from confide.privacy.response import estimated_shares as estimated_shares
from confide.privacy.response import randomized_response as randomized_response
from confide.privacy.response import response_table as response_table
from confide.privacy.selection import exponential_law as exponential_law
from confide.privacy.selection import exponential_mechanism as exponential_mechanism
from confide.privacy.selection import noisy_max_law as noisy_max_law
from confide.privacy.selection import report_noisy_max as report_noisy_max
from confide.privacy.selection import selection_error as selection_error
from confide.privacy.sparse_vector import SparseVector as SparseVector
from confide.privacy.tree_counter import TreeCounter as TreeCounter

__all__ = [
    "GDP", "ZCDP", "Account", "Accountant", "ApproxDP", "ApproxEvent", "BoundedRangeEvent", "Composed", "Event",
    "Filter", "GDPEvent", "Ledger", "Noise", "PureDP", "PureEvent", "RandomizedResponseEvent", "RenyiDP", "Repeated",
    "SparseVector", "TreeCounter", "ZCDPEvent", "approx_max_divergence", "clamped_discrete_laplace", "clamping_bound",
    "clamping_delta", "estimated_shares", "exact_epsilon", "exact_mu", "exponential_law", "exponential_mechanism",
    "gaussian_delta", "gaussian_noise_std", "gdp_mu", "hockey_stick", "max_divergence", "noisy_max_law",
    "randomized_response", "renyi_divergence", "report_noisy_max", "response_table", "selection_error",
]
