"""Files that every program finds and none can change, and files that may not leave."""

from __future__ import annotations

import pytest

from codeact import Limits, Sandbox

GIVEN = {"data/prices.csv": "item,price\na,1\n", "terms.txt": b"be kind"}


def made(engine: str, **limits: object) -> Sandbox:
    return Sandbox(engine=engine, inputs=GIVEN, limits=Limits(**{"timeout": 20.0, **limits}))  # type: ignore[arg-type]


def test_inputs_are_there_and_are_not_what_a_run_gives(engine: str) -> None:
    result = made(engine).run("open('data/prices.csv').read(), open('terms.txt').read()")
    assert result.value == ("item,price\na,1\n", "be kind")
    assert result.files == ()


CHANGES = {
    "written": "open('terms.txt', 'w').write('x')",
    "appended to": "open('terms.txt', 'a').write('x')",
    "cut": "import os\nos.truncate('terms.txt', 1)",
    "removed": "import os\nos.remove('data/prices.csv')",
    "replaced": "import os\nopen('x', 'w').write('x')\nos.replace('x', 'terms.txt')",
    "moved with its directory": "import os\nos.rename('data', 'elsewhere')",
    "removed with its directory": "import shutil\nshutil.rmtree('data')",
    "made writable first": "import os\nos.chmod('terms.txt', 0o777)\nopen('terms.txt', 'w').write('x')",
}


@pytest.mark.parametrize("case", CHANGES)
def test_an_input_cannot_be_changed(engine: str, case: str) -> None:
    with made(engine).session() as session:
        result = session.run(CHANGES[case])
        assert result.error is not None
        assert result.error.type == "OSError"
        assert "Read-only file system" in result.error.message
        assert not [file for file in result.files if file.path in GIVEN]
        again = session.run("open('data/prices.csv').read(), open('terms.txt').read()")
        assert again.value == ("item,price\na,1\n", "be kind")


def test_inputs_are_in_a_fresh_world_again(engine: str) -> None:
    with made(engine, timeout=1.0).session() as session:
        assert session.run("x = 1").ok
        assert not session.run("while True: pass").ok
        assert session.run("open('terms.txt').read()").value == "be kind"


def test_a_restored_session_has_its_inputs(engine: str) -> None:
    sandbox = made(engine)
    with sandbox.session() as session:
        session.run("text = open('terms.txt').read()\nopen('mine.txt', 'w').write(text)")
        history = session.history
    with sandbox.session(history=history) as session:
        assert session.restore() == ("text",)
        assert session.run("text, open('mine.txt').read(), open('terms.txt').read()").value == ("be kind",) * 3


def test_inputs_go_together_with_files(engine: str) -> None:
    sandbox = made(engine)
    assert sandbox.run("open('data/in.csv').read()", files={"data/in.csv": "1"}).value == "1"
    with pytest.raises(ValueError, match=r"files\['terms.txt'\]: an input of the sandbox has this path"):
        sandbox.run("1", files={"terms.txt": "mine"})
    with pytest.raises(ValueError, match=r"files\['data'\]: it cannot be a file and a directory"):
        sandbox.run("1", files={"data": "mine"})
    with pytest.raises(ValueError, match=r"files: 4 files and directories are more than the limit files=3"):
        made(engine, files=3).run("1", files={"x": "1"})


def test_bad_inputs_are_refused_at_once(engine: str) -> None:
    with pytest.raises(ValueError, match=r"inputs\['../up'\]: it leads upwards"):
        Sandbox(engine=engine, inputs={"../up": ""})
    with pytest.raises(TypeError, match="inputs: expected a mapping"):
        Sandbox(engine=engine, inputs=["a"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inputs: 8 bytes are more than the limit workspace=4"):
        Sandbox(engine=engine, inputs={"a": b"12345678"}, limits=Limits(workspace=4))


def test_files_of_other_types_are_withheld_and_named(engine: str) -> None:
    sandbox = made(engine, file_types=(".csv", ".tar.gz"))
    result = sandbox.run("for n in ('a.csv', 'b.CSV', 'c.exe', 'd.tar.gz', 'csv'): open(n, 'w').write('x')\n1")
    assert [file.path for file in result.files] == ["a.csv", "b.CSV", "d.tar.gz"]
    assert result.note == "withheld: c.exe, csv; only .csv, .tar.gz files may leave (limit file_types)"
    assert "c.exe" in result.observation()
    with sandbox.session() as session:
        session.run("open('c.exe', 'w').write('x')")
        assert session.run("open('c.exe').read()").value == "x"


def test_names_of_withheld_files_are_cut(engine: str) -> None:
    program = "import os\nfor n in range(25):\n    os.makedirs(d := '/'.join(f'{n:03}' + 'x' * 100 for _ in range(9)))\n    open(d + '/f', 'w').close()\n1"
    note = made(engine, file_types=(".csv",)).run(program).note
    assert note is not None
    assert "and 5 more; only .csv files" in note
    assert len(note) < 3000


def test_an_observation_shows_no_more_than_it_may(engine: str) -> None:
    seen = made(engine, shown=50).run("print('o' * 1000)\n'v' * 1000").observation()
    assert seen.count("o" * 50) == 1
    assert "v" * 51 not in seen
    assert "more characters" in seen


def test_a_program_that_was_never_begun_takes_nothing_away(engine: str) -> None:
    with made(engine, source=100).session() as session:
        too_long = session.run("x = 1\n" * 100)
        assert too_long.error is not None
        assert "limit source" in too_long.error.message
        assert session.run("open('terms.txt').read()").value == "be kind"
        assert session.history == session.history[-1:]
