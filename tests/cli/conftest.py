import pytest

from app.own_service import own_service


@pytest.fixture(scope="session")
def a_running_service():
    """URL of a service with the operations of these tests."""
    with own_service({"FORESOLVE_CATALOGUE": "tests.cli.operations:CATALOGUE", "FORESOLVE_WORKERS": "2"}) as url:
        yield url
