"""Varlink interfaces as Sources describes them: a text in a Swift literal, whose comments are the documentation.

  interfaces.py OUT     writes each as OUT/NAME.varlink
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[3] / "Sources/Varlink/Interfaces"


class Member:
    """A type, a method or an error."""

    def __init__(self, kind, name, body, comment):
        self.kind, self.name, self.comment = kind, name, comment
        body = " ".join(body.split()).replace("( ", "(").replace(" )", ")")
        self.signature = name + (body if kind == "method" else " " + body)
        self.fields = [field.strip() for field in body.strip("()").split(",") if field.strip()]
        self.is_record = ":" in body


class Interface:
    def __init__(self, text):
        self.name, self.comment, self.members = None, [], []
        comment, statement = [], ""
        for line in text.splitlines():
            if line.startswith("#") and not statement:
                comment.append(line[1:].strip())
                continue
            statement += line + "\n"
            if not self._is_whole(statement):
                continue
            if statement.strip():
                self._add(statement.strip(), comment)
                comment = []
            statement = ""
        assert self.name and not statement, "the description ends within a statement"

    @staticmethod
    def _is_whole(statement):
        if statement.count("(") != statement.count(")"):
            return False
        return not statement.startswith("method") or "->" in statement

    def _add(self, statement, comment):
        kind, rest = statement.split(None, 1)
        if kind == "interface":
            self.name, self.comment = rest, comment
            return
        name, body = re.fullmatch(r"(\w+)\s*(.*)", rest, re.S).groups()
        self.members.append(Member(kind, name, body, comment))

    @staticmethod
    def text(source):
        """The description in a Swift file: a literal of several lines, where a backslash continues one."""
        found = re.search(r'static let description = """\n(.*?)\n( *)"""', source.read_text(), re.S)
        if not found:
            return None
        body = "\n".join(line[len(found[2]):] for line in found[1].split("\n"))
        return body.replace("\\\n", "").replace('\\"', '"') + "\n"

    @classmethod
    def of(cls, source):
        text = cls.text(source)
        return cls(text) if text and "\ninterface " in "\n" + text else None


def main(folder):
    for source in sorted(SOURCES.glob("*.swift")):
        interface = Interface.of(source)
        if interface:
            (Path(folder) / f"{interface.name}.varlink").write_text(Interface.text(source))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
