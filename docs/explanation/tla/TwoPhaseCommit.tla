--------------------------- MODULE TwoPhaseCommit ---------------------------
(* Two-phase commit, as in Gray and Lamport, Consensus on Transaction      *)
(* Commit, 2006. The set of messages that were sent only grows.            *)
CONSTANT RM
VARIABLES rm, tm, seen, sent

Prepared(r) == [kind |-> "prepared", from |-> r]
Commit == [kind |-> "commit"]
Abort == [kind |-> "abort"]

Init ==
  /\ rm = [r \in RM |-> "working"]
  /\ tm = "init"
  /\ seen = {}
  /\ sent = {}

TmRcvPrepared(r) ==
  /\ tm = "init"
  /\ Prepared(r) \in sent
  /\ seen' = seen \cup {r}
  /\ UNCHANGED <<rm, tm, sent>>

TmCommit ==
  /\ tm = "init"
  /\ \A r \in RM : r \in seen
  /\ tm' = "committed"
  /\ sent' = sent \cup {Commit}
  /\ UNCHANGED <<rm, seen>>

TmAbort ==
  /\ tm = "init"
  /\ tm' = "aborted"
  /\ sent' = sent \cup {Abort}
  /\ UNCHANGED <<rm, seen>>

RmPrepare(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "prepared"]
  /\ sent' = sent \cup {Prepared(r)}
  /\ UNCHANGED <<tm, seen>>

RmChooseToAbort(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, seen, sent>>

RmRcvCommit(r) ==
  /\ Commit \in sent
  /\ rm' = [rm EXCEPT ![r] = "committed"]
  /\ UNCHANGED <<tm, seen, sent>>

RmRcvAbort(r) ==
  /\ Abort \in sent
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, seen, sent>>

Next ==
  \/ TmCommit
  \/ TmAbort
  \/ \E r \in RM :
       \/ TmRcvPrepared(r)
       \/ RmPrepare(r)
       \/ RmChooseToAbort(r)
       \/ RmRcvCommit(r)
       \/ RmRcvAbort(r)

Agreement ==
  \A r, s \in RM : ~(rm[r] = "committed" /\ rm[s] = "aborted")
=============================================================================
