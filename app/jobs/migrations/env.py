"""Runs the migrations on the connection it is given; Alembic loads this file by its name."""

from alembic import context

from app.jobs.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
