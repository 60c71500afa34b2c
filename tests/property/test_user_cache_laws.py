"""The cache of decoded rows against a plain dictionary: every read, in any order of steps."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.history_row import SeenRow, TouchRow
from schemas.row import DeadlineRow, TurnRow
from streams.row_digest import digest_row
from streams.row_layout import ROW_FORMAT, decode_row, row_key, user_prefix
from streams.user_cache import UserCache

USERS = ("a", "b", "ab")
IDS = ("", "a", "a\0b", "a\0c", "b", "ä", "\U0001f95c", "zz")
ROWS = {
    TouchRow: TouchRow,
    SeenRow: lambda number: SeenRow(bytes(32), number, number),
    DeadlineRow: lambda number: DeadlineRow("t", "u", f"turn-{number}"),
    TurnRow: lambda number: TurnRow("failure", bytes(32), number, "dinner", None),
}
records = st.sampled_from(list(ROWS))
steps = st.one_of(
    st.tuples(st.just("get"), st.sampled_from(USERS), records, st.sampled_from(IDS)),
    st.tuples(st.just("scan"), st.sampled_from(USERS), records, st.sampled_from(("", "a", "b"))),
    st.tuples(
        st.just("hold"),
        st.sampled_from(USERS),
        st.dictionaries(
            st.tuples(records, st.sampled_from(IDS)), st.none() | st.integers(0, 9), max_size=4
        ),
    ),
    st.tuples(st.just("release")),
    st.tuples(st.just("drop")),
)


class Store:
    """Committed rows as bytes."""

    def __init__(self):
        self.rows = {}

    def get(self, key):
        return self.rows.get(key)

    def scan(self, prefix):
        return iter(sorted((k, v) for k, v in self.rows.items() if k.startswith(prefix)))


class Model:
    """What must be read: committed rows under those of the open batch."""

    def __init__(self):
        self.store = Store()
        self.open = {}

    def get(self, user, record, row_id):
        key = row_key(user_prefix("t", user), record, row_id)
        return self.open[key][1] if key in self.open else self._stored(record, key)

    def scan(self, user, record, prefix):
        base = row_key(user_prefix("t", user), record, "")
        keys = {key for key in (*self.store.rows, *self.open) if key.startswith(base)}
        found = {key[len(base) :].decode(): self._read(record, key) for key in keys}
        return sorted(
            (row_id, row)
            for row_id, row in found.items()
            if row is not None and row_id.startswith(prefix)
        )

    def digest(self, key):
        value = self.store.get(key)
        return None if value is None else digest_row(key, value)

    def _read(self, record, key):
        return self.open[key][1] if key in self.open else self._stored(record, key)

    def _stored(self, record, key):
        data = self.store.get(key)
        return None if data is None else decode_row(record, data)


@settings(max_examples=300, deadline=None)
@example(
    [
        ("hold", "b", {(SeenRow, ""): 0}),
        ("release",),
        ("hold", "b", {(SeenRow, ""): None}),
        ("release",),
    ],
    0,
)
@given(st.lists(steps, max_size=40), st.sampled_from((0, 1_500, 4_000, 10**9)))
def test_the_cache_reads_what_a_dictionary_would(told, bytes_max):
    """Gets, scans, changes, releases and aborts of several users, with caches of any size."""
    model, cache = Model(), UserCache(bytes_max)
    for step in told:
        match step:
            case ("get", user, record, row_id):
                view = cache.view(model.store, "t", user)
                assert model.get(user, record, row_id) == view.get(record, row_id)
            case ("scan", user, record, prefix):
                view = cache.view(model.store, "t", user)
                assert model.scan(user, record, prefix) == list(view.scan(record, prefix))
            case ("hold", user, changes):
                made = {
                    key: None if number is None else ROWS[key[0]](number)
                    for key, number in changes.items()
                }
                cache.hold(cache.view(model.store, "t", user), made, None, b"")
                for (record, row_id), row in made.items():
                    key = row_key(user_prefix("t", user), record, row_id)
                    model.open[key] = (record, row)
            case ("release",):
                released = cache.release()
                found = [change for _, rows in released for change in rows]
                changes = {key: value for key, _, _, value in found}
                expected = {
                    key: None if row is None else ROW_FORMAT + encode(row)
                    for key, (_, row) in model.open.items()
                }
                assert expected == changes
                for key, before, _, _ in found:
                    assert before == model.digest(key)
                model.store.rows |= changes
                model.store.rows = {k: v for k, v in model.store.rows.items() if v is not None}
                for key, _, after, _ in found:
                    assert after == model.digest(key)
                model.open.clear()
            case ("drop",):
                cache.drop()
                model.open.clear()
