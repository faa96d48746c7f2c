//! The service: what every RPC, refusal and stream promises, asked over real connections.

mod goldens;
mod hot;
mod limits;
mod long_games;
mod order;
mod reads;
mod reasons;
mod shape;
mod streams;
mod transport;
mod watchers;
