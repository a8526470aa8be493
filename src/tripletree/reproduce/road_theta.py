"""The road, second part: which weights make the worst of the three losses least (paper, appendix A)."""

from __future__ import annotations

import warnings

import numpy as np

from tripletree import plot
from tripletree.answers.weights import Weights
from tripletree.api import compare_weights
from tripletree.demos import road
from tripletree.errors import TripleTreeWarning
from tripletree.reproduce.page import Block, Claim, Section, Table, Text, judged
from tripletree.reproduce.road_losses import COMPROMISE, record, span, title
from tripletree.reproduce.work import PAPER, Work, percent

SIZES = (10, 50, 100, 200)
VALUE, DERIVATIVE = 1, 2


def section(work: Work) -> Section:
    """Return the section on theta."""
    compared: dict[str, Weights] = {}
    blocks: list[Block] = [
        Text(
            "Each loss is given as a ratio to that of a tree with one leaf; the worst of the three is what counts. "
            "There are 21 weights theta on the simplex, as in the paper."
        )
    ]
    for agent in road.VARIANTS:
        # That truncated episodes bias the values is said on the page already.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)
            compared[agent] = compare_weights(record(agent, work), leaves=SIZES, gamma=road.GAMMA, **PAPER)
        picture = plot.simplex(compared[agent])
        blocks.append(work.figures({f"road-simplex-{agent}": picture}, f"Worst loss ratios of {title(agent)}."))
        work.step()
    return Section("Road: which theta?", [*blocks, *_results(compared)])


def _results(compared: dict[str, Weights]) -> list[Block]:
    theta = next(iter(compared.values())).theta
    chosen = int(np.abs(theta - COMPROMISE).sum(axis=1).argmin())
    # (agents, sizes, thetas)
    worst = np.array([weights.worst for weights in compared.values()])
    guilty = np.array([weights.worst_attribute for weights in compared.values()])
    rows, excess, ranks = [], [], []
    for s, size in enumerate(SIZES):
        for name, ratios in (*zip(compared, worst[:, s], strict=True), ("mean of the four", worst[:, s].mean(axis=0))):
            best = int(ratios.argmin())
            # Ties share a rank: rounding errors must not decide.
            rank = int((ratios < ratios[chosen] - 1e-12).sum()) + 1
            weights = ", ".join(f"{weight:g}" for weight in theta[best])
            rows.append(
                [str(size), name, weights, f"{ratios[best]:.3f}", f"{ratios[chosen]:.3f}", f"{rank} of {len(theta)}"]
            )
        # The last of these rows is the mean, and so are the variables of the loop now.
        excess.append(ratios[chosen] / ratios[best] - 1)
        ranks.append(rank)
    edge = theta[:, DERIVATIVE] == 0
    value_share = (guilty[:, :, ~edge] == VALUE).mean()
    edge_share = (guilty[:, :, edge] == DERIVATIVE).mean()
    best_value = theta[worst.mean(axis=0).argmin(axis=1), VALUE].mean()
    return [
        Table(
            "The theta with the least worst-case loss ratio at each size, and how 0.2, 0.6, 0.2 compares.",
            ("leaves", "agent", "best theta", "its ratio", "ratio of 0.2, 0.6, 0.2", "rank"),
            rows,
        ),
        Claim(
            "For most weights value is the attribute predicted worst; only without any weight on derivatives are "
            "those worse.",
            f"Value is the worst at {percent(value_share)} of the weights inside, over all agents and sizes; on the "
            f"edge without derivative weight, derivatives are the worst in {percent(edge_share)}.",
            judged(bool(value_share > 0.5), bool(edge_share > 0.5)),
        ),
        Claim(
            "Whoever wants to keep the worst of the three loss ratios small gives value more weight; [0.2, 0.6, "
            "0.2] comes close to the best.",
            f"On the mean of the four agents the best theta gives value a weight of {best_value:.2f} on average over "
            f"sizes. [0.2, 0.6, 0.2] is {span(np.array(excess))} worse than the best of the {len(theta)} and has the "
            f"ranks {', '.join(map(str, ranks))} at {', '.join(map(str, SIZES))} leaves.",
            judged(bool(best_value > 0.4), bool(np.max(excess) < 0.25)),
        ),
    ]
