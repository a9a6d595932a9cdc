"""More claims than a word has bits: one for each pair of members.

    onceproof check tests/soundness/regressions/claims_of_pairs.py
"""

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    leads_to,
    not_,
    state,
    when,
)


class Drawn(Protocol):
    """The first question is never answered."""

    P = Sort("process", size=7)
    asked = state(False)
    told = state(False, per=P)

    @action
    def ask(self):
        self.asked = True

    @action(per=P, fair=True)
    def tell(self, p):
        when(self.asked, not_(self.told[p]))
        self.told[p] = True

    @leads_to(per=(P, P))
    def differ(self, p, q):
        return self.asked & self.told[p], not_(self.told[q]) & (p != q)
