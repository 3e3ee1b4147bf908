"""Random games with properties."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.generators.by_equilibrium import (
        dominance_solvable as dominance_solvable,
        fully_mixed as fully_mixed,
        given_support as given_support,
        pure_equilibria as pure_equilibria,
    )
    from bestresponse.theory.generators.draw import Batch as Batch, families as families, generate as generate
    from bestresponse.theory.generators.plain import (
        blotto as blotto,
        common_interest as common_interest,
        congestion as congestion,
        covariant as covariant,
        cyclic as cyclic,
        integer as integer,
        normal as normal,
        potential as potential,
        public_goods as public_goods,
        symmetric as symmetric,
        uniform as uniform,
        zero_sum as zero_sum,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
