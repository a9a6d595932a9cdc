------------------------------ MODULE TwoPhase ------------------------------
\* Two-phase commit by a transaction manager, with the messages as a set.
\* After Gray and Lamport, Consensus on Transaction Commit, 2006.
EXTENDS FiniteSets
CONSTANT RM
VARIABLES rm, tm, seen, sent

vars == <<rm, tm, seen, sent>>
Votes == [kind : {"prepared"}, by : RM]
Decisions == [kind : {"commit", "abort"}]

Init ==
  /\ rm = [r \in RM |-> "working"]
  /\ tm = "deciding"
  /\ seen = {}
  /\ sent = {}

HearVote(r) ==
  /\ tm = "deciding"
  /\ [kind |-> "prepared", by |-> r] \in sent
  /\ seen' = seen \cup {r}
  /\ UNCHANGED <<rm, tm, sent>>

DecideCommit ==
  /\ tm = "deciding"
  /\ seen = RM
  /\ tm' = "committed"
  /\ sent' = sent \cup {[kind |-> "commit"]}
  /\ UNCHANGED <<rm, seen>>

DecideAbort ==
  /\ tm = "deciding"
  /\ tm' = "aborted"
  /\ sent' = sent \cup {[kind |-> "abort"]}
  /\ UNCHANGED <<rm, seen>>

Prepare(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "prepared"]
  /\ sent' = sent \cup {[kind |-> "prepared", by |-> r]}
  /\ UNCHANGED <<tm, seen>>

GiveUp(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, seen, sent>>

HearCommit(r) ==
  /\ [kind |-> "commit"] \in sent
  /\ rm' = [rm EXCEPT ![r] = "committed"]
  /\ UNCHANGED <<tm, seen, sent>>

HearAbort(r) ==
  /\ [kind |-> "abort"] \in sent
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, seen, sent>>

Next ==
  \/ DecideCommit
  \/ DecideAbort
  \/ \E r \in RM :
       HearVote(r) \/ Prepare(r) \/ GiveUp(r) \/ HearCommit(r) \/ HearAbort(r)

Spec == Init /\ [][Next]_vars

Agreement == \A r, s \in RM : ~(rm[r] = "committed" /\ rm[s] = "aborted")
=============================================================================
