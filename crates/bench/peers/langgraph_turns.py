"""What the same turns cost in LangGraph: one call in each, streaming, nothing stored.

Takes the server's address, the number of turns and of runs; prints the seconds of the median run.
"""

import sys
import time

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def bench__haul(n: str = "") -> str:
    """Hauls."""
    return "hauled"


def run(agent, turns: int) -> float:
    begun = time.perf_counter()
    haul = {"messages": [("user", "Haul.")]}
    for _ in agent.stream(haul, {"recursion_limit": 4 * turns + 10}, stream_mode="values"):
        pass
    return time.perf_counter() - begun


def main() -> None:
    base_url, turns, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model = ChatOpenAI(base_url=base_url, api_key="none", model="scripted", streaming=True)
    agent = create_agent(model, [bench__haul])
    took = sorted(run(agent, turns) for _ in range(runs))
    print(took[len(took) // 2])


main()
