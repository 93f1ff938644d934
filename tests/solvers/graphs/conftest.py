"""Settings of the property tests of the graph solvers."""

from hypothesis import settings

# The first call of a kernel compiles it, which no deadline per example allows for.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
