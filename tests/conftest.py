"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# No deadlines: a busy machine is not a bug. The sanitized build is several times slower, so it gets fewer examples.
settings.register_profile("house", deadline=None, print_blob=True)
settings.register_profile("sanitize", settings.get_profile("house"), max_examples=25)
settings.load_profile("house")
