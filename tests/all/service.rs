//! The service: what every RPC, refusal and stream promises, asked over real connections.

mod absent;
mod audit;
mod configuration;
mod goldens;
mod hot;
mod hung;
mod joining;
mod joining_nodes;
mod legal;
mod limits;
mod long_games;
mod order;
mod outages;
mod reads;
mod reasons;
mod receipts;
mod refused;
mod refused_store;
mod restored;
mod shape;
mod streams;
mod traces;
mod transport;
mod versions;
mod watchers;
