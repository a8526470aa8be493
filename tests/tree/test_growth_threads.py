"""More threads than a machine gives: growth and predictions do with fewer, and never wait for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.logs import random_log
from tripletree import ParameterError, TripleTree

CODE = """
import resource, warnings
import numpy as np
from tripletree import Log, TripleTree
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
states = rng.normal(size=(60_000, 4))
log = Log.from_arrays(states, np.where(states[:, 0] > 0, "a", "b"), states[:, 1], starts=[0])
free = TripleTree(20, threads=2).fit(log)
most = 2_500_000_000 + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (most, most))  # room for two stacks of 1 GB, and for all the work
tight = TripleTree(20, threads=1_000).fit(log)
same = np.array_equal(free.tree_.threshold, tight.tree_.threshold, equal_nan=True)
print(same, np.array_equal(free.apply(states), tight.apply(states)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_fewer_threads_than_asked_for_give_the_same_tree():
    command = ["sh", "-c", 'ulimit -s 1000000 && exec "$0" -c "$1"', sys.executable, CODE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr


@pytest.mark.parametrize("threads", [0, 2**31, 1_025])
def test_silly_numbers_of_threads_are_refused(threads):
    with pytest.raises(ParameterError, match=r"threads must be a whole number from 1 to 1,024"):
        TripleTree(threads=threads).fit(random_log(1))
