"""The models that our allocations are compared with are of the same problem, and figures come out as they were measured."""

import pytest

from auctions.domains import gsvm, lsvm, mrvm, srvm
from benchmarks.auctions import cp_sat_program, sats_models
from benchmarks.auctions.allocations import OURS, check, table

SMALL = [
    gsvm(1, size=2, n_regional=2),
    lsvm(1, rows=2, columns=3, n_regional=2),
    srvm(1, n_small=1, n_secondary=0, n_primary=1, quantities=(2, 3, 2)),
    mrvm(1, n_local=1, n_regional=0, n_national=1, lots=(1, 1, 1)),
]


@pytest.mark.parametrize("instance", SMALL, ids=lambda instance: instance.domain)
def test_models_of_sats_and_of_ours_have_one_optimum(instance):
    optimum = instance.efficient_allocation().welfare
    for solve, tolerance in ((sats_models.solve, 1e-5), (cp_sat_program.solve, 1e-6)):
        welfare, bound, stopped_by = solve(instance, 60.0)
        assert stopped_by is None
        assert welfare == pytest.approx(optimum, rel=tolerance)
        assert bound >= optimum * (1 - tolerance)


def test_the_model_of_sats_for_the_grid_has_the_paths_without_chords():
    lengths = sats_models.path_lengths(3, 6)
    assert sum(map(len, lengths.values())) == 488
    assert lengths[0, 1] == [1]
    assert max(map(max, lengths.values())) > 8


def line_of(solver, cpu_seconds, welfare=10.0, bound=10.0, stopped_by=None):
    return {
        "domain": "gsvm",
        "seed": 1,
        "solver": solver,
        "cpu_seconds": cpu_seconds,
        "welfare": welfare,
        "bound": bound,
        "stopped_by": stopped_by,
    }


def test_times_are_told_as_multiples_of_ours():
    lines = [line_of(OURS, 0.5), line_of("other", 20.0, welfare=8.0, bound=None, stopped_by="time_limit")]
    rows = table(lines, 20.0).splitlines()
    assert [cell.strip() for cell in rows[3].strip("|").split("|")] == ["gsvm", "other", "20", "at least 40", "0 of 1", "1"]


def test_a_bound_below_another_answer_ends_the_benchmark():
    check([line_of(OURS, 1.0), line_of("other", 1.0, welfare=0.0, bound=None)])
    with pytest.raises(SystemExit, match="more than the bound"):
        check([line_of(OURS, 1.0), line_of("other", 1.0, bound=9.0)])
