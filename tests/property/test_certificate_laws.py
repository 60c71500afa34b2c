"""No certificate can be bent: whatever is changed, dropped, added or retyped is found and named."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.archive.reading import Archive
from infra.audit.certificates import check_certificates
from infra.audit.stated import CertificateError, read_certificates
from infra.event_json import render_record
from tests.archives import fold_archive
from tests.mutations import change, list_paths
from tests.random_history import tell_crowd


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Return a drawn crowd's archive, its outcomes as JSON, and a scratch file."""
    folder = tmp_path_factory.mktemp("laws")
    conversation = tell_crowd(5, users=2, events=60)
    fold_archive(folder / "archive", conversation.events)
    outcomes = [render_record(outcome) for outcome in conversation.outcomes()]
    return Archive(folder / "archive"), outcomes, folder / "certificate.json"


def bend(draw, data, path):
    """Change one place of a document; return the paths that may be named for it."""
    *above, last = path
    place = data
    for part in above:
        place = place[part]
    how = draw(st.sampled_from(("value", "type", "drop", "add", "none")))
    named = [spell(path), f"{spell(path)}[0]"]
    if how == "value":
        place[last] = change(place[last])
    elif how == "type":
        place[last] = {"text": place[last]} if draw(st.booleans()) else 0.5
    elif how == "none":
        place[last] = 7 if place[last] is None else None
    elif how == "drop":
        del place[last]
    elif isinstance(place, dict):
        place["added"] = 1
        named.append(spell((*above, "added")))
    else:
        place.append(1)
        named.append(spell((*above, len(place) - 1)))
    if how == "drop" and isinstance(place, list):
        named += [spell((*above, number)) for number in range(len(place) + 1)]
    return named


def spell(path):
    """Return a path as differences spell it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_bent_certificate_is_refused_with_the_field_named(history, data):
    """A name that is gone is refused at reading, anything else by the first difference."""
    archive, outcomes, path = history
    stated = copy.deepcopy(data.draw(st.sampled_from(outcomes)))
    place = data.draw(st.sampled_from(list(list_paths(stated))))
    named = bend(data.draw, stated, place)
    path.write_text(json.dumps(stated), "utf-8")
    first = find_fault(archive, path)

    assert any(first == name or first.startswith((f"{name}.", f"{name}[")) for name in named)


def find_fault(archive, path):
    """Return the field that is named first, at reading or at checking; "" for none."""
    try:
        (checked,) = check_certificates(archive, read_certificates(path))
    except CertificateError as error:
        return str(error).removeprefix(f"{path}: ").partition(":")[0]
    return checked.differences[0].path if checked.differences else ""
