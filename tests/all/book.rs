//! What the book promises: its grammar, its digests, its dice, and the golden books.

mod clock;
mod damage;
mod deciding;
mod dice;
mod folding;
mod forking;
mod forks;
mod goldens;
mod grammar;
mod joining;
mod limits;
mod living;
mod oldest;
mod parting;
mod snapshots;
