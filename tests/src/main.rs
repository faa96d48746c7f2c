//! (being written)
fn main(){}
