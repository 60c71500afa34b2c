"""The console script ``commitments``: the one way it starts, and how it ends when cut short.

Nothing else is imported before ``run`` can answer an interruption; the app is in ``commands``.
"""

import os
import sys
from io import TextIOWrapper
from typing import Final

INTERRUPTED: Final = 130
CLOSED: Final = 141
"""Exit codes as shells give them: ended by SIGINT, and by SIGPIPE."""


def run() -> None:
    """Run the command line; an interruption or a reader that left ends it without a word."""
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # What is still buffered goes nowhere, so that nothing complains when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED)


def _run() -> None:
    if not __debug__:
        sys.stderr.write("error: do not run with python -O: assertions guard the ledger\n")
        sys.exit(2)
    for place, argument in enumerate(sys.argv[1:], start=1):
        if not is_text(argument):
            sys.stderr.write(f"error: argument {place}: {argument!a} is not UTF-8; retype it\n")
            sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What the terminal's encoding cannot show is spelled out; it ends no command.
            stream.reconfigure(errors="backslashreplace")
    from pydantic import ValidationError  # noqa: PLC0415 - see above

    from infra.cli.commands import app  # noqa: PLC0415 - see above
    from infra.logs import configure_logs  # noqa: PLC0415 - see above
    from infra.settings import Settings  # noqa: PLC0415 - see above

    try:
        settings = Settings()
        configure_logs(log_format=settings.log_format, level=settings.log_level)
        app()
    except ValidationError as error:
        # Which variable of the environment is wrong, and how.
        first = error.errors(include_input=False, include_url=False)[0]
        names = "_".join(str(part) for part in first["loc"]).upper()
        told = f"COMMITMENTS_{names}: {first['msg']}; set another value or unset it"
        sys.stderr.write(f"error: {told}\n")
        sys.exit(2)
    except BrokenPipeError:
        raise
    except OSError as error:
        # Outside every command: usage and help that could not be written.
        sys.stderr.write(f"error: {error.strerror or error}\n")
        sys.exit(2)


def is_text(argument: str) -> bool:
    """Tell whether an argument has a UTF-8 form; bytes that have none come as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in argument)


if __name__ == "__main__":
    run()
