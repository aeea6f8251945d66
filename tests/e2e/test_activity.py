"""The Activity in Chromium: a page of Discord shows ours in a frame, through Discord's proxy."""

import json
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, Frame

from bot.store import EmbeddedStore, open_store
from tests.browser import ONE_BROWSER, launch_browser
from tests.discord.players import seat_people, until
from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer
from tests.discord.test_activity import launch, with_activity
from tests.e2e.app_proxy import AppProxy

pytestmark = ONE_BROWSER

BLOCKS_COOKIES = "--test-third-party-cookie-phaseout"  # of other sites' frames, unless they are partitioned

# The page of Discord's app. It answers the frame as github.com/discord/embedded-app-sdk (src/Discord.ts) expects it.
CLIENT = """
<!doctype html><style>body {{ margin: 0 }} iframe {{ border: 0; width: 100vw; height: 100vh }}</style>
<script>
const HANDSHAKE = 0, FRAME = 1, CLOSE = 2, calls = [];
addEventListener("message", ({{ origin, source, data: [opcode, sent] }}) => {{
  if (origin !== "https://1000.discordsays.com") return;
  calls.push(sent);
  if (location.pathname === "/silent") return;
  if (location.pathname === "/closed") source.postMessage([CLOSE, {{ code: 1000, message: "Bye" }}], origin);
  const answer = (content) => source.postMessage([FRAME, content], origin);
  if (opcode === HANDSHAKE && sent.v === 1 && sent.encoding === "json" && sent.client_id === "1000"
      && sent.frame_id === "frame")
    answer({{ cmd: "DISPATCH", evt: "READY", data: {{ v: 1, config: {{}} }}, nonce: null }});
  else if (sent.cmd === "AUTHORIZE" && sent.args.client_id === "1000" && sent.args.scope.join() === "identify")
    answer({{ cmd: "AUTHORIZE", evt: null, data: {{ code: {code} }}, nonce: sent.nonce }});
}});
</script>
<iframe src="https://1000.discordsays.com/?{query}"></iframe>
"""


async def test_activity_leads_from_launch_to_the_first_card(tmp_path: Path) -> None:
    server = DiscordServer(seconds=PATIENCE)
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    valkey = EmbeddedStore(tmp_path)
    await valkey.start()
    try:
        async with open_store(valkey.url) as store, with_activity(store, server) as (adapter, site, _frame):
            people = await seat_people(server, "metamazzo")
            [table] = await adapter.worker.room.lists.tables_of("discord:1")
            code = table.code
            seat = table.game.turn if table.game else None
            assert seat is not None
            instance = await launch(people[seat], server)
            query = {"instance_id": instance, "frame_id": "frame", "platform": "mobile", "mobile_app_version": "260.1"}
            consent = json.dumps(server.activities.authorize(people[seat].number))
            proxy = AppProxy(site.port, "discord.com", CLIENT.format(code=consent, query=urlencode(query)))
            async with proxy.serve(tmp_path) as port:
                names = ",".join(f"MAP {name} 127.0.0.1:{port}" for name in ("discord.com", "*.discordsays.com"))
                flags = "--ignore-certificate-errors", f"--host-resolver-rules={names}", BLOCKS_COOKIES
                async with launch_browser(*flags) as browser:
                    context = await browser.new_context(
                        viewport={"width": 360, "height": 640}, has_touch=True, ignore_https_errors=True
                    )
                    page = await context.new_page()
                    await page.goto("https://discord.com/app")
                    frame = page.frame_locator("iframe")
                    card = frame.locator(".fan .tap.playable").first
                    await card.wait_for(timeout=30_000)
                    [activity_frame] = [part for part in page.frames if part != page.main_frame]
                    assert activity_frame.url == f"https://1000.discordsays.com/t/{code}"
                    played_card = str(await card.get_attribute("data-card"))
                    await page.screenshot(path=tmp_path / "activity.png")
                    await card.tap()

                    def is_played() -> bool:
                        current = adapter.worker.room.cached_table(code)
                        return bool(
                            current
                            and current.game
                            and any(played_card in move for _, move, *_ in current.game.history(0))
                        )

                    await until(is_played)
                    await _check_cookie(context, activity_frame)
                    calls = await page.evaluate("calls")
                    assert [call.get("cmd", "handshake") for call in calls] == ["handshake", "AUTHORIZE"]
                    # Discord ends the connection, or does not answer.
                    await page.goto("https://discord.com/closed")
                    await frame.get_by_text("Discord has ended the connection").wait_for()
                    calls = await page.evaluate("calls")
                    assert [call.get("cmd", "handshake") for call in calls] == ["handshake"]
                    await page.clock.install()
                    await page.goto("https://discord.com/silent")
                    await frame.get_by_text("Opening the table").wait_for()
                    await page.clock.fast_forward(20_000)
                    await frame.get_by_text("Discord doesn’t answer right now").wait_for()
    finally:
        await valkey.stop()
        await server.stop()


async def _check_cookie(context: BrowserContext, frame: Frame) -> None:
    """Check that the browser keeps the session's cookie, but no cookie that is not partitioned."""
    [cookie] = [entry for entry in await context.cookies() if entry["name"] == "buongioco_framed"]
    assert cookie["sameSite"] == "None"
    probe = "document.cookie = 'probe=1; Secure; SameSite=None; Path=/{}'; document.cookie"
    assert "probe" not in await frame.evaluate(probe.format(""))
    assert "probe" in await frame.evaluate(probe.format("; Partitioned"))
