//! Two-phase commit for Stateright, in two forms: `peer written|packed N THREADS`.
//! After Gray and Lamport, Consensus on Transaction Commit, 2006. It prints the number of
//! distinct states and the seconds of the search.

use stateright::{Checker, Model, Property};
use std::collections::BTreeSet;
use std::time::Instant;

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Rm {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Tm {
    Deciding,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Message {
    Prepared(usize),
    Commit,
    Abort,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Step {
    DecideCommit,
    DecideAbort,
    HearVote(usize),
    Prepare(usize),
    GiveUp(usize),
    HearCommit(usize),
    HearAbort(usize),
}

/// As one would write it: collections, and the messages as a set.
struct Written {
    n: usize,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct State {
    rm: Vec<Rm>,
    tm: Tm,
    seen: Vec<bool>,
    sent: BTreeSet<Message>,
}

impl Model for Written {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            rm: vec![Rm::Working; self.n],
            tm: Tm::Deciding,
            seen: vec![false; self.n],
            sent: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        let deciding = state.tm == Tm::Deciding;
        if deciding && state.seen.iter().all(|seen| *seen) {
            steps.push(Step::DecideCommit);
        }
        if deciding {
            steps.push(Step::DecideAbort);
        }
        for r in 0..self.n {
            if deciding && state.sent.contains(&Message::Prepared(r)) {
                steps.push(Step::HearVote(r));
            }
            if state.rm[r] == Rm::Working {
                steps.push(Step::Prepare(r));
                steps.push(Step::GiveUp(r));
            }
            if state.sent.contains(&Message::Commit) {
                steps.push(Step::HearCommit(r));
            }
            if state.sent.contains(&Message::Abort) {
                steps.push(Step::HearAbort(r));
            }
        }
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = before.clone();
        match step {
            Step::DecideCommit => {
                state.tm = Tm::Committed;
                state.sent.insert(Message::Commit);
            }
            Step::DecideAbort => {
                state.tm = Tm::Aborted;
                state.sent.insert(Message::Abort);
            }
            Step::HearVote(r) => state.seen[r] = true,
            Step::Prepare(r) => {
                state.rm[r] = Rm::Prepared;
                state.sent.insert(Message::Prepared(r));
            }
            Step::GiveUp(r) | Step::HearAbort(r) => state.rm[r] = Rm::Aborted,
            Step::HearCommit(r) => state.rm[r] = Rm::Committed,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("agreement", |_, state: &State| {
            !(state.rm.contains(&Rm::Committed) && state.rm.contains(&Rm::Aborted))
        })]
    }
}

/// Packed by hand into one word; steps that change nothing are left out.
struct Packed {
    n: usize,
}

const COMMITTED: u64 = 2;
const ABORTED: u64 = 3;

impl Packed {
    fn sent(&self) -> usize {
        2 * self.n
    }
    fn seen(&self) -> usize {
        3 * self.n
    }
    fn tm(&self) -> usize {
        4 * self.n
    }
    fn with_rm(state: u64, r: usize, value: u64) -> u64 {
        state & !(3 << (2 * r)) | (value << (2 * r))
    }
}

impl Model for Packed {
    type State = u64;
    type Action = Step;

    fn init_states(&self) -> Vec<u64> {
        vec![0]
    }

    fn actions(&self, state: &u64, steps: &mut Vec<Step>) {
        let tm = state >> self.tm();
        let all = (1 << self.n) - 1;
        if tm == 0 {
            if (state >> self.seen()) & all == all {
                steps.push(Step::DecideCommit);
            }
            steps.push(Step::DecideAbort);
        }
        for r in 0..self.n {
            let rm = (state >> (2 * r)) & 3;
            let sent = (state >> (self.sent() + r)) & 1;
            let seen = (state >> (self.seen() + r)) & 1;
            if tm == 0 && sent == 1 && seen == 0 {
                steps.push(Step::HearVote(r));
            }
            if rm == 0 {
                steps.push(Step::Prepare(r));
                steps.push(Step::GiveUp(r));
            }
            if tm == 1 && rm != COMMITTED {
                steps.push(Step::HearCommit(r));
            }
            if tm == 2 && rm != ABORTED {
                steps.push(Step::HearAbort(r));
            }
        }
    }

    fn next_state(&self, state: &u64, step: Step) -> Option<u64> {
        Some(match step {
            Step::DecideCommit => state | (1 << self.tm()),
            Step::DecideAbort => state | (2 << self.tm()),
            Step::HearVote(r) => state | (1 << (self.seen() + r)),
            Step::Prepare(r) => state | (1 << (2 * r)) | (1 << (self.sent() + r)),
            Step::GiveUp(r) | Step::HearAbort(r) => Self::with_rm(*state, r, ABORTED),
            Step::HearCommit(r) => Self::with_rm(*state, r, COMMITTED),
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("agreement", |model: &Packed, state: &u64| {
            let ones = (0..model.n).fold(0u64, |mask, r| mask | (1 << (2 * r)));
            let (low, high) = (state & ones, (state >> 1) & ones);
            (high & !low) == 0 || (high & low) == 0
        })]
    }
}

// A macro, since the versions of Stateright ask for different bounds.
macro_rules! search {
    ($model:expr, $threads:expr) => {{
        let began = Instant::now();
        let checker = $model.checker().threads($threads).spawn_bfs().join();
        let seconds = began.elapsed().as_secs_f64();
        let broken = checker.discovery("agreement").is_some();
        println!("{} {} {}", checker.unique_state_count(), seconds, broken);
    }};
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let n: usize = words[2].parse().expect("the number of participants");
    let threads: usize = words[3].parse().expect("the number of threads");
    match words[1].as_str() {
        "written" => search!(Written { n }, threads),
        "packed" => search!(Packed { n }, threads),
        other => panic!("written or packed, not {other}"),
    }
}
