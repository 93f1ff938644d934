import numpy as np
import pytest
import torch

from auctions.bundles import all_bundles
from auctions.networks.architecture import Architecture
from auctions.networks.initialisation import initial_parameters
from auctions.networks.mvnn import MVNN
from auctions.networks.network_document import network_document
from auctions.networks.training import Answers, TrainingOptions, VisitingOrders, draw_orders, train
from auctions.networks.value_table import network_table
from tests.auctions.networks.networks import random_network
from tests.auctions.vectors import cases


def answers_of(case):
    m = len(case["initial_net"]["capacities"])
    demand, value = case["demand_data"], case["value_data"]
    return Answers(
        np.array([entry["prices"] for entry in demand]).reshape(-1, m),
        np.array([entry["bundle"] for entry in demand], dtype=np.int64).reshape(-1, m),
        np.array([entry["bundle"] for entry in value], dtype=np.int64).reshape(-1, m),
        np.array([entry["value"] for entry in value], dtype=np.float64),
    )


def table_chooser(architecture, seen=None):
    def choose(parameters, prices):
        chosen = network_table(architecture, parameters).demands(prices)[0]
        if seen is not None:
            seen.append((prices.copy(), chosen))
        return chosen

    return choose


def trained(case):
    """The training of a case, and what the network chose at each price vector, refresh by refresh."""
    start = MVNN.from_dict(case["initial_net"])
    named = dict(case["params"])
    options = TrainingOptions(loss=named.pop("loss_vq"), **named)
    orders = VisitingOrders(
        *(np.array(case[key], dtype=np.int64).reshape(options.epochs, -1) for key in ("order_demand", "order_value"))
    )
    seen = []
    parameters, losses = train(
        start.architecture, start.parameters_, answers_of(case), options, orders, table_chooser(start.architecture, seen)
    )
    return start.architecture, parameters, losses, seen


@pytest.mark.parametrize("case", cases("training.json"))
def test_training_ends_at_the_network_of_the_vectors(case):
    architecture, parameters, _, _ = trained(case)
    expected = MVNN.from_dict(case["final_net"])
    np.testing.assert_allclose(parameters, expected.parameters_, rtol=0, atol=1e-8)
    values = network_table(architecture, parameters).values
    np.testing.assert_allclose(values, case["final_values"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", cases("training.json"))
def test_losses_are_those_of_the_vectors(case):
    losses = trained(case)[2]
    for kind, name in ((losses.demand, "dq_loss"), (losses.value, "vq_loss")):
        expected = np.array([np.nan if epoch[name] is None else epoch[name] for epoch in case["epoch_log"]])
        np.testing.assert_allclose(kind, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", cases("training.json"))
def test_choices_are_those_of_the_vectors_after_each_refresh(case):
    seen = trained(case)[3]
    every, n_answers = case["params"]["cached_solution_frequency"], len(case["demand_data"])
    epochs = range(0, case["params"]["epochs"], every) if n_answers else range(0)
    calls = len(seen) // max(1, len(epochs))
    for place, epoch in enumerate(epochs):
        prices, chosen = (np.concatenate(part) for part in zip(*seen[place * calls : (place + 1) * calls], strict=True))
        for entry, cached in zip(case["demand_data"], case["epoch_log"][epoch]["cached"], strict=True):
            row = np.flatnonzero((prices == entry["prices"]).all(axis=1))[0]
            assert chosen[row].tolist() == cached


def torch_value(network, bundles):
    units = bundles / torch.tensor(network["capacities"], dtype=torch.float64)
    for layer in network["layers"]:
        sums = units @ layer["weight"].T + layer["bias"]
        rectified = torch.clamp(sums, min=0)
        units = torch.where(rectified >= layer["cutoff"], layer["cutoff"].expand_as(rectified), torch.relu(sums))
    value = units @ network["output_weight"] if network["layers"] else torch.zeros(len(bundles), dtype=torch.float64)
    return value if network["skip_weight"] is None else value + bundles @ network["skip_weight"]


def torch_training(architecture, parameters, answers, options, orders, choose):
    """The same training by automatic differentiation and torch's own Adam."""
    document = network_document(architecture, parameters)
    leaf = lambda entries: torch.tensor(entries, dtype=torch.float64, requires_grad=True)  # noqa: E731
    network = {
        "capacities": document["capacities"],
        "layers": [{name: leaf(part) for name, part in layer.items()} for layer in document["layers"]],
        "output_weight": leaf(document["output_weight"]),
        "skip_weight": None if document["skip_weight"] is None else leaf(document["skip_weight"]),
    }
    leaves = [part for layer in network["layers"] for part in layer.values()]
    leaves += [network["output_weight"]] if network["layers"] else []
    leaves += [] if network["skip_weight"] is None else [network["skip_weight"]]
    biases = [layer["bias"] for layer in network["layers"]]
    optimizer = torch.optim.Adam(leaves, weight_decay=options.weight_decay)
    as_tensor = lambda array: torch.tensor(np.asarray(array), dtype=torch.float64)  # noqa: E731

    def current():
        plain = {
            "capacities": document["capacities"],
            "layers": [{name: part.detach().tolist() for name, part in layer.items()} for layer in network["layers"]],
            "output_weight": network["output_weight"].detach().tolist(),
            "skip_weight": None if network["skip_weight"] is None else network["skip_weight"].detach().tolist(),
        }
        return MVNN.from_dict(plain).parameters_

    def step(loss, rate):
        optimizer.zero_grad()
        loss.backward()
        if options.clip_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(leaves, options.clip_grad_norm)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        with torch.no_grad():
            for part in leaves:
                part.clamp_(max=0) if any(part is bias for bias in biases) else part.clamp_(min=0)

    cache = np.zeros_like(answers.chosen)
    for epoch, rate in enumerate(options.rates().tolist()):
        if epoch % options.cached_solution_frequency == 0 and len(cache):
            cache = choose(current(), answers.prices)
        for row in orders.demand[epoch]:
            both = torch_value(network, as_tensor(np.stack([cache[row], answers.chosen[row]])))
            costs = as_tensor(np.stack([cache[row], answers.chosen[row]]) @ answers.prices[row])
            utility = both - costs
            step(torch.relu(utility[0] - utility[1]), rate)
        for start in range(0, len(orders.value[epoch]), options.batch_size_vq):
            rows = orders.value[epoch][start : start + options.batch_size_vq]
            error = torch_value(network, as_tensor(answers.asked[rows])) - as_tensor(answers.values[rows])
            step((error**2).mean() if options.loss == "mse" else error.abs().mean(), rate)
    return current()


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (((1,) * 6, (7,), True), TrainingOptions(epochs=6, weight_decay=1e-3, cached_solution_frequency=2, batch_size_vq=3)),
        (((2, 3, 1), (5, 4), False), TrainingOptions(epochs=6, loss="mse", clip_grad_norm=0.1, cached_solution_frequency=3)),
        (((1,) * 5, (4, 6, 3), True), TrainingOptions(epochs=6, batch_size_vq=5, clip_grad_norm=1.0)),
        (((3, 1), (), True), TrainingOptions(epochs=6)),
    ],
)
def test_training_equals_automatic_differentiation(shape, options):
    architecture, parameters = random_network(*shape, seed=4, zeros=0.0)
    rng = np.random.default_rng(8)
    bundles = all_bundles(architecture.capacities)
    chosen, asked = (bundles[rng.integers(0, len(bundles), n)] for n in (6, 8))
    answers = Answers(rng.uniform(0, 0.3, chosen.shape), chosen, asked, rng.random(8))
    orders = draw_orders(rng, options.epochs, 6, 8)
    ours, _ = train(architecture, parameters, answers, options, orders, table_chooser(architecture))
    theirs = torch_training(architecture, parameters, answers, options, orders, table_chooser(architecture))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.fixture
def a_training():
    rng = np.random.default_rng(2)
    architecture = Architecture((1,) * 6, (8, 5), True)
    _, teacher = random_network((1,) * 6, (8, 5), True, seed=11, zeros=0.0)
    bundles = all_bundles([1] * 6)
    asked = bundles[rng.permutation(64)[:24]]
    prices = rng.uniform(0, 0.1, (10, 6))
    table = network_table(architecture, teacher)
    chosen = table.demands(prices)[0]
    values = table.values[table.rows_of(asked)]
    return architecture, initial_parameters(architecture, rng), Answers(prices, chosen, asked, values), rng


def test_parameters_keep_their_signs_exactly(a_training):
    architecture, start, answers, rng = a_training
    options = TrainingOptions(epochs=20, learning_rate=0.05)
    parameters, _ = train(architecture, start, answers, options, draw_orders(rng, 20, 10, 24), table_chooser(architecture))
    projected = parameters.copy()
    architecture.project(projected)
    np.testing.assert_array_equal(projected, parameters)


def test_losses_are_never_negative_and_fall(a_training):
    architecture, start, answers, rng = a_training
    options = TrainingOptions(epochs=100)
    _, losses = train(architecture, start, answers, options, draw_orders(rng, 100, 10, 24), table_chooser(architecture))
    assert (losses.demand >= 0).all()
    assert losses.value[-1] < losses.value[0] / 4


def test_answers_that_the_network_gives_itself_move_it_by_decay_alone(a_training):
    architecture, start, answers, rng = a_training
    own = network_table(architecture, start).demands(answers.prices)[0]
    agreed = Answers(answers.prices, own, answers.asked[:0], answers.values[:0])
    orders = draw_orders(rng, 1, 10, 0)
    still, losses = train(architecture, start, agreed, TrainingOptions(epochs=1, weight_decay=0.0), orders, lambda *_: own)
    np.testing.assert_array_equal(still, start)
    assert losses.demand.tolist() == [0.0]
    moved, _ = train(architecture, start, agreed, TrainingOptions(epochs=1, weight_decay=1e-3), orders, lambda *_: own)
    assert (np.abs(moved)[start != 0] < np.abs(start)[start != 0]).all()


def test_training_leaves_its_start_as_it_was(a_training):
    architecture, start, answers, rng = a_training
    before = start.copy()
    train(architecture, start, answers, TrainingOptions(epochs=2), draw_orders(rng, 2, 10, 24), table_chooser(architecture))
    np.testing.assert_array_equal(start, before)


def test_refreshing_at_each_step_and_at_each_epoch_agree_on_a_single_answer(a_training):
    architecture, start, answers, rng = a_training
    one = Answers(answers.prices[:1], answers.chosen[:1], answers.asked, answers.values)
    orders = draw_orders(rng, 12, 1, 24)
    results = [
        train(
            architecture,
            start,
            one,
            TrainingOptions(epochs=12, cached_solution_frequency=4, refresh=refresh),
            orders,
            table_chooser(architecture),
        )
        for refresh in ("epoch", "step")
    ]
    np.testing.assert_array_equal(results[0][0], results[1][0])
