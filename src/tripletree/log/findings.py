"""What was found in a log: errors, warnings and notes, collected so that the user gets all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from tripletree.checks import did_you_mean, listing
from tripletree.errors import LogError
from tripletree.markup import notebook_box, notebook_table, tag
from tripletree.text import Message, Nothing, Option, count, joined

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing found in a log.

    Attributes
    ----------
    level : {"error", "warning", "note"}
        An error makes the log unusable, a warning deserves a look, a note is good to know.
    code : str
        A short fixed name of the kind of finding, for programs (``"states-not-finite"``).
    text : str
        What was found, and what is allowed.
    fix : str
        What to type or do about it; may be empty. Both are a ``Message`` where they mention an argument.
    """

    level: Level
    code: str
    text: str
    fix: str = ""

    @property
    def message(self) -> Message:
        """Text and fix as one message."""
        return joined(" ", filter(None, (self.text, self.fix)))

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class Report:
    """Everything the doctor has found in a log; ``print(report)`` is meant to be read.

    Attributes
    ----------
    subject : str
        The log in one line.
    findings : tuple of Finding
        Errors first, then warnings, then notes.
    """

    subject: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What makes the log unusable."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What deserves a look."""
        return self._of("warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is good to know."""
        return self._of("note")

    @property
    def ok(self) -> bool:
        """Whether the log can be used (there may still be warnings)."""
        return not self.errors

    def _of(self, level: Level) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == level)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def summary(self) -> str:
        """The log and how much was found, in one line."""
        counts = [count(len(found), level) for level in LEVELS if (found := self._of(level))]
        return f"{self.subject}: {', '.join(counts) or 'no problems found'}."

    def _repr_html_(self) -> str:
        rows = [(one.level, f"{one.text}\n→ {one.fix}" if one.fix else one.text) for one in self.findings]
        return notebook_box(tag("b", self.summary), notebook_table((), rows) if rows else "")

    def __str__(self) -> str:
        lines = [self.summary]
        for finding in self.findings:
            lines.append(f"  {finding.level:<7}  {finding.text}")
            if finding.fix:
                lines.append(f"           → {finding.fix}")
        return "\n".join(lines)


class BadLogError(LogError):
    """A LogError that still knows every finding behind its text."""

    def __init__(self, report: Report) -> None:
        self.report = report
        errors = report.errors
        listed = [Message("{}. {}", number, error.message) for number, error in enumerate(errors, 1)]
        title = f"{report.subject} cannot be used, it has {count(len(errors), 'error')}:"
        super().__init__(errors[0].message if len(errors) == 1 else joined("\n  ", [title, *listed]))


class Findings:
    """A collector: constructors put everything they find here, and stop once, with all of it."""

    def __init__(self, subject: str = "This log", spelled: Mapping[str, str] | None = None) -> None:
        self.subject = subject
        self.items: list[Finding] = []
        # Where a column is not named but given as an array, the argument may be called otherwise.
        self._spelled = spelled or {}

    def error(self, code: str, text: str, fix: str = "") -> None:
        """Add an error."""
        self._add("error", code, text, fix)

    def warning(self, code: str, text: str, fix: str = "") -> None:
        """Add a warning."""
        self._add("warning", code, text, fix)

    def note(self, code: str, text: str, fix: str = "") -> None:
        """Add a note."""
        self._add("note", code, text, fix)

    def _add(self, level: Level, code: str, text: str, fix: str) -> None:
        self.items.append(Finding(level, code, self._named(text), self._named(fix)))

    def _named(self, part: Any) -> Any:
        """Return a text, or a part of it, in which every argument has the name that it has here."""
        if isinstance(part, Message):
            return Message(part.template, *map(self._named, part.values))
        if isinstance(part, Option) and part.name in self._spelled:
            return Option(self._spelled[part.name], part.value if part.value is Nothing else [...])
        return part

    @property
    def failed(self) -> bool:
        """Whether there is an error among the findings."""
        return any(item.level == "error" for item in self.items)

    def report(self) -> Report:
        """Return the findings so far, errors first."""
        return Report(self.subject, tuple(sorted(self.items, key=lambda item: LEVELS.index(item.level))))

    def stop_if_failed(self) -> None:
        """Raise one error that lists all errors so far, if there are any."""
        if self.failed:
            raise BadLogError(self.report())

    def fail(self, code: str, text: str, fix: str = "") -> NoReturn:
        """Add an error after which nothing more can be checked, and raise."""
        self.error(code, text, fix)
        raise BadLogError(self.report())


def hint(name: object, known: Collection[str]) -> str:
    """Return ``Did you mean `pos`?``, or the known names when none is close."""
    return did_you_mean(name, known).strip() or f"Choose from {listing(known, 12)}."
