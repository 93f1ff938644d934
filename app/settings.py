"""Settings of the service: environment variables with the prefix ``FORESOLVE_``, each with a default that works on a laptop.

Where secrets come as files, as containers get them, ``/run/secrets/foresolve_database_url`` sets what the variable of that name
would.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

SECRETS_DIR = Path("/run/secrets")


def default_data_dir() -> Path:
    """Return the folder for the database and files, by the XDG convention."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "foresolve"


class Settings(BaseSettings):
    """All settings of the service; see the README for those that matter first."""

    model_config = SettingsConfigDict(
        env_prefix="FORESOLVE_", extra="ignore", validate_default=True, secrets_dir=SECRETS_DIR if SECRETS_DIR.is_dir() else None
    )

    data_dir: Path = Field(default_factory=default_data_dir, description="Folder of the SQLite database, files and caches.")
    database_url: str | None = Field(None, description="SQLAlchemy URL; default: SQLite in the data folder.")
    files_url: str | None = Field(None, description="fsspec URL of the files; default: the data folder.")
    kernels_dir: Path | None = Field(None, description="Folder of compiled kernels; default: in the data folder.")
    catalogue: str = Field("app.operations:CATALOGUE", description="Where the operations come from, as module:attribute.")

    host: str = Field("127.0.0.1", description="Address to listen on; anything but loopback needs an API key to exist.")
    port: int = Field(8000, ge=0, le=65535)
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        [], description="Further Host names that are answered, comma-separated."
    )
    cors_origins: Annotated[list[str], NoDecode] = Field([], description="Web origins allowed to call, comma-separated.")
    bootstrap_key_file: Path | None = Field(None, description="File with an API key of all scopes, for containers.")

    max_body_bytes: PositiveInt = Field(64 * 2**20, description="Largest request body, decompressed.")
    inline_body_bytes: PositiveInt = Field(2**20, description="Larger bodies are kept as files and parsed in the worker.")
    max_file_bytes: PositiveInt = Field(2**30, description="Largest uploaded file.")
    max_vertices: PositiveInt = 5_000_000
    max_edges: PositiveInt = 20_000_000
    max_bidders: PositiveInt = Field(1000, description="Of an auction.")
    max_goods: PositiveInt = Field(500, description="Of an auction.")
    max_bids: PositiveInt = Field(200_000, description="Of all bidders of an auction.")
    max_bundles: PositiveInt = Field(1_000_000, description="That one request asks the values of, or the answers to.")
    max_columns: PositiveInt = Field(10_000, description="Most columns of a table that a model is fitted to.")
    max_time_limit: PositiveFloat = Field(3600, description="Longest time limit a job may ask for, in seconds.")
    max_wait: float = Field(60, ge=0, description="Longest wait for a result in one request, in seconds.")
    requests_per_minute: int = Field(0, ge=0, description="Requests per key and minute; 0: no limit.")
    max_queued_jobs: PositiveInt = Field(10_000, description="Queued jobs per key.")

    workers: PositiveInt = Field(default_factory=lambda: os.cpu_count() or 1, description="Jobs that run at once.")
    light_workers: int = Field(1, ge=0, description="Workers reserved for operations that end within a second.")
    job_memory_mb: PositiveInt = Field(4096, description="Most memory of one job's process tree, in MiB.")
    lease_seconds: PositiveFloat = 15
    heartbeat_seconds: PositiveFloat = 5
    max_attempts: PositiveInt = 3
    poll_seconds: PositiveFloat = Field(0.25, description="How often the queue is read when nobody announced a job.")
    cancel_grace_seconds: PositiveFloat = Field(1.5, description="From a request to cancel to the kill.")
    grace_seconds: float = Field(20, ge=0, description="At shutdown, how long running jobs may finish.")

    retention_seconds: PositiveFloat = Field(7 * 24 * 3600, description="How long ended jobs and their files are kept.")
    gam_data_retention_days: int = Field(
        30, ge=0, description="How long the rows that a GAM was fitted to are kept with it, in days; 0: not at all."
    )
    sweep_seconds: PositiveFloat = Field(300, description="How often expired jobs and files are removed.")
    log_json: bool = Field(False, description="Write logs as JSON lines.")
    log_level: str = "INFO"

    @field_validator("allowed_hosts", "cors_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @cached_property
    def database(self) -> str:
        """SQLAlchemy URL of the job database."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'foresolve.db'}"

    @cached_property
    def files(self) -> str:
        """Where the files live, as an fsspec URL."""
        return self.files_url or f"file://{self.data_dir.absolute() / 'files'}"

    @cached_property
    def cache_dir(self) -> Path:
        """Writable folder for compiled kernels."""
        return (self.kernels_dir or self.data_dir / "cache").absolute()

    @property
    def instance_limits(self) -> dict[str, int]:
        """What :meth:`solvers.operation.Context.require` is asked about."""
        return {
            "max_vertices": self.max_vertices,
            "max_edges": self.max_edges,
            "max_bidders": self.max_bidders,
            "max_goods": self.max_goods,
            "max_bids": self.max_bids,
            "max_bundles": self.max_bundles,
            "max_columns": self.max_columns,
            "gam_data_retention_days": self.gam_data_retention_days,
        }
