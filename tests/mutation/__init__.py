"""Small changes of what the code means, each of which a fast test must notice.

`python -m tests.mutation` makes each in a copy of the tree, runs the tests that ought
to notice, and writes `table.md`.
"""

from __future__ import annotations

from tests.mutation.of_constructs import CONSTRUCTS
from tests.mutation.of_judges import JUDGES, PROOFS
from tests.mutation.of_model import MODEL
from tests.mutation.of_plans import PLANS

MUTATIONS = (*MODEL, *PROOFS, *JUDGES, *PLANS, *CONSTRUCTS)
