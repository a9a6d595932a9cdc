---------------------------- MODULE RaftElection ----------------------------
(* Raft's election of leaders, for logs that are empty. Ongaro and         *)
(* Ousterhout, In Search of an Understandable Consensus Algorithm, 2014.   *)
EXTENDS Naturals, FiniteSets
CONSTANTS SERVER, Last, Nobody
VARIABLES term, vote, mode, votes, sent, elected, restarts

Ask(c, t) == [kind |-> "ask", from |-> c, term |-> t]
Grant(v, c, t) == [kind |-> "grant", from |-> v, to |-> c, term |-> t]

Init ==
  /\ term = [s \in SERVER |-> 0]
  /\ vote = [s \in SERVER |-> Nobody]
  /\ mode = [s \in SERVER |-> "follower"]
  /\ votes = [s \in SERVER |-> {}]
  /\ sent = {}
  /\ elected = {}
  /\ restarts = 0

TimeOut(s) ==
  /\ mode[s] # "leader"
  /\ term[s] < Last
  /\ term' = [term EXCEPT ![s] = @ + 1]
  /\ mode' = [mode EXCEPT ![s] = "candidate"]
  /\ vote' = [vote EXCEPT ![s] = s]
  /\ votes' = [votes EXCEPT ![s] = {s}]
  /\ sent' = sent \cup {Ask(s, term'[s])}
  /\ UNCHANGED <<elected, restarts>>

Learn(s, c, t) ==
  /\ Ask(c, t) \in sent
  /\ term[s] < t
  /\ term' = [term EXCEPT ![s] = t]
  /\ mode' = [mode EXCEPT ![s] = "follower"]
  /\ vote' = [vote EXCEPT ![s] = Nobody]
  /\ UNCHANGED <<votes, sent, elected, restarts>>

GrantVote(v, c) ==
  /\ Ask(c, term[v]) \in sent
  /\ vote[v] \in {Nobody, c}
  /\ vote' = [vote EXCEPT ![v] = c]
  /\ sent' = sent \cup {Grant(v, c, term[v])}
  /\ UNCHANGED <<term, mode, votes, elected, restarts>>

CountVote(c, v) ==
  /\ mode[c] = "candidate"
  /\ Grant(v, c, term[c]) \in sent
  /\ votes' = [votes EXCEPT ![c] = @ \cup {v}]
  /\ UNCHANGED <<term, vote, mode, sent, elected, restarts>>

BecomeLeader(c) ==
  /\ mode[c] = "candidate"
  /\ 2 * Cardinality(votes[c]) > Cardinality(SERVER)
  /\ mode' = [mode EXCEPT ![c] = "leader"]
  /\ elected' = elected \cup {<<c, term[c]>>}
  /\ UNCHANGED <<term, vote, votes, sent, restarts>>

Restart(s) ==
  /\ restarts < 1
  /\ mode' = [mode EXCEPT ![s] = "follower"]
  /\ votes' = [votes EXCEPT ![s] = {}]
  /\ restarts' = restarts + 1
  /\ UNCHANGED <<term, vote, sent, elected>>

Next ==
  \E s \in SERVER :
    \/ TimeOut(s)
    \/ BecomeLeader(s)
    \/ Restart(s)
    \/ \E o \in SERVER :
         \/ GrantVote(s, o)
         \/ CountVote(s, o)
         \/ \E t \in 1 .. Last : Learn(s, o, t)

ElectsOneLeaderATerm ==
  \A a, b \in elected : a[2] = b[2] => a = b
=============================================================================
