"""What carrying a call costs: the openai client beside the engine's transport. `make bench`.

The same 2,000 chat calls of 3 KB, 64 in flight, to the tests' loopback endpoint of its own process that answers after 50 ms; neither
stores nor reads anything. Prints the CPU of a call and the time as a ratio to the ideal (calls / 64 × 50 ms); asserts nothing.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

import openai
from engine import IN_FLIGHT, LATENCY
from loopback import endpoint

from harness.judges.http_judge import Endpoint
from harness.judges.transport import Transport

CALLS = 2_000
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "A text to be judged. " * 140}],
    "max_tokens": 100,
    "temperature": 0.0,
}


async def asked(send: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Milliseconds of CPU a call, and the ratio of all to the ideal."""
    numbers = iter(range(CALLS))

    async def worker() -> None:
        for _ in numbers:
            await send()

    await send()
    cpu, begin = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    ideal = math.ceil(CALLS / IN_FLIGHT) * LATENCY
    return (time.process_time() - cpu) / CALLS * 1000, (time.perf_counter() - begin) / ideal


async def by_client(url: str) -> tuple[float, float]:
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return await asked(lambda: client.chat.completions.create(**REQUEST))


async def by_transport(url: str) -> tuple[float, float]:
    target = Endpoint(url, "none")
    transport = Transport(target.completions_url("m"), target.headers, "host", timeout=60, on_this_machine=True)
    body = json.dumps(REQUEST).encode()
    try:
        return await asked(lambda: transport.post(body))
    finally:
        await transport.close()


def main() -> None:
    with endpoint(LATENCY) as url:
        found = {"the openai client": asyncio.run(by_client(url)), "the transport": asyncio.run(by_transport(url))}
    least = found["the transport"][0]
    print(f"carrying {CALLS:,} calls, {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight")
    for name, (cpu, ratio) in found.items():
        print(f"  {name:<42}{cpu:9.3f} ms CPU a call {cpu / least:6.1f} ×   {ratio:6.2f} × ideal")


if __name__ == "__main__":
    main()
