"""An agent of pydantic-ai whose one tool goes through the control point.

Run it with ``make example``. The model is a local function that answers as a small model might,
and calls nothing; any other model of pydantic-ai can stand in its place.
"""

import sys
import tempfile
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from examples.booking import Desk, open_desk


def simulate(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer as a model might: call the tool, eagerly for five, then say what came of it."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(str(last.content))])
    words = str(getattr(last, "content", ""))
    seats = 2 if "two" in words else 5
    tool = info.function_tools[0].name
    return ModelResponse(parts=[ToolCallPart(tool, {"day": "Monday", "seats": seats})])


def talk(desk: Desk) -> list[str]:
    """Carry on a whole conversation and return what the agent said."""
    agent = Agent(FunctionModel(simulate), instructions="Book tables. Say what the tool says.")

    @agent.tool_plain
    def book_table(day: str, seats: int) -> str:
        """Book a table for so many on a day."""
        return desk.propose(day, seats)

    said = []
    desk.hear(day="Monday", seats=2)
    said.append(agent.run_sync("I need a table on Monday").output)
    desk.answer(yes=True)
    said.append(agent.run_sync("I need a table on Monday").output)
    said.append(agent.run_sync("For two, on Monday").output)
    return said


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open_desk(Path(folder) / "log", "ada") as opened:
        for line in talk(opened):
            sys.stdout.write(f"agent: {line}\n")
        for line in opened.said:
            sys.stdout.write(f"control point: {line}\n")
