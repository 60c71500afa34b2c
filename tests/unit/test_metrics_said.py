"""Metrics and health of a worker that folds an encrypted log say numbers and places, never words.

Neither before an erasure nor after it; what they count is there.
"""

import asyncio
import re

import pytest
from aiohttp.test_utils import TestClient, TestServer

from infra.opening import open_embedded
from infra.operations import build_app
from infra.reducers import build_reducer
from schemas.topics import TOPICS
from streams.clock import SystemClock
from streams.folder import Folder
from streams.lane import Lane, Phase, describe
from streams.ledger import Ledger
from streams.row_store import open_writer
from tests.canary import CANARY, erase_user, make_folder

PAGES = ("/metrics", "/readyz", "/healthz")
LABEL = re.compile(r'(\w+)="([^"]*)"')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folded encrypted log of two users who put the canary into everything."""
    return make_folder(tmp_path, monkeypatch)


def scrape(folder):
    """Return what the endpoints of a worker say whose one ledger stands at the end of the log."""
    with open_embedded(folder) as embedded:
        store = open_writer(Folder(folder).rows)
        try:
            reducer = build_reducer(opener=embedded.opener)
            ledger = Ledger(log=embedded.log, store=store, reducer=reducer, clock=SystemClock())
            ledger.start()
            return read_pages(Lane(0, Phase.FOLDING, ledger=ledger, events=ledger.fold_batch()))
        finally:
            store.close()


def read_pages(lane):
    """Return the pages of a worker with this lane, as HTTP gives them."""

    async def ask():
        async with TestClient(TestServer(build_app(lambda: [lane]))) as client:
            return {page: await (await client.get(page)).text() for page in PAGES}

    return asyncio.run(ask())


def test_no_metric_says_a_word_of_who_was_erased(folder):
    """Before and after, labels are partitions and topics; the counts show that there was much."""
    before = scrape(folder)
    erase_user(folder, "ada")
    erase_user(folder, "bob")
    after = scrape(folder)
    told = before["/metrics"] + after["/metrics"]
    topics = {topic.name for topic in TOPICS}

    assert 'commitments_outputs_total{partition="0",topic="commitments"} 2.0' in before["/metrics"]
    assert {"partition", "topic"} == {name for name, _ in LABEL.findall(told)}
    assert {value for _, value in LABEL.findall(told)} <= {"0", *topics}
    for page in (*before.values(), *after.values()):
        assert not any(word in page for word in (CANARY, '"ada"', '"bob"', "acme"))


def test_a_stopped_ledger_says_why_without_words():
    """Health shows the reason of a stop, and of an exception of others its type and place."""
    try:
        int(CANARY)
    except ValueError as error:
        lane = Lane(0, Phase.STOPPED, reason=describe(error))
    pages = read_pages(lane)

    assert "ValueError in test_a_stopped_ledger" in pages["/readyz"]
    assert not any(CANARY in page for page in pages.values())
