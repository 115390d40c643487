//! The schema and everything that follows it: our codec, the link's, and a decoder in Python that
//! knows nothing but the XML.

#[path = "sbe/corpus.rs"]
mod corpus;
#[path = "sbe/evolution.rs"]
mod evolution;
#[path = "sbe/link.rs"]
mod link;
#[path = "sbe/support.rs"]
mod support;
#[path = "sbe/templates.rs"]
mod templates;
