//! What was published, what was heard, and what the one says about the other.

use std::fmt;

/// What a publisher knows about one of its publications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The reply was a number of deliveries.
    Accepted,
    /// The reply was an error: delivered in part or not at all.
    Refused,
    /// The connection ended before the reply came.
    Unknown,
}

/// The publications of one publisher, by number from 0.
#[derive(Clone, Default)]
pub(crate) struct Published(Vec<Outcome>);

impl Published {
    /// The number of the next one.
    pub(crate) fn next(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, outcome: Outcome) {
        self.0.push(outcome);
    }

    pub(crate) fn all_accepted(&self) -> bool {
        self.0.iter().all(|outcome| *outcome == Outcome::Accepted)
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.0.iter().enumerate();
        let others = others.filter(|(_, outcome)| **outcome != Outcome::Accepted);
        write!(f, "{} publications, but ", self.0.len())?;
        f.debug_map().entries(others).finish()
    }
}

/// What one subscriber heard: for each of its connections, publisher and number in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Vec<Vec<(usize, usize)>>);

impl Log {
    pub(crate) fn begin_session(&mut self) {
        self.0.push(Vec::new());
    }

    pub(crate) fn sessions(&self) -> usize {
        self.0.len()
    }

    /// Notes a payload of the form `PUBLISHER:NUMBER`.
    pub(crate) fn push(&mut self, payload: &str) {
        let parsed = payload
            .split_once(':')
            .and_then(|(publisher, number)| Some((publisher.parse().ok()?, number.parse().ok()?)));
        let message = parsed.unwrap_or_else(|| panic!("not from this load: {payload:?}"));
        self.0
            .last_mut()
            .expect("a session has begun")
            .push(message);
    }
}

/// Order and exactly-once. Of each publisher, a subscriber heard increasing numbers: nothing twice and
/// nothing out of order, over all its connections. Within one connection nothing accepted is missing
/// between the first and the last number heard; the first connection begins with the load, and the
/// last one ends with it.
#[track_caller]
pub(crate) fn check(log: &Log, published: &[Published]) {
    for (publisher, published) in published.iter().enumerate() {
        let mut after = None;
        for (session, messages) in log.0.iter().enumerate() {
            let heard: Vec<_> = messages
                .iter()
                .filter(|(from, _)| *from == publisher)
                .map(|(_, number)| *number)
                .collect();
            for &number in &heard {
                assert!(
                    after < Some(number) && number < published.0.len(),
                    "of publisher {publisher}, {number} was heard after {after:?}"
                );
                after = Some(number);
            }
            let first = if session == 0 {
                Some(0)
            } else {
                heard.first().copied()
            };
            let is_last = session + 1 == log.0.len();
            let last = if is_last {
                published.0.len().checked_sub(1)
            } else {
                heard.last().copied()
            };
            let (Some(first), Some(last)) = (first, last) else {
                continue;
            };
            for number in first..=last {
                assert!(
                    published.0[number] != Outcome::Accepted
                        || heard.binary_search(&number).is_ok(),
                    "publisher {publisher}'s {number} was accepted and not heard in connection \
                     {session}, which heard {first} to {last}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, Outcome, Published, check};

    fn published(count: usize) -> Published {
        Published(vec![Outcome::Accepted; count])
    }

    fn log(sessions: &[&[usize]]) -> Log {
        let of_first = |session: &&[usize]| session.iter().map(|&number| (0, number)).collect();
        Log(sessions.iter().map(of_first).collect())
    }

    #[test]
    fn a_gap_between_connections_is_allowed_and_so_is_what_was_refused() {
        check(&log(&[&[0, 1, 2], &[5, 6]]), &[published(7)]);
        let mut refused = published(5);
        refused.0[2] = Outcome::Refused;
        refused.0[3] = Outcome::Unknown;
        check(&log(&[&[0, 1, 4]]), &[refused.clone()]);
        check(&log(&[&[0, 1, 2, 3, 4]]), &[refused]);
    }

    #[test]
    #[should_panic(expected = "was heard after Some(1)")]
    fn a_repetition_is_found() {
        check(&log(&[&[0, 1, 1, 2]]), &[published(3)]);
    }

    #[test]
    #[should_panic(expected = "was heard after Some(2)")]
    fn a_repetition_after_a_reconnect_is_found() {
        check(&log(&[&[0, 1, 2], &[2, 3]]), &[published(4)]);
    }

    #[test]
    #[should_panic(expected = "was heard after Some(2)")]
    fn a_swap_is_found() {
        check(&log(&[&[0, 2, 1]]), &[published(3)]);
    }

    #[test]
    #[should_panic(expected = "1 was accepted and not heard")]
    fn a_loss_is_found() {
        check(&log(&[&[0, 2]]), &[published(3)]);
    }

    #[test]
    #[should_panic(expected = "3 was accepted and not heard")]
    fn a_loss_at_the_end_is_found() {
        check(&log(&[&[0, 1, 2]]), &[published(4)]);
    }
}
