"""Exceptions that the modules share."""


class UsageError(Exception):
    """Wrong options or files; the message says what to do. Exit code 2."""


class Failure(Exception):
    """A model could not be examined, for a reason that is not in the model itself.

    `again` is whether another attempt may succeed: of a download, but not of a missing file.
    """

    def __init__(self, reason: str, again: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
