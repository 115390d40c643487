//! Commands against what they must answer.
