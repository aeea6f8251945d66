"""Panels and their writer."""

from bot.panel import Button, Column, Grid, Panel, Role, Span, Writer


def test_adjacent_texts_of_one_style_merge() -> None:
    page = Writer()
    page.gap()
    page.line("{game} · {code}", game=Span("Metà Mazzo", "bold"), code=Span("ABCD", "code"))
    page.line("{name} leads", name="Ada")
    page.gap()
    page.gap()
    page.line("♠ A 2", "bold")
    page.line("♥ 3", "bold")
    page.gap()
    page.line("Your turn.", "bold")
    page.gap()
    assert page.panel().text == (
        Span("Metà Mazzo", "bold"),
        Span(" · "),
        Span("ABCD", "code"),
        Span("\nAda leads\n\n"),
        Span("♠ A 2\n♥ 3\n", "bold"),
        Span("\n"),
        Span("Your turn.", "bold"),
    )


def test_mentions_stay_separate_spans() -> None:
    page = Writer()
    page.line("{one}{other} play", one=Span("Ada", "mention", "x:1"), other=Span("Bea", "mention", "x:2"))
    assert [span.person for span in page.panel().text] == ["x:1", "x:2", ""]


def test_different_panels_have_different_digests() -> None:
    play, pass_ = Button("Play", "p1"), Button("Pass", "p2")
    panels = [
        Panel((Span("a"),)),
        Panel((Span("a", "bold"),)),
        Panel((Span("a"),), ((play, pass_),)),
        Panel((Span("a"),), ((play,), (pass_,))),
        Panel((Span("a"),), ((pass_, play),)),
        *[Panel((Span("a"),), document=(Grid((Column("Buchholz"),), ((Span(points),),)),)) for points in "46"],
    ]
    assert len({panel.digest for panel in panels}) == len(panels)
    assert Panel((Span("a"),)).digest == panels[0].digest


def test_digest_ignores_roles() -> None:
    """Roles do not change a message, and stored digests must stay valid."""
    plain, with_role = Button("Hint", "p1"), Button("Hint", "p1", role=Role.HINT, about="3D")
    assert Panel((Span("a"),), ((plain,),)).digest == Panel((Span("a"),), ((with_role,),)).digest == "589eef5dd7a3"


def test_first_fold_call_starts_the_fold() -> None:
    page = Writer()
    page.line("Your turn.")
    page.gap()
    page.fold()
    page.line("3 A")
    page.fold()
    page.line("to 21")
    panel = page.panel()
    assert panel.fold == 1
    assert [span.text for span in panel.text] == ["Your turn.\n\n", "3 A\nto 21"]
    assert [span.text for span in panel.beside_picture.text] == ["Your turn.\n", "3 A\nto 21"]


def test_cut_panel_loses_its_fold() -> None:
    panel = Panel((Span("Your turn.\n\n"), Span("3 A")), fold=1).cut(6)
    assert panel.beside_picture == panel
    assert panel.plain == "Your …"
