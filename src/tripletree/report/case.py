"""What a report is about: a tree, a log, and what several sections need of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.few_rules import FewRules
from tripletree.answers.judgement import HeldOut
from tripletree.answers.outline import Outline
from tripletree.answers.rhythm import Rhythm
from tripletree.answers.rules import conditions
from tripletree.answers.story import Story
from tripletree.asking.regions import told_about
from tripletree.graph.markov import count_transitions
from tripletree.graph.transitions import Transitions
from tripletree.language.conditions import clauses
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.markup import Markup
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.questions.few_rules import few_rules
from tripletree.questions.judge import held_out
from tripletree.questions.outline import outline
from tripletree.questions.regrown import FEW_UNITS
from tripletree.questions.rhythm import rhythm
from tripletree.questions.stability import LEAST_TREES, stability
from tripletree.questions.story import story
from tripletree.report.svg import Drawer

MOST_REGROWN = 300_000
"""On logs with more samples, growing more trees would make a report wait."""


class Section(NamedTuple):
    """One section: its name in addresses, its heading, and what it says."""

    name: str
    title: str
    content: Markup


@dataclass(frozen=True, eq=False)
class Case:
    """A tree and a log with the same features and actions.

    Attributes
    ----------
    fitted : Fitted
        The tree.
    log : Log
        The log.
    draw : Drawer
        Draws the pictures of this report.
    threads : int
        Threads to use.
    """

    fitted: Fitted
    log: Log
    draw: Drawer
    threads: int

    @cached_property
    def returns(self) -> npt.NDArray[np.float64]:
        """The sum of rewards of each episode."""
        return np.add.reduceat(self.log.rewards, self.log.starts[:-1])

    @cached_property
    def transitions(self) -> Transitions:
        """How the log goes from leaf to leaf."""
        return count_transitions(self.fitted.tree, self.log, self.threads)

    @cached_property
    def evidence(self) -> Evidence:
        """What the episodes of the log really did."""
        return Evidence.of(self.fitted, Recording.of(self.log), self.threads)

    @cached_property
    def outline(self) -> Outline:
        """The tree as a few regions."""
        return outline(self.fitted, self.log, threads=self.threads)

    @cached_property
    def rules(self) -> FewRules:
        """What the agent does, in a few rules; in a log without actions, what changes most."""
        about = "action" if self.fitted.schema.has_action else self.told_about
        return few_rules(self.fitted, about=about, log=self.log, threads=self.threads)

    @cached_property
    def held_out(self) -> HeldOut:
        """How good the tree is on episodes that it has not seen."""
        return held_out(self.fitted, self.log, self.threads)

    @cached_property
    def rhythm(self) -> Rhythm:
        """What repeats in the log."""
        return rhythm(self.log)

    @cached_property
    def stability(self) -> str:
        """Whether another log would have said the same, in a sentence; nothing where the log cannot tell."""
        if self.log.n_samples > MOST_REGROWN or int(self.log.units.max()) + 1 < FEW_UNITS:
            return ""
        return stability(self.fitted, self.log, LEAST_TREES, threads=self.threads).short

    @cached_property
    def same_log(self) -> bool:
        """Whether the tree was grown on this log."""
        return self.log.fingerprint() == self.fitted.provenance.get("log_sha256")

    @cached_property
    def by_return(self) -> npt.NDArray[np.int64]:
        """Positions of the episodes, from the lowest to the highest return; without rewards, from short to long."""
        rank = self.returns if self.log.schema.has_reward else np.diff(self.log.starts)
        return np.argsort(rank, kind="stable")

    def story(self, episode: int) -> Story:
        """Return the story of an episode, by its position in the log."""
        return story(self.fitted, episode, self.log, about=self.told_about, threads=self.threads)

    @cached_property
    def told_about(self) -> str:
        """What stories are about: the action, or what changes most in a log without actions."""
        return told_about(self.fitted)

    def where(self, leaf: int) -> str:
        """Return the conditions of a leaf in words."""
        lower, upper = self.fitted.bounds
        return conditions(clauses(self.fitted.schema, lower[leaf].tolist(), upper[leaf].tolist()))
