"""Data in: logs from arrays, episodes, tables and files, checked by a doctor."""

from tripletree.log.description import read_description
from tripletree.log.disk import DiskLog, open_log
from tripletree.log.doctor import check
from tripletree.log.endings import ENDING_NAMES, TERMINATED, TRUNCATED, UNKNOWN
from tripletree.log.files import read_log
from tripletree.log.findings import Finding, Report
from tripletree.log.log import Log
from tripletree.log.record import record
from tripletree.log.schema import Action, Feature, Schema

__all__ = [
    "ENDING_NAMES",
    "TERMINATED",
    "TRUNCATED",
    "UNKNOWN",
    "Action",
    "DiskLog",
    "Feature",
    "Finding",
    "Log",
    "Report",
    "Schema",
    "check",
    "open_log",
    "read_description",
    "read_log",
    "record",
]
