//! The service: what every RPC, refusal and stream promises, asked over real connections.

mod goldens;
mod order;
mod reasons;
mod shape;
