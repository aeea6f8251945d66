"""The readers of `benchmarks.pages`, in their own process: `python -m benchmarks.page_readers PORT`.

The first input line is JSON: path and cookie of each page. When all pages show something, the process
prints a line. At the end of its input it prints when each page first showed each version, in seconds of the machine's
monotonic clock.
"""

import asyncio
import json
import re
import sys
import time

from aiohttp import ClientSession, WSMsgType

VERSION = re.compile(r'"version":(\d+)')
AT_ONCE = 50  # connections opened at a time


async def read(port: int, pages: list[tuple[str, str]]) -> None:
    times_by_page: list[dict[int, float]] = [{} for _ in pages]
    gate = asyncio.Semaphore(AT_ONCE)
    url = f"http://127.0.0.1:{port}"

    async def follow(page: int, path: str, cookie: str, has_begun: asyncio.Event) -> None:
        headers = {"Origin": url, "Cookie": cookie}
        async with ClientSession() as session, session.ws_connect(f"{url}{path}", headers=headers) as socket:
            async for message in socket:
                if message.type is WSMsgType.TEXT and (version_match := VERSION.search(message.data)):
                    times_by_page[page].setdefault(int(version_match[1]), time.monotonic())
                    has_begun.set()

    async def begin(page: int, path: str, cookie: str) -> asyncio.Task[None]:
        async with gate:
            has_begun = asyncio.Event()
            task = asyncio.create_task(follow(page, path, cookie, has_begun))
            begin_wait = asyncio.create_task(has_begun.wait())
            await asyncio.wait([task, begin_wait], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                begin_wait.cancel()
                await task
                raise ConnectionError(f"the page {path} was closed before it showed anything")
            return task

    tasks = await asyncio.gather(*(begin(page, *page_address) for page, page_address in enumerate(pages)))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    sys.stdout.write(json.dumps(times_by_page))
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(read(int(sys.argv[1]), json.loads(sys.stdin.readline())))
