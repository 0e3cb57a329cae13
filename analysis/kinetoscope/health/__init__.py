"""What was and was not recorded: checks of a trace, each with the events behind it, and fixes that can be switched on.

Definitions: ``docs/definitions.md``, "Health". A check is a function from a trace to a :class:`Finding`; all are listed in :data:`CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kinetoscope.health import content, linked, times
from kinetoscope.health.finding import SEVERITIES, Finding

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

CHECKS: tuple[Callable[[Trace], Finding], ...] = (
    content.file,
    content.documents,
    content.unreadable,
    content.writers,
    content.device_work,
    linked.launches_without_work,
    linked.works_without_launch,
    linked.steps_without_work,
    times.untimed,
    times.negative,
    times.impossible,
    times.unfinished,
    times.clock,
    times.late_start,
    linked.shared_correlation,
    linked.crossing,
    linked.nested_steps,
    content.incomplete,
    content.categories,
    content.switches,
    content.memory,
    content.stacks,
    content.overhead,
    content.ranks,
)
"""All checks, in the order to show those of one severity in."""


def findings(trace: Trace) -> list[Finding]:
    """Run all checks on a trace.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    list of Finding
        Worst first.
    """
    found = [check(trace) for check in CHECKS]
    return sorted(found, key=lambda finding: -SEVERITIES.index(finding.severity))


__all__ = ["CHECKS", "SEVERITIES", "Finding", "findings"]
