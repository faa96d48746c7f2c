//! What the book promises: its grammar, its digests, its dice, and the golden books.

mod damage;
mod deciding;
mod dice;
mod folding;
mod goldens;
mod grammar;
mod joining;
mod limits;
mod parting;
mod snapshots;
