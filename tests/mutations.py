"""Changes to JSON documents, one field at a time: every path there is, and another value for it."""

HEX = set("0123456789abcdef")


def list_paths(data, path=()):
    """Yield the path of every scalar, and of every empty list and missing object."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from list_paths(value, (*path, name))
    elif isinstance(data, list) and data:
        for place, value in enumerate(data):
            yield from list_paths(value, (*path, place))
    else:
        yield path


def mutate(data, path):
    """Give the place of a path another value of about the same kind."""
    for part in path[:-1]:
        data = data[part]
    data[path[-1]] = change(data[path[-1]])


def change(value):
    """Return another value: a digit of a digest, a letter, a number, the other truth value."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if len(value) >= 16 and set(value) <= HEX:
            return ("1" if value[0] == "0" else "0") + value[1:]
        case str():
            return value + "x"
        case list():
            return ["x"]
        case None:
            return "x"
        case _:
            return None
