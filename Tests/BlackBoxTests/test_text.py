"""Text that is not ASCII: names and messages are bytes to the daemon, and come out as they went in."""

import json

import board as boards

COMPOSED = "\u00e9"
DECOMPOSED = "e\u0301"
# Two forms of one letter, syllables, letters that are written from the right, and four persons that are one picture.
TEXTS = {
    "composed": f"caf{COMPOSED}",
    "decomposed": f"caf{DECOMPOSED}",
    "syllables": "\ud55c\uae00 \u1112\u1161\u11ab",
    "from-the-right": "\u05de\u05e6\u05dc\u05de\u05d4",
    "picture": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466\U0001f1e9\U0001f1ea",
    "one-scalar": "\u0301",
}


def file_of(program, text, *more):
    """Written out here: json.dumps() would write pairs of surrogates, which TOML has not."""
    command = json.dumps([*boards.PYTHON, *program])
    return "\n".join([f'description = "{text}"', f"exec = {command}", *more]) + "\n"


def sample(board, name):
    board.samples.add(name)
    return [str(board.programs / "sample_app.py"), str(board.journal(name))]


def test_names_and_values_keep_their_bytes(board):
    for name, text in TEXTS.items():
        board.app_file(name, file_of(sample(board, name), text, 'launch = "boot"', 'delegate = "none"',
                                     "[environment]", f'TEXT = "{text}, {text}"'))
    board.app("app", "lend")
    board.start()
    board.wait_active("app", *TEXTS)
    for name, text in TEXTS.items():
        assert board.wait_note(name, "start")["environment"]["TEXT"] == f"{text}, {text}"
    wire = board.borrow("app")
    begun = {wire.begin(text): text for text in TEXTS.values()}
    tasks = wire.ask("GetState")["tasks"]
    assert {task["identifier"]: task["name"] for task in tasks} == begun
    for identifier in begun:
        wire.end(identifier)
    assert wire.ask("GetState")["tasks"] == []


def test_what_only_looks_the_same_is_another_name(board):
    board.plain("app")
    for name, text in TEXTS.items():
        board.app_file(name, f'exec = ["/bin/true"]\nrestart = "{text}"\n"{text}x" = 1\n')
    board.start()
    # Mistakes are told in the words of the file.
    for name, text in TEXTS.items():
        invalid = board.describe(name)["invalid"]
        assert f"{name}.toml:2:" in invalid and text in invalid, invalid
        board.wait_log(f"{text}x")
    for name in ("\uff41pp", "app\u0301", "\u200bapp", f"caf{COMPOSED}"):
        assert board.error("Describe", app=name).name == "io.curfew.Control.NoSuchApp"
    # The Kelvin sign is canonically a K.
    for method in ("io.curfew.Control.Bac\u212Around", "io.curfew.Control.List\u0301"):
        with board.wire() as wire:
            wire.send(method, {})
            assert wire.receive()["error"] == "org.varlink.service.MethodNotFound"
