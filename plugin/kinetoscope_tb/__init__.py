"""The TensorBoard plugin: finds traces in the log folder, reads each in a process of its own, and answers the page.

From TensorBoard's side to the trace's: :mod:`loader` → :mod:`plugin` (wiring) → :mod:`routes` (requests and replies) → :mod:`catalog` (which traces
there are) and :mod:`sessions` (which are open) → :mod:`client` (a worker seen from here) → :mod:`worker` (that process) → :mod:`answers`.
What travels to the page is described in ``docs/wire.md``.
"""
