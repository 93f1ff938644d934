"""Jobs and their events, workers, files, keys and their usage."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("seed", sa.BigInteger),
        sa.Column("light", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("gpu", sa.String(16), nullable=False),
        sa.Column("time_limit", sa.Double, nullable=False),
        sa.Column("memory_mb", sa.Integer, nullable=False),
        sa.Column("request", sa.LargeBinary),
        sa.Column("request_file", sa.Text),
        sa.Column("request_hash", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("has_checkpoint", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("last_seq", sa.Integer, nullable=False, server_default="0"),
        sa.Column("lease_owner", sa.Text),
        sa.Column("lease_expires_at", sa.Double),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("progress", sa.Text),
        sa.Column("problem", sa.Text),
        sa.Column("result", sa.LargeBinary),
    )
    op.create_index("jobs_by_owner", "jobs", ["owner", "id"])
    op.create_index("jobs_by_idempotency_key", "jobs", ["owner", "idempotency_key"], unique=True)
    op.create_index("jobs_by_end", "jobs", ["finished_at"])
    for name, columns, where in (
        ("jobs_by_request_file", ["request_file"], "request_file IS NOT NULL"),
        ("jobs_queued", ["owner", "id"], "status = 'queued'"),
        ("jobs_queued_light", ["owner", "id"], "status = 'queued' AND light"),
        ("jobs_leased", ["lease_owner", "lease_expires_at"], "status = 'running'"),
    ):
        op.create_index(name, "jobs", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.create_table(
        "job_events",
        sa.Column("job_id", sa.String(40), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_table(
        "turns",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("served_at", sa.Double, nullable=False),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("process_started_at", sa.Double, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
    )
    op.create_table(
        "files",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("job_id", sa.String(40)),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("files_by_owner", "files", ["owner", "id"])
    op.create_index("files_by_job", "files", ["job_id"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False, unique=True),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
    )
    op.create_table(
        "usage",
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("minute", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("requests", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    for table in ("usage", "api_keys", "files", "workers", "turns", "job_events", "jobs"):
        op.drop_table(table)
