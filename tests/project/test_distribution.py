"""The wheel: everything the service needs, and nothing else."""

import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests.project.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = ("app", "auctions", "optmodel", "solvers")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    tracked = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert set(tracked.split()) <= set(wheel.namelist())


def test_the_wheel_holds_nothing_beside_the_packages(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {*PACKAGES, f"foresolve-{PROJECT['version']}.dist-info"}


def test_the_command_is_installed(wheel):
    entries = wheel.read(f"foresolve-{PROJECT['version']}.dist-info/entry_points.txt").decode()
    assert "foresolve = app.cli:main" in entries


def test_torch_is_constrained_for_the_gpu_extra():
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().split()
    assert any(requirement.startswith("torch>=") for requirement in PROJECT["optional-dependencies"]["gpu"])
