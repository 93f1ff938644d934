"""The Dockerfile and docker-compose.yml: what they promise, read from the files."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from app.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DATA_FOLDERS = {"/data", "/files"}


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [(name, " ".join(rest.split())) for name, rest in (line.split(maxsplit=1) for line in lines)]


def of_kind(kind: str) -> list[str]:
    return [rest for name, rest in instructions() if name == kind]


def test_the_image_is_built_in_two_stages_of_one_base():
    first, last = of_kind("FROM")
    assert first.endswith(" AS build")
    assert first.split()[0] == last


def test_the_image_takes_nothing_but_the_environment_from_the_build_stage():
    last_stage = instructions()[max(i for i, (name, _) in enumerate(instructions()) if name == "FROM") :]
    assert [rest for name, rest in last_stage if name in {"COPY", "ADD"}] == ["--from=build /opt/foresolve /opt/foresolve"]


def test_the_image_does_not_run_as_root():
    assert of_kind("USER") == ["10001:10001"]


def test_everything_the_image_writes_lies_in_its_volumes():
    environment = dict(part.split("=", 1) for part in shlex.split(of_kind("ENV")[0]))
    written = [environment[name] for name in ("HOME", "NUMBA_CACHE_DIR", "FORESOLVE_DATA_DIR")]
    assert set(yaml.safe_load(of_kind("VOLUME")[0])) == DATA_FOLDERS
    assert all(Path("/data") in [Path(path), *Path(path).parents] for path in written)


def test_the_image_checks_its_own_health():
    assert of_kind("HEALTHCHECK")[0].endswith('CMD ["foresolve", "health", "--live"]')


def test_the_build_context_holds_no_secrets_and_no_tests():
    lines = (ROOT / ".dockerignore").read_text().split("\n")
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert "*" in lines
    assert allowed == {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "app", "auctions", "optmodel", "solvers"}


def test_everything_the_build_copies_is_in_its_context():
    copied = [source for rest in of_kind("COPY") if not rest.startswith("--from") for source in rest.split()[:-1]]
    allowed = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    assert set(copied) == allowed


def test_only_the_api_publishes_a_port_and_only_on_this_machine():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["api"]
    assert all(port.startswith("127.0.0.1:") and port.endswith(":8000") for port in SERVICES["api"]["ports"])


def test_plain_up_needs_no_gpu():
    started = [service for service in SERVICES.values() if "profiles" not in service]
    assert len(started) == 3
    assert not any("devices" in str(service["deploy"]) for service in started)


def test_the_gpu_profile_adds_a_worker_with_a_gpu():
    worker = SERVICES["gpu-worker"]
    device = worker["deploy"]["resources"]["reservations"]["devices"][0]
    assert (worker["profiles"], device["driver"], device["capabilities"]) == (["gpu"], "nvidia", ["gpu"])
    assert "gpu" in worker["build"]["args"]["EXTRAS"].split(",")


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_is_hardened(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] not in {"root", "0", "0:0"}
    assert not service.get("privileged")


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_a_health_check_and_limits(name):
    service = SERVICES[name]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}


@pytest.mark.parametrize("name", SERVICES)
def test_no_secret_is_in_the_environment(name):
    environment = SERVICES[name].get("environment", {})
    secret = {key for key in environment if re.search("PASSWORD|KEY|TOKEN|DATABASE_URL", key)}
    assert all(key.endswith("_FILE") and environment[key].startswith("/run/secrets/") for key in secret)


@pytest.mark.parametrize("name", ["api", "worker", "gpu-worker"])
def test_the_containers_of_the_service_share_files_secrets_and_the_wait_for_the_database(name):
    service = SERVICES[name]
    assert "files:/files" in service["volumes"]
    assert service["secrets"] == ["foresolve_database_url", "bootstrap_key"]
    assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_the_database_is_out_of_reach_from_outside():
    assert SERVICES["postgres"]["networks"] == ["back"]
    assert COMPOSE["networks"]["back"] == {"internal": True}


def test_every_secret_is_a_file_that_make_secrets_writes():
    makefile = (ROOT / "Makefile").read_text()
    assert all(secret["file"] == f"./secrets/{name}" for name, secret in COMPOSE["secrets"].items())
    assert all(f"secrets/{name}" in makefile for name in COMPOSE["secrets"])


def test_every_setting_the_containers_name_exists():
    named = {key for service in SERVICES.values() for key in service.get("environment", {}) if key.startswith("FORESOLVE_")}
    named |= {name.upper() for name in COMPOSE["secrets"] if name.startswith("foresolve_")}
    assert named <= {f"FORESOLVE_{field.upper()}" for field in Settings.model_fields}


def test_a_secret_file_sets_the_database(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESOLVE_DATABASE_URL", raising=False)
    (tmp_path / "foresolve_database_url").write_text("postgresql://someone@postgres/foresolve\n")
    assert Settings(_secrets_dir=tmp_path).database == "postgresql://someone@postgres/foresolve"


@pytest.mark.parametrize(("name", "job"), [("api", "serve"), ("worker", "worker"), ("gpu-worker", "worker")])
def test_a_container_runs_a_command_of_the_command_line(name, job):
    assert SERVICES[name]["command"][0] == job
