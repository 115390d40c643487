//! Requests cut anywhere, and errors.
