"""Templates are files that a person can read: one for each phase, and no long lines."""

from importlib.resources import files

LONGEST = 120
FOLDER = files("bestresponse.web").joinpath("templates")


def test_no_line_of_a_template_is_long():
    long = []
    for file in FOLDER.iterdir():
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if len(line) > LONGEST:
                long.append(f"{file.name}:{number}")
    assert long == []


def test_every_phase_of_a_seat_has_a_file_of_its_own():
    names = {file.name for file in FOLDER.iterdir()}
    for phase in ("welcome", "gathering", "turn", "over", "closed", "questions", "end", "money"):
        assert f"seat_{phase}.html" in names
    assert len(FOLDER.joinpath("seat.html").read_text("utf-8").splitlines()) < 40
