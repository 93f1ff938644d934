import json

import pytest

from auctions.networks.hyperparameters import OWN_DEFAULTS, hyperparameters
from auctions.networks.mvnn import MVNN
from solvers.operation import InvalidInput
from tests.project.documents import ROOT

TABLE = json.loads((ROOT / "auctions" / "data" / "domain_constants.json").read_text())["domains"]


@pytest.mark.parametrize("phase", ["demand", "value"])
@pytest.mark.parametrize(("domain", "kind"), [(domain, kind) for domain in TABLE for kind in set(TABLE[domain]["bidder_types"])])
def test_every_bidder_of_the_domains_with_a_table_can_be_modelled(domain, kind, phase):
    settings = hyperparameters(domain.lower(), kind, phase)
    published = TABLE[domain][f"hyperparameters_{phase}_query_phase"][kind]
    assert settings.options.learning_rate == published["learning_rate"]
    assert settings.options.epochs == published["epochs"]
    network = MVNN([1, 1], settings.hidden_layer_sizes, settings.skip_connection)
    assert network.architecture.hidden_layer_sizes == tuple(published["hidden_layer_sizes"])


@pytest.mark.parametrize("phase", ["demand", "value"])
def test_other_domains_have_the_projects_own_defaults(phase):
    assert hyperparameters("cats", "anything", phase) == hyperparameters(None, None, phase) == OWN_DEFAULTS[phase]


def test_types_may_be_spelt_as_domains_spell_them():
    assert hyperparameters("SRVM", "high_frequency", "value") == hyperparameters("srvm", "High Frequency", "value")


@pytest.mark.parametrize("kind", [None, "global"])
def test_an_unknown_type_is_refused_with_those_there_are(kind):
    with pytest.raises(InvalidInput, match="Regional, National"):
        hyperparameters("lsvm", kind, "demand")
