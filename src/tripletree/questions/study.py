"""Study: a tree and a log, and what several answers about both need; each is worked out once, when first wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tripletree.answers.criticality import Criticality
from tripletree.answers.few_rules import FewRules
from tripletree.answers.judgement import HeldOut, Trust
from tripletree.answers.memory import Drift, Memory
from tripletree.answers.outcome import Outcome
from tripletree.answers.outline import Outline
from tripletree.answers.rhythm import Rhythm
from tripletree.answers.story import Story
from tripletree.answers.world import World
from tripletree.asking.regions import told_about
from tripletree.log.doctor import examine
from tripletree.log.findings import Report
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.log.remembering import Evidence as Remembered
from tripletree.log.remembering import remembering
from tripletree.log.sampling import some_episodes
from tripletree.model.fitted import Fitted
from tripletree.questions.criticality import criticality
from tripletree.questions.evidence import Evidence
from tripletree.questions.few_rules import few_rules
from tripletree.questions.judge import held_out, trust
from tripletree.questions.memory import drift, told
from tripletree.questions.outcome import outcome
from tripletree.questions.outline import outline
from tripletree.questions.regrown import FEW_UNITS
from tripletree.questions.rhythm import rhythm
from tripletree.questions.stability import LEAST_TREES, stability
from tripletree.questions.story import story
from tripletree.questions.world import world

GLANCED = 200_000
"""Steps of random episodes in which something that repeats all the time would be seen."""
MOST_REGROWN = 300_000
"""Samples from which on the tree is not grown again and again for a sentence of a page."""
LOWEST, LEAST = 0.1, 20
"""Share of the episodes that count as the worst where nobody said what failure is, and episodes needed for that."""


@dataclass(frozen=True, eq=False)
class Study:
    """A tree and a log with the same features and actions.

    Attributes
    ----------
    fitted : Fitted
        The tree.
    log : Log
        The log.
    threads : int
        Threads to use.
    success : str or None
        Which episodes succeed, as a condition; None: as far as the log says.
    """

    fitted: Fitted
    log: Log
    threads: int
    success: str | None = None

    @cached_property
    def some(self) -> Log:
        """Random episodes of a long log, enough for what needs no more of them; a shorter log itself."""
        return some_episodes(self.log, GLANCED)

    @cached_property
    def returns(self) -> npt.NDArray[np.float64]:
        """The sum of rewards of each episode."""
        return np.add.reduceat(self.log.rewards, self.log.starts[:-1])

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Steps of each episode."""
        return np.diff(self.log.starts)

    @cached_property
    def by_return(self) -> npt.NDArray[np.int64]:
        """Positions of the episodes, from the lowest to the highest return; without rewards, from short to long."""
        return np.argsort(self.returns if self.log.schema.has_reward else self.lengths, kind="stable")

    @property
    def typical(self) -> int:
        """The episode of median return; without rewards, of median length."""
        return int(self.by_return[len(self.by_return) // 2])

    @cached_property
    def evidence(self) -> Evidence:
        """What the episodes of the log really did."""
        return Evidence.of(self.fitted, Recording.of(self.log), self.threads)

    @cached_property
    def outline(self) -> Outline:
        """The agent in a few regions."""
        return outline(self.fitted, self.log, threads=self.threads)

    @cached_property
    def held_out(self) -> HeldOut:
        """How good the tree is on episodes that it has not seen."""
        return held_out(self.fitted, self.log, self.threads)

    @cached_property
    def trust(self) -> Trust:
        """Where the tree should not be believed."""
        return trust(self.fitted, self.log, self.threads)

    @cached_property
    def rules(self) -> FewRules:
        """Rules that people can carry in their head, a list for each dimension of the action."""
        return few_rules(self.fitted, about=self.told_about, log=self.log, threads=self.threads)

    @cached_property
    def criticality(self) -> Criticality:
        """Where the choice matters."""
        return criticality(self.fitted, self.log, self.threads)

    @cached_property
    def outcome(self) -> Outcome:
        """Which episodes succeed, as far as somebody said what that is."""
        return outcome(self.log, self.success)

    @cached_property
    def worst(self) -> Outcome | None:
        """The tenth of the episodes with the lowest returns beside the others; None where returns are too few."""
        if not self.log.schema.has_reward or len(self.returns) < LEAST or not np.ptp(self.returns):
            return None
        better = self.returns > np.quantile(self.returns, LOWEST)
        return outcome(self.log, better) if better.any() and not better.all() else None

    @cached_property
    def rhythm(self) -> Rhythm:
        """What repeats in the log; of a long one, some episodes tell whether it is worth looking at all of them."""
        found = rhythm(self.some)
        return rhythm(self.log) if found and self.some is not self.log else found

    @cached_property
    def stability(self) -> str:
        """Whether another log would have said the same, in a sentence; nothing where the log cannot tell."""
        if self.log.n_samples > MOST_REGROWN or int(self.log.units.max()) + 1 < FEW_UNITS:
            return ""
        return stability(self.fitted, self.log, LEAST_TREES, threads=self.threads).short

    @cached_property
    def drift(self) -> Drift:
        """Whether the agent changes within the log, at a quick look."""
        return drift(self.log, seed=0, quick=True)

    @cached_property
    def memory(self) -> Memory:
        """Whether what the agent does depends on what came before, at a quick look."""
        return told(self.remembered, self.log)

    @cached_property
    def remembered(self) -> Remembered | None:
        """What that look has shown."""
        return remembering(self.log, quick=True)

    @cached_property
    def findings(self) -> Report:
        """What is odd about the log."""
        return examine(self.log, lambda: self.remembered)

    @cached_property
    def world(self) -> World:
        """What the world is like."""
        return world(self.log)

    @property
    def told_about(self) -> str:
        """What stories are about: the action, or what changes most in a log without actions."""
        return told_about(self.fitted)

    def story(self, episode: int) -> Story:
        """Return the story of an episode, by its position in the log."""
        if episode not in self._stories:
            self._stories[episode] = story(self.fitted, episode, self.log, about=self.told_about, threads=self.threads)
        return self._stories[episode]

    @cached_property
    def _stories(self) -> dict[int, Story]:
        """Stories that were told already, by episode."""
        return {}
