"""What is raised where a fact cannot be told."""


class UnknownError(Exception):
    """A fact cannot be told; the message says why."""
