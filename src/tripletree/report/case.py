"""What a report is about: a study of a tree and a log, and what draws its pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tripletree.answers.rules import conditions
from tripletree.language.conditions import clauses
from tripletree.markup import Markup
from tripletree.questions.study import Study
from tripletree.report.svg import Drawer
from tripletree.scenes.overview import overview
from tripletree.scenes.types import Sheet


class Section(NamedTuple):
    """One section: its name in addresses, its heading, and what it says."""

    name: str
    title: str
    content: Markup


@dataclass(frozen=True, eq=False)
class Case(Study):
    """A study, and what draws the pictures of its report.

    Attributes
    ----------
    failures : tuple of str
        Which episodes failed, as conditions, each briefed apart; none: those that do not succeed.
    requirements : tuple of str
        What every episode must do.
    draw : Drawer
        Draws them, each with names of its own.
    """

    failures: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    draw: Drawer = field(default_factory=Drawer)

    @cached_property
    def same_log(self) -> bool:
        """Whether the tree was grown on this log."""
        return self.log.fingerprint() == self.fitted.provenance.get("log_sha256")

    @cached_property
    def overview(self) -> Sheet:
        """Maps of what the tree says."""
        return overview(self.fitted, self.log)

    def where(self, leaf: int) -> str:
        """Return the conditions of a leaf in words."""
        lower, upper = self.fitted.bounds
        return conditions(clauses(self.fitted.schema, lower[leaf].tolist(), upper[leaf].tolist()))
