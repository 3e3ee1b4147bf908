"""Random games with properties."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.generators.by_equilibrium import dominance_solvable as dominance_solvable
    from bestresponse.theory.generators.by_equilibrium import fully_mixed as fully_mixed
    from bestresponse.theory.generators.by_equilibrium import given_support as given_support
    from bestresponse.theory.generators.by_equilibrium import pure_equilibria as pure_equilibria
    from bestresponse.theory.generators.draw import Batch as Batch
    from bestresponse.theory.generators.draw import families as families
    from bestresponse.theory.generators.draw import generate as generate
    from bestresponse.theory.generators.plain import blotto as blotto
    from bestresponse.theory.generators.plain import common_interest as common_interest
    from bestresponse.theory.generators.plain import congestion as congestion
    from bestresponse.theory.generators.plain import covariant as covariant
    from bestresponse.theory.generators.plain import cyclic as cyclic
    from bestresponse.theory.generators.plain import integer as integer
    from bestresponse.theory.generators.plain import normal as normal
    from bestresponse.theory.generators.plain import potential as potential
    from bestresponse.theory.generators.plain import public_goods as public_goods
    from bestresponse.theory.generators.plain import symmetric as symmetric
    from bestresponse.theory.generators.plain import uniform as uniform
    from bestresponse.theory.generators.plain import zero_sum as zero_sum
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
