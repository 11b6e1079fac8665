"""The largest gap of one arm's front over another's, by what chooses and by what is shown."""

from __future__ import annotations

from findings.finding import Finding
from tests.findings.played import finding
from tests.findings.quantities.test_quantities import said
from tests.service.studies import bottleneck_of, event, play, tell

EVEN = {"name": "even", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}}
UNEVEN = {"name": "uneven", "weighting": {"name": "fixed", "beta": {"grid": [0.4, 0.5, 0.6]}}}

# On a straight front from 0 to 1 the place of the trial between its ends, by seed; the larger part is the largest gap.
HELD_OUT = {0.2: (0.5, 0.5, 0.5), 0.5: (0.8, 0.2, 0.8)}
SHOWN = {0.2: (0.5, 0.4, 0.6), 0.5: (0.8, 0.8, 0.2)}
ENDS = {0.1: 0.0, 0.3: 1.0, 0.4: 0.0, 0.6: 1.0}


def known() -> Finding:
    view = bottleneck_of(EVEN, UNEVEN, seeds=[0, 1, 2])
    tell(view, event("study_started"))
    for trial, own in view.trials.items():
        beta, seed = own.planned.config["weighting.beta"], own.planned.seed
        held_out, shown = (1 + (ENDS[beta] if beta in ENDS else places[beta][seed]) for places in (HELD_OUT, SHOWN))
        values = {"validation_i_xz_bits": held_out, "validation_i_zy_bits": held_out}
        play(view, trial, [{"i_xz_bits": shown, "i_zy_bits": shown, "seconds": 1.0, **values}])
    tell(view, event("study_finished"))
    return finding(view)


def test_gaps_are_compared_seed_by_seed_on_the_split_that_chooses_and_on_the_other() -> None:
    assert said("gap share by seed(even; uneven)", known()) == "0.625, 0.625, 0.625"
    assert said("gap share of seeds(even; uneven)", known()) == "0.625 (0.625 to 0.625) (3 seeds)"
    assert said("shown gap share of seeds(even; uneven)", known()) == "0.706 (0.543 to 0.917) (3 seeds)"
    assert said("shown gap share of seeds(even; even)", known()) == "–"
    assert said("gap share(even; uneven)", known()) == "0.833"  # of means: 0.5 against 0.6
