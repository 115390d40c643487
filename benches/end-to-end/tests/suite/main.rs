//! Tests of the pair.
