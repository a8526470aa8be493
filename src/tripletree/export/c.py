"""C: a tree as C99 without any library: a source file, its header, and a program that tests them."""

from __future__ import annotations

import re
from typing import Any

from tripletree import __version__
from tripletree.errors import ParameterError
from tripletree.export.c_text import comment, identifier, strings, table
from tripletree.export.program import CLOSE, Part, Program, Trials, program, trials
from tripletree.language.numbers import unit
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count

_FILE = re.compile(r"[A-Za-z0-9_.+-]+")


def to_c(fitted: Fitted, *, name: str = "policy", about: Any = None, leaf_model: Any = None) -> dict[str, str]:
    """Return a tree in C99: the text of each file by its name.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    name : str
        What the files are called before their ending; functions begin with it.
    about : str or None
        What it predicts, such as "action"; None: all that the tree knows.
    leaf_model : {"mean", "linear"} or None
        What leaves predict; None: as the tree itself.
    """
    if not _FILE.fullmatch(name):
        raise ParameterError(
            Message(
                "A C file includes its header by name, so the name may have letters, digits and _ . + - only; got {!r}."
                " Try {}.",
                name,
                Option("path", "policy.c"),
            )
        )
    made = program(fitted, about=about, leaf_model=leaf_model)
    return {
        f"{name}.c": _source(made, name),
        f"{name}.h": _header(fitted, made, name),
        f"{name}_test.c": _test(made, name, trials(fitted, about=about, leaf_model=leaf_model)),
    }


def _functions(made: Program, called: str) -> dict[str, tuple[str, Part]]:
    """Return the prototype of each function that predicts something, and what that is."""
    state = f"const double state[{called.upper()}_FEATURES]"
    found = {}
    for part in made.parts:
        size = part.last - part.first
        if part.labels:
            found["act"] = f"int {called}_act({state})", part
            found["scores"] = f"void {called}_scores({state}, double scores[{size}])", part
        elif part.kind == "action":
            found["act"] = f"void {called}_act({state}, double action[{size}])", part
        elif part.kind == "value":
            found["value"] = f"double {called}_value({state})", part
        else:
            found["derivative"] = f"void {called}_derivative({state}, double derivative[{size}])", part
    return found


def _says(what: str, part: Part) -> str:
    """Return the comment before a prototype."""
    lines = {
        "act": "The number of the label that it does." if part.labels else "What it does:",
        "scores": "How much speaks for each label:",
        "value": "The discounted sum of the rewards to come.",
        "derivative": "How the state changes:",
    }[what]
    out = "scores" if what == "scores" else part.kind
    columns = zip(part.names, part.units, strict=True) if lines.endswith(":") else ()
    listed = [f" *   {out}[{k}]: {comment(name + unit(of))}\n" for k, (name, of) in enumerate(columns)]
    return f"/* {lines}\n{''.join(listed)} */" if listed else f"/* {lines} */"


def _header(fitted: Fitted, made: Program, name: str) -> str:
    called = identifier(name)
    big = called.upper()
    action = next((part for part in made.parts if part.labels), None)
    features = [
        f" *   state[{k}]: {comment(feature.name + unit(feature.unit))}, in the log {low!r} to {high!r}\n"
        for k, (feature, low, high) in enumerate(
            zip(fitted.schema.features, fitted.feature_min.tolist(), fitted.feature_max.tolist(), strict=True)
        )
    ]
    prototypes = [
        f"{_says(what, part)}\n{prototype};\n" for what, (prototype, part) in _functions(made, called).items()
    ]
    labels = "" if action is None else f"#define {big}_LABELS {len(action.labels)}\n"
    names = "" if action is None else f"extern const char *const {called}_labels[{big}_LABELS];\n"
    return f"""\
/* Made by tripletree {__version__}: a tree of {count(len(made.centre), "leaf", "leaves")}. A state is
{"".join(features)} */
#ifndef {big}_H
#define {big}_H

#define {big}_FEATURES {len(features)}
#define {big}_LEAVES {len(made.centre)}
{labels}
#ifdef __cplusplus
extern "C" {{
#endif

extern const char *const {called}_features[{big}_FEATURES];
{names}
/* The leaf that a state falls in, from 0. */
int {called}_leaf(const double state[{big}_FEATURES]);
{"".join(prototypes)}
#ifdef __cplusplus
}}
#endif
#endif
"""


def _source(made: Program, name: str) -> str:
    called = identifier(name)
    tables = []
    if len(made.feature):
        tables += [
            table("int", "split_feature", made.feature),
            table("double", "split_threshold", made.threshold),
            "/* Left and right of each split: another split, or -1 - leaf. */\n" + table("int", "child", made.child),
        ]
    tables.append(table("double", "centre", made.centre))
    for part in made.parts:
        if part.labels:
            tables.append(strings(f"{called}_labels", part.labels))
    tables.append(strings(f"{called}_features", made.schema.feature_names))
    if made.slopes is not None:
        terms = made.slopes.terms()
        tables += [
            table("double", "origin", made.slopes.origin),
            table("float", "low", made.slopes.low),
            table("float", "high", made.slopes.high),
            "/* Slopes that are not 0: term_begin has where those of a leaf and target begin. */\n"
            + table("int", "term_begin", terms.begin),
            table("int", "term_feature", terms.feature),
            table("float", "term_slope", terms.slope),
        ]
    return "\n".join(
        [
            f"/* Made by tripletree {__version__}; the header says what there is. */",
            f'#include "{name}.h"\n\n#include <math.h>\n#include <stddef.h>\n',
            *tables,
            _leaf(made, called),
            _predict(made),
            *(_body(what, prototype, part, called) for what, (prototype, part) in _functions(made, called).items()),
        ]
    )


def _leaf(made: Program, called: str) -> str:
    signature = f"int {called}_leaf(const double state[{called.upper()}_FEATURES])"
    if not len(made.feature):
        return f"{signature} {{\n    (void)state;\n    return 0;\n}}\n"
    return f"""\
{signature} {{
    int at = 0;
    while (at >= 0) at = child[2 * at + (state[split_feature[at]] >= split_threshold[at])];
    return -1 - at;
}}
"""


def _predict(made: Program) -> str:
    width, features = made.centre.shape[1], len(made.schema.features)
    if made.slopes is None:
        return f"""\
static void predict(int leaf, const double state[], int first, int last, double out[]) {{
    (void)state;
    for (int k = first; k < last; ++k) out[k - first] = centre[(size_t)leaf * {width} + (size_t)k];
}}
"""
    return f"""\
static void predict(int leaf, const double state[], int first, int last, double out[]) {{
    const double *from = origin + (size_t)leaf * {features};
    for (int k = first; k < last; ++k) {{
        size_t row = (size_t)leaf * {width} + (size_t)k;
        double told = centre[row];
        for (int i = term_begin[row]; i < term_begin[row + 1]; ++i)
            told += (double)term_slope[i] * (state[term_feature[i]] - from[term_feature[i]]);
        out[k - first] = told < low[row] ? low[row] : told > high[row] ? high[row] : told;
    }}
}}
"""


def _body(what: str, prototype: str, part: Part, called: str) -> str:
    ask = f"predict({called}_leaf(state), state, {part.first}, {part.last}"
    if what == "act" and part.labels:
        return f"""\
{prototype} {{
    double scores[{len(part.labels)}];
    int best = 0;
    {called}_scores(state, scores);
    for (int k = 1; k < {len(part.labels)}; ++k)
        if (scores[k] > scores[best]) best = k;
    return best;
}}
"""
    if what == "value":
        return f"{prototype} {{\n    double value[1];\n    {ask}, value);\n    return value[0];\n}}\n"
    return f"{prototype} {{\n    {ask}, {'scores' if what == 'scores' else part.kind});\n}}\n"


def _test(made: Program, name: str, tried: Trials) -> str:
    called, width = identifier(name), made.centre.shape[1]
    tables = [table("double", "states", tried.states), table("int", "leaves", tried.leaf)]
    tables.append(table("double", "expected", tried.told))
    calls = []
    for what, (_, part) in _functions(made, called).items():
        first = f"{part.first}"
        if what == "act" and part.labels:
            calls.append(f"wrong |= {called}_act(state) != labels[i];")
            tables.append(table("int", "labels", tried.told[:, part.first : part.last].argmax(axis=1)))
        elif what == "value":
            calls.append(f"told[{first}] = {called}_value(state);")
        else:
            calls.append(f"{called}_{what}(state, told + {first});")
    lines = "\n".join(f"        {call}" for call in calls)
    return f"""\
/* Made by tripletree {__version__}: does {comment(f"{name}.c")} say what the tree says? */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

{chr(10).join(tables)}
int main(void) {{
    int failures = 0;
    for (int i = 0; i < {len(tried.leaf)}; ++i) {{
        const double *state = states + i * {tried.states.shape[1]};
        double told[{width}];
        int wrong = {called}_leaf(state) != leaves[i];
{lines}
        for (int k = 0; k < {width}; ++k) {{
            double right = expected[i * {width} + k];
            double size = right < 0 ? -right : right, off = told[k] < right ? right - told[k] : told[k] - right;
            wrong |= !(told[k] == right || off <= {CLOSE} * (size > 1 ? size : 1));
        }}
        if (wrong) printf("state %d: not what the tree says\\n", i);
        failures += wrong;
    }}
    printf("%d of {len(tried.leaf)} states as in the tree\\n", {len(tried.leaf)} - failures);
    return failures != 0;
}}
"""
