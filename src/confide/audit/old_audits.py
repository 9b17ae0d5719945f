"""Old functions for the audits of the families of mechanisms. The old functions work until version 1.0.0, with a
warning. Today, the module `audited` of each family describes the measurements, and `confide.audit.audit` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from confide.audit.engine import audit
from confide.contract.kinds import Progress
from confide.contract.renamed import warn_of_old

__all__ = ["old_audits"]


def old_audits(package: str, moved: Mapping[str, str] | None = None, **today: str) -> Callable[[str], Any]:
    """A module's `__getattr__` that serves the module's old audit functions. Each old function took the audited object,
    a seed and a progress function.

    Args:
        package: the module's `__name__`, such as "confide.market.audit".
        moved: mapping from the name of each moved object to the name of the family's module that defines this object
            today.
        today: one keyword argument for each old audit function, named like this function. The value is the name of the
            function that replaces the old one, in the family's module `audited`.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     entry = old_audits("confide.market.audit", audit_majority="majority")("audit_majority")
        >>> str(found[0].message)
        "confide.market.audit: 'audit_majority' is called 'confide.audit.audit(confide.market.audited.majority(...))' \
now; confide 1.0.0 removes the old name"
    """
    family = package.removesuffix(".audit")
    home = f"{family}.audited"

    def __getattr__(name: str) -> Any:
        if moved is not None and name in moved:
            warn_of_old(package, name, f"{family}.{moved[name]}.{name}")
            return getattr(import_module(f"{family}.{moved[name]}"), name)
        if name not in today:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn_of_old(package, name, f"confide.audit.audit({home}.{today[name]}(...))")
        known = getattr(import_module(home), today[name])

        def audit_now(it: Any, seed: int = 0, progress: Progress | None = None, **more: Any) -> Any:
            return audit(known(getattr(it, "mechanism", it), seed, **more), progress)

        return audit_now

    return __getattr__
