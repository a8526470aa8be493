"""Understand what an autonomous agent does, from its log alone."""

__version__ = "0.1.0"

from tripletree.api import TripleTree, load
from tripletree.errors import (
    LogError,
    MissingDependencyError,
    ModelFileError,
    NotFittedError,
    ParameterError,
    TripleTreeError,
    TripleTreeWarning,
)
from tripletree.log.check import check
from tripletree.log.log import Log
from tripletree.log.read import read_log
from tripletree.log.schema import Action, Feature, Schema

__all__ = [
    "Action",
    "Feature",
    "Log",
    "LogError",
    "MissingDependencyError",
    "ModelFileError",
    "NotFittedError",
    "ParameterError",
    "Schema",
    "TripleTree",
    "TripleTreeError",
    "TripleTreeWarning",
    "__version__",
    "check",
    "load",
    "read_log",
]
