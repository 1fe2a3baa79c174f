"""Settings for all tests."""

from hypothesis import settings

# A law is not a measurement of time: how long an example takes depends on what else the machine does.
settings.register_profile("caveat", deadline=None)
settings.load_profile("caveat")
