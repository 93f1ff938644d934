import pytest

from app.own_service import own_service


@pytest.fixture(scope="session")
def a_running_service():
    """URL of a service with the operations of the catalogue."""
    with own_service() as url:
        yield url
