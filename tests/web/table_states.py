"""States of a table that a test sends to its page."""

from collections.abc import Callable

from playwright.async_api import Page, WebSocketRoute

# Scripts of modules run after the document has been read.
NO_FIRST_STATE = "document.onreadystatechange = () => document.getElementById('first-state')?.remove();"


async def route_states(page: Page, handle: Callable[[WebSocketRoute], object]) -> None:
    """Let ``handle`` send all states of a page that is loaded from now on. The page's own first state is removed."""
    await page.add_init_script(NO_FIRST_STATE)
    await page.route_web_socket("**/live*", handle)
