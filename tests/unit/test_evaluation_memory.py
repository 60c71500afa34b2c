"""evaluate precisionmembench: both arms, gating of recorded lists, and the provider contract."""

import asyncio
import json

import pytest
from aiohttp.test_utils import TestClient, TestServer
from typer.testing import CliRunner

from infra.cli.commands import app
from infra.evaluation.memory.arms import judge_structured, judge_text_only
from infra.evaluation.memory.beliefs import read_memory_sources
from infra.evaluation.memory.gating import judge_peers
from infra.evaluation.memory.provider import MemoryProvider, Text
from infra.evaluation.memory.service import MemoryService
from tests.published import read_published

runner = CliRunner()


def ignore(*_):
    """Take no notice of progress."""


def belief(name, *, scope="domain:code", **changes):
    """A belief as the file has it."""
    return {
        "_id": f"b-{name}", "user_id": "test-user", "type": "preference",
        "canonical_name": name, "aliases": [], "content": f"About {name}.", "scope": [scope],
        "pinned": False, "superseded_by": None, "resolved_at": None, **changes,
    }  # fmt: skip


BELIEFS = [
    belief("kettle_new", pinned=True),
    belief("kettle_old", superseded_by="b-kettle_new"),
    belief("teapot"),
    belief("kettle_drum", scope="domain:music"),
    belief("kettle_secret", user_id="other-user"),
    belief("brew_open", type="open_question", pinned=True),
    belief("brew_done", type="open_question", pinned=True, resolved_at="2026-01-01T00:00:00Z"),
    belief("tone", scope="user:universal", pinned=True, content="Plain words."),
]


def case(name, query, *, budget=None, **expect):
    """A case as the file has it."""
    found = {"caseId": name, "category": "c", "scope": ["domain:code"], "query": query,
             "expect": expect}  # fmt: skip
    return found if budget is None else {**found, "budget": {"maxBeliefs": budget}}


CASES = [
    case(
        "teapot", "which teapot", pinnedFacts={"mustInclude": ["b-kettle_new"]},
        relevantBeliefs={"shouldOnlyInclude": ["b-teapot"]},
        openQuestions={"mustInclude": ["b-brew_open"]},
        personaPrelude={"nonEmpty": True, "contains": ["Plain"]},
    ),
    case("one", "teapot", budget=1, pinnedFacts={"mustInclude": ["b-kettle_new"]},
         relevantBeliefs={"shouldOnlyInclude": []}),
]  # fmt: skip
EVERYTHING = [one["_id"] for one in BELIEFS]
PEERS = {
    "all": [
        {"caseId": one["caseId"], "pinnedBeliefs": ["b-kettle_new"],
         "relevantBeliefs": EVERYTHING, "retrievedQuestions": ["b-brew_open"], "passed": False}
        for one in CASES
    ],
    "right": [
        {"caseId": "teapot", "pinnedBeliefs": ["b-kettle_new"], "relevantBeliefs": ["b-teapot"],
         "retrievedQuestions": ["b-brew_open"], "passed": True}
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder in the benchmark's format."""
    source = tmp_path / "source"
    source.mkdir()
    for name, content in (("beliefs.seed", BELIEFS), ("retrieval_cases", CASES),
                          ("peer_outputs", PEERS)):  # fmt: skip
        (source / f"{name}.json").write_text(json.dumps(content))
    return source


@pytest.fixture
def sources(folder):
    """The content of that folder."""
    return read_memory_sources(folder)


def count_strange(row):
    """Return what may never come back, in one number."""
    return row.superseded + row.resolved + row.out_of_scope + row.other_user


def test_structured_beliefs_come_back_as_they_should(sources, tmp_path):
    """Pins, the question and the prelude come back; nothing superseded, foreign or out of scope."""
    rows = judge_structured(sources, tmp_path / "log", ignore)

    assert [()] * 2 == [row.failures for row in rows]
    assert [0, 0] == [count_strange(row) for row in rows]
    assert [(2, 2), (1, 1)] == [(row.musts, row.musts_present) for row in rows]


def test_a_pinned_belief_takes_the_only_place(sources, tmp_path):
    """With room for one belief the pinned one is it, whatever the query matches."""
    row = judge_structured(sources, tmp_path / "log", ignore)[1]

    assert (True, None) == (row.passed, row.precision)


def test_text_alone_knows_no_supersession(sources, tmp_path):
    """From texts alone what is superseded comes back, and is reported; other users' never."""
    kettle = [{**CASES[0], "query": "kettle_old"}]
    (tmp_path / "source" / "retrieval_cases.json").write_text(json.dumps(kettle))
    (row,) = judge_text_only(read_memory_sources(tmp_path / "source"), tmp_path, ignore)

    assert (1, 0, False) == (row.superseded, row.other_user, row.passed)


def test_lcv_keeps_the_valid_part_of_a_recorded_list(sources, tmp_path):
    """Behind LCV a list of everything loses what is strange; a right one is committed."""
    rows = {(row.arm, row.case_id): row for row in judge_peers(sources, tmp_path / "log", ignore)}

    assert count_strange(rows["all", "teapot"]) == 4
    gated = rows["all +LCV", "teapot"]
    assert (0, "abstain") == (count_strange(gated), gated.act)
    right = rows["right +LCV", "teapot"]
    assert ("commit", True) == (right.act, right.passed)


def test_a_provider_keeps_users_apart_and_replaces_by_id(tmp_path):
    """A search sees its user's texts only, the newest of each id, and no more than its limit."""
    provider = MemoryProvider(tmp_path)
    provider.add(Text(text="old kettle", user="ada", memory_id="k"))
    provider.add(Text(text="new kettle", user="ada", memory_id="k"))
    provider.add(Text(text="kettle stand", user="ada"))
    provider.add(Text(text="kettle secret", user="bob", memory_id="s"))

    found = provider.search(query="kettle", user="ada", limit=5)
    assert {"new kettle", "kettle stand"} == {one.text for one in found}
    assert 1 == len(provider.search(query="kettle", user="ada", limit=1))
    assert () == provider.search(query="kettle", user="cleo", limit=5)
    provider.reset()
    assert () == provider.search(query="kettle", user="ada", limit=5)
    provider.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("How should we use our kettle?", ["kettle"]),
        ("I don't want the teapot; what else is there?", ["teapot"]),
        ("Und was ist mit der kettle?", ["kettle"]),
        ("What is it?", ["kettle", "teapot"]),
    ],
)
def test_words_of_grammar_find_nothing_while_others_are_there(query, found, tmp_path):
    """A query finds by the words that name something; one of grammar alone by all it has."""
    provider = MemoryProvider(tmp_path)
    provider.add(Text(text="The kettle is what we should use.", user="ada", memory_id="kettle"))
    provider.add(Text(text="How is our teapot? There it is.", user="ada", memory_id="teapot"))

    assert found == sorted(
        one.memory_id for one in provider.search(query=query, user="ada", limit=9)
    )
    provider.close()


def test_the_service_speaks_the_contract(tmp_path):
    """Add, search and reset answer as the harness reads them; mistakes name their field."""

    async def call():
        client = TestClient(TestServer(MemoryService(MemoryProvider(tmp_path)).build()))
        async with client:
            body = {"text": "redis_cache Redis", "user_id": "u",
                    "metadata": {"beliefId": "b-redis", "scope": "domain:code"}}  # fmt: skip
            added = await client.post("/add", json=body)
            asked = {"query": "Redis?", "user_id": "u", "limit": 20}
            found = await (await client.post("/search", json=asked)).json()
            wrong = await client.post("/add", json={"user_id": "u"})
            told = await wrong.json()
            page = await client.delete("/reset", headers={"Origin": "http://elsewhere"})
            assert 403 == page.status
            await client.delete("/reset")
            empty = await (await client.post("/search", json=asked)).json()
            return added.status, found, wrong.status, told, empty

    status, found, wrong, told, empty = asyncio.run(call())

    assert (200, 400) == (status, wrong)
    assert ["b-redis"] == [one["id"] for one in found["results"]]
    assert "text" in told["error"]
    assert {"results": []} == empty


def test_the_command_prints_both_arms_and_the_recorded_systems(folder, tmp_path):
    """Arms, recorded systems and the same behind LCV stand in the JSON; a page is written."""
    out = tmp_path / "out"
    command = ["evaluate", "precisionmembench", str(folder), "--out", str(out), "--json"]
    printed = json.loads(runner.invoke(app, command, catch_exceptions=False).stdout)

    assert ["structured", "text-only"] == list(printed["summary"])
    assert [0, 1] == [one["passed_as_recorded"] for one in printed["recorded_systems"]]
    assert [0, 1] == [one["passed"] for one in printed["recorded_systems"]]
    assert ["all +LCV", "right +LCV"] == [one["arm"] for one in printed["behind_lcv"]]
    told = read_published(out)
    assert not [one["content"] for one in BELIEFS if one["content"] in told]


def test_a_folder_of_another_format_is_refused(tmp_path):
    """What is missing is named, with the remedy."""
    refused = runner.invoke(app, ["evaluate", "precisionmembench", str(tmp_path), "--json"])

    assert 2 == refused.exit_code
    assert "beliefs.seed.json" in json.loads(refused.stderr)["error"]
