"""The tables of one bag, against their definition."""

import numpy as np
import pytest

from solvers.graphs.bag_tables import add_message, chosen_side, fill_cut, maximise, words_for


@pytest.mark.parametrize("size", [0, 1, 3, 7])
def test_tables_hold_the_cut_edges_of_a_vertex_for_every_way_to_place_its_scope(size):
    weights = np.random.default_rng(size).integers(-9, 10, size)
    on_0, on_1 = np.empty(1 << size, np.int64), np.empty(1 << size, np.int64)

    fill_cut(on_0, on_1, 100, 200, weights, size)

    for index in range(1 << size):
        apart = sum(int(weights[bit]) for bit in range(size) if index >> bit & 1)
        assert (on_0[index], on_1[index]) == (100 + apart, 200 + weights.sum() - apart)


@pytest.mark.parametrize("scope_of_child", [[], [0], [2], [0, 2], [1, 2], [0, 1, 2]])
def test_a_message_is_added_where_it_agrees_with_the_placing(scope_of_child):
    size, child_size = 3, len(scope_of_child) + 1
    message = np.arange(1 << child_size, dtype=np.int64) ** 2
    bits = np.zeros(size, np.int32)
    for child_bit, bit in enumerate(scope_of_child):
        bits[bit] = 1 << child_bit
    on_0, on_1 = np.zeros(8, np.int64), np.zeros(8, np.int64)

    add_message(on_0, on_1, message, bits, size, child_size, np.empty(8, np.int32))

    for index in range(8):
        seen = sum((index >> bit & 1) << child_bit for child_bit, bit in enumerate(scope_of_child))
        assert (on_0[index], on_1[index]) == (message[seen], message[seen + (1 << (child_size - 1))])


@pytest.mark.parametrize("size", [0, 5, 6, 8])
def test_a_message_holds_the_greater_entry_and_its_choices_the_side_that_had_it(size):
    rng = np.random.default_rng(size)
    on_0, on_1 = rng.integers(0, 4, 1 << size), rng.integers(0, 4, 1 << size)
    message, choices = np.empty(1 << size, np.int64), np.empty(words_for(size), np.uint64)

    maximise(on_0, on_1, size, message, choices, np.array([7], np.uint64))

    assert message.tolist() == np.maximum(on_0, on_1).tolist()
    for index in range(1 << size):
        assert (on_0, on_1)[chosen_side(choices, index)][index] == message[index]


def test_equal_entries_are_chosen_between_at_random():
    level = np.zeros(1 << 10, np.int64)
    choices = np.empty(words_for(10), np.uint64)

    maximise(level, level, 10, np.empty(1 << 10, np.int64), choices, np.array([3], np.uint64))

    chosen = [int(chosen_side(choices, index)) for index in range(1 << 10)]
    # Six standard deviations of 1024 fair coins are 96.
    assert abs(sum(chosen) - 512) < 96
    assert len(set(choices.tolist())) == 16
