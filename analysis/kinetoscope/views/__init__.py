"""Questions to a trace, each a function that returns a frame. The list of all is :mod:`kinetoscope.views.registry`."""

from kinetoscope.views.devices import devices
from kinetoscope.views.gaps import gaps
from kinetoscope.views.health import health, health_events
from kinetoscope.views.kernel_calls import kernel_calls
from kinetoscope.views.kernels import kernels
from kinetoscope.views.overview import overview
from kinetoscope.views.steps import steps

__all__ = ["devices", "gaps", "health", "health_events", "kernel_calls", "kernels", "overview", "steps"]
