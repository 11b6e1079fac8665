"""What a text can say of a curve that separately trained networks were held against."""

from __future__ import annotations

import pytest

from tests.findings.played import finding
from tests.findings.quantities.test_quantities import FIVE, said
from tests.service.analysis.test_verified import checked, found
from tests.service.studies import event, tell


def test_gaps_to_separate_networks_are_those_of_the_comparison() -> None:
    """Under the curve by 0.125 and by 0.375 bit of label at its very rates; a seed's noise lifts it by so much."""
    view = checked((8.0, 2.675), (2.0, 0.825), noise=0.125)
    for kind in ("study_started", "study_finished"):
        tell(view, event(kind))
    kept = finding(view)
    assert said("verified gap(i_zy_bits; all β)", kept) == "+0.25 ± 0.31 (3 seeds)"
    assert found(view).differences["i_xz_bits"].mean == 0.0, "the same rates"
    assert said("verified difference(i_xz_bits; all β)", kept) == "0 (3 seeds)"
    assert said("verified difference(i_zy_bits; all β)", kept) == "+0.25 ± 0.31 (3 seeds)"
    with pytest.raises(ValueError, match="accuracy is not an objective"):
        said("verified gap(accuracy; all β)", kept)


def test_a_curve_that_was_not_verified_has_no_such_gap() -> None:
    with pytest.raises(ValueError, match="the curve of MIB was not verified"):
        said("verified gap(i_zy_bits; MIB)", FIVE)
