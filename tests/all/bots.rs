//! What bots promise: they change nothing, answer the same for ever, and play well.

mod chance;
