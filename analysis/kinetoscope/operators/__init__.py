"""What ran on the host and what it caused: ops, modules, call stacks, and their floating-point operations.

:class:`~kinetoscope.operators.program.Program` holds what a trace needs of them, each computed when it is first asked for.
"""
