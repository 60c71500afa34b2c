"""The booking desk of the examples: whatever an agent proposes, the user's word decides."""

from examples.booking import open_desk


def test_an_agent_cannot_book_what_the_user_did_not_confirm(tmp_path):
    """Eager for five: asked back; confirmed two: five is refused, two is committed."""
    with open_desk(tmp_path / "log", "ada") as desk:
        desk.hear(day="Monday", seats=2)
        desk.propose("Monday", 5)
        asked = desk.question
        desk.answer(yes=True)
        desk.propose("Monday", 5)
        desk.propose("Monday", 2)

    assert asked is not None
    assert ["repair", "repair", "commitment"] == [line.split(":")[0] for line in desk.said]
    assert "5" not in " ".join(desk.said)
