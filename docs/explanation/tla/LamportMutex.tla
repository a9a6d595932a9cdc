---------------------------- MODULE LamportMutex ----------------------------
(* Mutual exclusion by clocks. Lamport, Time, Clocks, and the Ordering of  *)
(* Events in a Distributed System, 1978.                                   *)
EXTENDS Naturals, Sequences
CONSTANTS N, Most
VARIABLES clock, asked, agreed, inside, network

P == 0 .. N - 1
Message(kind, time) == [kind |-> kind, clock |-> time]
Max(a, b) == IF a > b THEN a ELSE b

Init ==
  /\ clock = [p \in P |-> 1]
  /\ asked = [p \in P |-> [q \in P |-> 0]]
  /\ agreed = [p \in P |-> {}]
  /\ inside = {}
  /\ network = [p \in P |-> [q \in P |-> <<>>]]

Broadcast(p, message) ==
  [network EXCEPT ![p] =
     [q \in P |-> IF q = p THEN <<>> ELSE Append(network[p][q], message)]]

Waits(p, q, kind) ==
  /\ p # q
  /\ network[q][p] # <<>>
  /\ Head(network[q][p]).kind = kind

Request(p) ==
  /\ asked[p][p] = 0
  /\ asked' = [asked EXCEPT ![p][p] = clock[p]]
  /\ agreed' = [agreed EXCEPT ![p] = {p}]
  /\ network' = Broadcast(p, Message("request", clock[p]))
  /\ UNCHANGED <<clock, inside>>

ReceiveRequest(p, q) ==
  /\ Waits(p, q, "request")
  /\ LET time == Head(network[q][p]).clock
     IN  /\ Max(time, clock[p]) < Most
         /\ asked' = [asked EXCEPT ![p][q] = time]
         /\ clock' = [clock EXCEPT ![p] = Max(time, clock[p]) + 1]
  /\ network' = [network EXCEPT ![q][p] = Tail(@),
                                ![p][q] = Append(@, Message("ack", 0))]
  /\ UNCHANGED <<agreed, inside>>

ReceiveAck(p, q) ==
  /\ Waits(p, q, "ack")
  /\ network' = [network EXCEPT ![q][p] = Tail(@)]
  /\ agreed' = [agreed EXCEPT ![p] = @ \cup {q}]
  /\ UNCHANGED <<clock, asked, inside>>

Beats(p, q) ==
  \/ asked[p][q] = 0
  \/ asked[p][p] < asked[p][q]
  \/ asked[p][p] = asked[p][q] /\ p < q

Enter(p) ==
  /\ agreed[p] = P
  /\ \A q \in P : p = q \/ Beats(p, q)
  /\ inside' = inside \cup {p}
  /\ UNCHANGED <<clock, asked, agreed, network>>

Leave(p) ==
  /\ p \in inside
  /\ inside' = inside \ {p}
  /\ asked' = [asked EXCEPT ![p][p] = 0]
  /\ agreed' = [agreed EXCEPT ![p] = {}]
  /\ network' = Broadcast(p, Message("release", 0))
  /\ UNCHANGED clock

ReceiveRelease(p, q) ==
  /\ Waits(p, q, "release")
  /\ network' = [network EXCEPT ![q][p] = Tail(@)]
  /\ asked' = [asked EXCEPT ![p][q] = 0]
  /\ UNCHANGED <<clock, agreed, inside>>

Next ==
  \E p \in P :
    \/ Request(p)
    \/ Enter(p)
    \/ Leave(p)
    \/ \E q \in P :
         \/ ReceiveRequest(p, q)
         \/ ReceiveAck(p, q)
         \/ ReceiveRelease(p, q)

Excludes ==
  \A p, q \in inside : p = q
=============================================================================
