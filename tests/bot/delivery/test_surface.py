"""The state machine of one surface, one transition at a time, without a platform, store or clock."""

import json

import pytest

from bot.delivery.message_state import UNKNOWN, MessageState, Outdated, State
from bot.delivery.surface import Attempt, Change, Delete, Edit, Replace, Send, Surface, decode_change, encode_change
from bot.delivery.surface_names import Board, Hand
from bot.panel import Panel, Span
from bot.panels.drafts import NO_DRAFT, Draft
from bot.platform import SentMessage, private_place

HOME = private_place("paper:1")
IN_GROUP = "paper:@1~100!token"
IN_GROUP_LATER = "paper:@1~100!another token"
OLD, NEW = Panel((Span("old"),)), Panel((Span("new"),))
SHOWN = MessageState("7", OLD.digest, "tag", 3, 1000)


def make_surface(state: MessageState = SHOWN) -> Surface:
    return Surface(Hand(0), state)


def absent_surface(**fields: object) -> Surface:
    return make_surface(SHOWN._replace(message="", digest=UNKNOWN)._replace(**fields))  # type: ignore[arg-type]


def send(surface: Surface, place: str = HOME) -> bool:
    return surface.finish_send(surface.begin_send(NEW.digest), place, SentMessage("8"), 1, 2000)


# Next steps


def test_absent_message_is_sent() -> None:
    assert absent_surface().next_step(NEW, 1, rings=False) == Send(NEW, 1)


def test_message_with_another_panel_is_edited() -> None:
    assert make_surface().next_step(NEW, 1, rings=False) == Edit(SentMessage("7", is_certain=False), NEW, 1)


def test_message_with_the_wanted_panel_stays() -> None:
    assert make_surface().next_step(OLD, 1, rings=False) is None
    assert make_surface().is_up_to_date(OLD)
    assert not make_surface().is_up_to_date(NEW)


def test_ringing_or_requested_message_is_replaced() -> None:
    assert make_surface().next_step(OLD, 2, rings=True) == Replace(OLD, 2)
    requested = make_surface()
    requested.apply(Change(repost=True), HOME, 2000)
    assert not requested.is_up_to_date(OLD)
    assert requested.next_step(OLD, 0, rings=False) == Replace(OLD, 0)


def test_outdated_messages_are_deleted_after_a_new_one() -> None:
    outdated = (Outdated("5"), Outdated("6", "paper:@9"))
    assert make_surface(SHOWN._replace(outdated=outdated)).next_deletion() == Delete(outdated[0])
    assert absent_surface(outdated=outdated).next_deletion() is None
    assert make_surface().next_deletion() is None
    assert not make_surface(SHOWN._replace(outdated=outdated)).is_up_to_date(OLD)


# Sending


def test_sent_message_sets_the_state_to_shown() -> None:
    surface = absent_surface()
    assert send(surface)
    assert surface.message_state == MessageState("8", NEW.digest, "tag", 4, 2000, urgency=1)
    assert surface.state is State.SHOWN


def test_failed_send_keeps_its_number() -> None:
    surface = absent_surface()
    assert [surface.begin_send(NEW.digest).number for _ in range(3)] == [4, 4, 4]
    send(surface)
    assert surface.begin_send(NEW.digest).number == 5


def test_cancelled_send_leaves_the_next_one_certain() -> None:
    surface = absent_surface()
    surface.cancel_send(surface.begin_send(OLD.digest))
    assert surface.begin_send(NEW.digest).digest == NEW.digest


def test_cancelled_send_keeps_earlier_uncertainty() -> None:
    surface = absent_surface()
    surface.begin_send(OLD.digest)
    surface.cancel_send(surface.begin_send(OLD.digest))
    assert surface.begin_send(NEW.digest).digest == UNKNOWN


def test_uncertain_send_has_an_unknown_digest_and_is_edited() -> None:
    surface = absent_surface()
    assert surface.begin_send(OLD.digest).digest == OLD.digest
    assert surface.begin_send(OLD.digest).digest == OLD.digest
    assert surface.begin_send(NEW.digest).digest == UNKNOWN
    # The digest stays unknown, because either message could have arrived first.
    assert surface.begin_send(NEW.digest).digest == UNKNOWN
    assert surface.finish_send(surface.begin_send(NEW.digest), HOME, SentMessage("8"), 1, 2000)
    assert surface.next_step(NEW, 1, rings=False) == Edit(SentMessage("8"), NEW, 1)
    # The next send is a different message.
    surface.forget_message("8")
    assert surface.begin_send(NEW.digest).digest == NEW.digest


def test_only_the_first_inherited_send_is_unknown() -> None:
    heir = Surface(Hand(0), absent_surface().message_state, inherited=True)
    assert heir.begin_send(NEW.digest).digest == UNKNOWN
    assert send(heir)
    assert heir.message_state.digest == UNKNOWN
    assert heir.begin_send(NEW.digest).digest == NEW.digest


def test_message_sent_to_an_abandoned_place_is_outdated() -> None:
    surface = absent_surface()
    attempt = surface.begin_send(NEW.digest)
    surface.apply(Change(repost=True, place=IN_GROUP), HOME, 1500)
    assert not surface.finish_send(attempt, HOME, SentMessage("8"), 1, 2000)
    assert surface.message_state.message == ""
    assert surface.message_state.sent == 4
    assert surface.message_state.outdated == (Outdated("8", HOME),)
    assert surface.next_step(NEW, 1, rings=False) == Replace(NEW, 1)


def test_group_message_stays_valid_with_another_token() -> None:
    surface = absent_surface(ephemeral=IN_GROUP)
    attempt = surface.begin_send(NEW.digest)
    surface.apply(Change(place=IN_GROUP_LATER), HOME, 1500)
    assert surface.finish_send(attempt, IN_GROUP, SentMessage("8"), 1, 2000)
    assert (surface.message_state.message, surface.message_state.ephemeral) == ("8", IN_GROUP_LATER)


def test_message_for_a_former_player_is_outdated() -> None:
    surface = absent_surface()
    attempt = surface.begin_send(NEW.digest)
    surface.set_place_tag("another tag")
    assert not surface.finish_send(attempt, HOME, SentMessage("8"), 1, 2000)
    assert surface.message_state.message == ""
    assert surface.message_state.outdated == (Outdated("8", HOME),)


# Replacing, editing, deleting


def test_outdate_outdates_the_message_once() -> None:
    surface = make_surface()
    surface.take_unsaved()
    surface.outdate()
    assert surface.message_state == SHOWN._replace(message="", digest=UNKNOWN, outdated=(Outdated("7"),))
    assert surface.take_unsaved() == surface.message_state
    surface.outdate()
    assert surface.message_state.outdated == (Outdated("7"),)


def test_repost_request_sends_one_message() -> None:
    surface = make_surface()
    surface.apply(Change(repost=True), HOME, 2000)
    surface.outdate()
    assert surface.wants_repost, "a crash or an error before the send must not lose the request"
    send(surface)
    assert not surface.wants_repost
    assert surface.next_deletion() == Delete(Outdated("7"))


def test_edited_message_shows_the_panel() -> None:
    surface = make_surface(SHOWN._replace(draft=Draft(4, "x"), outdated=(Outdated("5"),), ephemeral=IN_GROUP))
    surface.finish_edit(SentMessage("7"), NEW.digest, 2)
    assert surface.message_state == MessageState(
        "7", NEW.digest, "tag", 3, 1000, "", 2, Draft(4, "x"), (Outdated("5"),), IN_GROUP
    )


def test_edit_of_a_replaced_message_is_ignored() -> None:
    surface = make_surface()
    surface.finish_edit(SentMessage("6"), NEW.digest, 2)
    assert surface.message_state == SHOWN


def test_only_a_forgotten_current_message_is_sent_again() -> None:
    surface = make_surface()
    surface.forget_message("6")
    assert surface.message_state == SHOWN
    surface.forget_message("7")
    assert surface.state is State.ABSENT
    assert surface.next_step(OLD, 1, rings=False) == Send(OLD, 1)


def test_deleted_message_leaves_the_outdated_list_after_a_move() -> None:
    surface = make_surface(SHOWN._replace(outdated=(Outdated("5"), Outdated("6"))))
    surface.apply(Change(place=IN_GROUP), HOME, 2000)
    assert list(surface.message_state.outdated) == [Outdated("5", HOME), Outdated("6", HOME), Outdated("7", HOME)]
    surface.remove_outdated(Outdated("5"))
    assert list(surface.message_state.outdated) == [Outdated("6", HOME), Outdated("7", HOME)]


# Giving up and returning


@pytest.mark.parametrize(
    ("place", "state"), [(HOME, State.UNREACHABLE), ("paper:100", State.DROPPED), (IN_GROUP, State.ABSENT)]
)
def test_unreachable_surface_halts_or_returns_home(place: str, state: State) -> None:
    surface = make_surface(SHOWN._replace(ephemeral=IN_GROUP if place == IN_GROUP else ""))
    surface.apply(Change(repost=True), HOME, 2000)
    assert surface.give_up(place) is state
    assert surface.state is state
    assert (surface.message_state.message, surface.message_state.ephemeral, surface.wants_repost) == ("", "", False)


@pytest.mark.parametrize(
    "change", [Change(repost=True), Change(place=HOME), Change(pressed="4"), Change(place=IN_GROUP)]
)
def test_press_or_request_ends_a_halt(change: Change) -> None:
    for halted in ("unreachable", "dropped"):
        surface = absent_surface(halted=halted)
        surface.apply(change, HOME, 2000)
        assert surface.state is State.ABSENT


def test_change_for_waiting_surfaces_does_not_affect_others() -> None:
    change = Change(place=HOME, if_waiting=True)
    for surface in (make_surface(), make_surface(SHOWN._replace(ephemeral=IN_GROUP)), absent_surface()):
        before = surface.message_state
        surface.apply(change, HOME, 2000)
        assert surface.message_state == before
    waiting_surface = absent_surface(halted="unreachable")
    waiting_surface.apply(change, HOME, 2000)
    assert waiting_surface.state is State.ABSENT


@pytest.mark.parametrize(
    "change",
    [Change(repost=True), Change(place=HOME), Change(place=HOME, if_waiting=True), Change(pressed="7"), Change()],
)
def test_change_during_a_call_marks_the_surface_as_used(change: Change) -> None:
    surface = make_surface()
    surface.apply(Change(repost=True), HOME, 2000)
    surface.begin_call()
    assert not surface.is_used
    surface.apply(change, HOME, 2000)
    assert surface.is_used == (change != Change())


def test_press_during_a_call_marks_the_surface_as_used() -> None:
    surface = make_surface()
    surface.begin_call()
    surface.record_press(Change(pressed="7", place=HOME), HOME, 2000)
    assert surface.is_used


def test_draft_alone_does_not_end_a_halt() -> None:
    surface = absent_surface(halted="unreachable")
    surface.apply(Change(draft=Draft(4, "x")), HOME, 2000)
    assert surface.state is State.UNREACHABLE


def test_group_hand_waits_for_a_press() -> None:
    surface = absent_surface()
    surface.wait_for_press()
    assert surface.state is State.UNREACHABLE
    surface.apply(Change(repost=True, place=IN_GROUP), HOME, 2000)
    assert (surface.state, surface.message_state.ephemeral) == (State.ABSENT, IN_GROUP)


def test_genuine_press_revives_a_finished_surface() -> None:
    surface = make_surface()
    surface.finish()
    assert surface.message_state == MessageState(place_tag="tag", halted="done")
    surface.apply(Change(pressed="6"), HOME, 2000)
    assert surface.message_state.halted == "done", "an unproven press could name any message"
    surface.apply(Change(pressed="6", genuine=True), HOME, 2000)
    assert surface.state is State.SHOWN
    assert surface.next_step(OLD, 0, rings=False) == Edit(SentMessage("6", is_certain=False), OLD, 0)


def test_new_place_tag_starts_with_an_empty_state() -> None:
    surface = make_surface()
    surface.set_place_tag("tag")
    assert surface.message_state == SHOWN
    surface.set_place_tag("another tag")
    assert surface.message_state == MessageState(place_tag="another tag")


# Presses


def test_press_on_the_message_updates_only_seen_time_and_token() -> None:
    surface = make_surface()
    assert surface.record_press(Change(pressed="7", place=HOME), HOME, 2000)
    assert surface.message_state == SHOWN._replace(seen_at=2000)
    group_surface = make_surface(SHOWN._replace(ephemeral=IN_GROUP))
    assert group_surface.record_press(Change(pressed="7", place=IN_GROUP_LATER), HOME, 2000)
    assert group_surface.message_state == SHOWN._replace(seen_at=2000, ephemeral=IN_GROUP_LATER)


@pytest.mark.parametrize(
    "change",
    [
        Change(pressed="6", place=HOME),
        Change(pressed="8", place=HOME),
        Change(pressed="7", place=IN_GROUP),
        Change(pressed="7", draft=Draft(4, "x")),
        Change(pressed="7", repost=True),
        Change(),
    ],
)
def test_other_changes_do_not_count_as_a_press(change: Change) -> None:
    surface = make_surface()
    assert not surface.record_press(change, HOME, 2000)
    assert surface.message_state == SHOWN


def test_pressed_duplicate_is_outdated_once() -> None:
    surface = make_surface()
    for _ in range(2):
        surface.apply(Change(pressed="6", place=HOME, genuine=True), HOME, 2000)
    assert surface.message_state == SHOWN._replace(seen_at=2000, outdated=(Outdated("6"),))


@pytest.mark.parametrize(
    "change",
    [Change(pressed=message, place=IN_GROUP) for message in "5679"] + [Change(pressed=message) for message in "58"],
)
def test_forged_press_touches_no_message(change: Change) -> None:
    state = SHOWN._replace(outdated=(Outdated("6"), Outdated("8", IN_GROUP), Outdated("9", "paper:@1~200!token")))
    surface = make_surface(state)
    surface.apply(change, HOME, 2000)
    assert surface.message_state == state


def test_press_on_a_known_outdated_message_counts() -> None:
    surface = make_surface(SHOWN._replace(outdated=(Outdated("5"), Outdated("6", IN_GROUP))))
    surface.apply(Change(pressed="5", place=HOME), HOME, 2000)
    assert surface.message_state.seen_at == 2000
    surface.apply(Change(pressed="6", place=IN_GROUP_LATER), HOME, 3000)
    assert (surface.message_state.seen_at, surface.message_state.message, surface.message_state.ephemeral) == (
        3000,
        "6",
        IN_GROUP_LATER,
    )


def test_move_to_another_place_outdates_messages() -> None:
    surface = make_surface(SHOWN._replace(outdated=(Outdated("5"),)))
    surface.apply(Change(place=IN_GROUP), HOME, 2000)
    assert surface.message_state.outdated == (Outdated("5", HOME), Outdated("7", HOME))
    assert (surface.message_state.message, surface.message_state.ephemeral) == ("", IN_GROUP)
    send(surface, place=IN_GROUP)
    surface.apply(Change(place=HOME), HOME, 3000)
    assert surface.message_state.outdated[-1] == Outdated("8", IN_GROUP)
    assert (surface.state, surface.message_state.ephemeral) == (State.ABSENT, "")


def test_draft_is_for_one_version() -> None:
    surface = make_surface()
    surface.apply(Change(draft=Draft(4, "busso")), HOME, 2000)
    surface.apply(Change(pressed="7", place=HOME), HOME, 2000)
    assert surface.message_state.draft.choice_at(4) == "busso"
    assert surface.message_state.draft.choice_at(5) == ""
    surface.apply(Change(draft=NO_DRAFT), HOME, 2000)
    assert surface.message_state.draft.choice_at(4) == ""


def test_picture_data_belongs_to_the_current_message() -> None:
    surface = make_surface(SHOWN._replace(picture="0a1b"))
    assert surface.record_press(Change(pressed="7", place=HOME), HOME, 2000)
    assert surface.next_step(NEW, 1, rings=False) == Edit(SentMessage("7", "0a1b", is_certain=False), NEW, 1)
    surface.begin_edit()
    surface.finish_edit(SentMessage("7", "2c3d"), NEW.digest, 1)
    assert surface.message_state.picture == "2c3d"
    surface.outdate()
    assert surface.message_state.picture == ""


def test_content_is_uncertain_only_during_an_edit() -> None:
    surface = absent_surface()
    send(surface)
    assert surface.next_step(OLD, 1, rings=False) == Edit(SentMessage("8"), OLD, 1)
    surface.begin_edit()
    assert surface.next_step(OLD, 1, rings=False) == Edit(SentMessage("8", is_certain=False), OLD, 1)
    surface.finish_edit(SentMessage("8"), OLD.digest, 1)
    assert surface.next_step(NEW, 1, rings=False) == Edit(SentMessage("8"), NEW, 1)


def test_outdated_group_messages_are_deleted_in_the_group() -> None:
    surface = make_surface(SHOWN._replace(ephemeral=IN_GROUP, outdated=(Outdated("5"), Outdated("6", HOME))))
    surface.give_up(IN_GROUP)
    assert surface.message_state.outdated == (Outdated("5", IN_GROUP), Outdated("6", HOME))


# Saving and caching


def test_changed_state_is_saved_once_unless_lost() -> None:
    surface = Surface(Board(1, 0))
    surface.set_place_tag("tag")
    assert surface.take_unsaved() == surface.message_state
    assert surface.take_unsaved() is None
    surface.finish_send(Attempt(1, NEW.digest, "tag", None), "paper:100", SentMessage("8"), 0, 2000)
    assert surface.take_unsaved() == surface.message_state
    surface.forget_saved()
    assert surface.take_unsaved() == surface.message_state
    assert make_surface().take_unsaved() is None, "a loaded state is saved already"


def test_panel_is_cached_until_its_key_changes() -> None:
    surface = make_surface()
    assert surface.cached_panel((1, "")) is None
    surface.cache_panel((1, ""), OLD)
    assert surface.cached_panel((1, "")) is OLD
    assert surface.cached_panel((2, "")) is None
    surface.cache_panel(None, None)
    assert surface.cached_panel((1, "")) is None


@pytest.mark.parametrize("draft", [None, NO_DRAFT, Draft(4), Draft(4, "2C,3D"), Draft(0, "game")])
def test_changes_round_trip(draft: Draft | None) -> None:
    for if_waiting in (False, True):
        change = Change("7", draft, repost=True, place=IN_GROUP, genuine=True, if_waiting=if_waiting)
        assert decode_change(json.loads(json.dumps(encode_change(change)))) == change
