"""Summary: the first page of a report. What an agent does, whether it succeeds, what to watch, what to believe."""

from __future__ import annotations

from dataclasses import dataclass

from tripletree.answers.answer import Answer

MOST_WORDS = 600
"""A page that is read at once has no more."""


@dataclass(frozen=True, eq=False, repr=False)
class Part(Answer):
    """What a summary says about one thing.

    Attributes
    ----------
    name : {"does", "succeeds", "fails", "watch", "belief"}
        Which one.
    heading : str
        Its heading.
    sentences : tuple of str
        What is said, in the order in which it is read.
    lists : tuple of (str, tuple of str)
        What is listed below: a heading, which may be empty, and its lines.
    """

    name: str
    heading: str
    sentences: tuple[str, ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        told = [self.heading, *([" ".join(self.sentences)] if self.sentences else [])]
        for name, lines in self.lists:
            told += [name, *(f"  {line}" for line in lines)] if name else [f"- {line}" for line in lines]
        return "\n".join(told)


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Answer):
    """What an agent does, in at most 600 words.

    Attributes
    ----------
    title : str
        What it is about: how large the log is.
    parts : tuple of Part
        What it says; parts without news are left out.
    """

    title: str
    parts: tuple[Part, ...]

    def __getitem__(self, name: str) -> Part:
        """Return the part with this name."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(part.name == name for part in self.parts)

    def __str__(self) -> str:
        return "\n\n".join([self.title, *map(str, self.parts)])
