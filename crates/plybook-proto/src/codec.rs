//! How messages are packed into frames: as protobuf, from buffers that begin small.
//!
//! Invariant: on the wire nothing differs from [`ProstCodec`]. Its buffers begin with 8 KiB each, two for every call and one for every
//! stream that is open, while nearly all messages have some hundred bytes.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// What a buffer begins with, in bytes; it grows with what it must hold.
const BUFFER_BYTES: usize = 1024;
/// Messages that are ready leave in one frame up to about so many bytes, which is tonic's own default.
const FRAME_BYTES: usize = 32 * 1024;

/// Protobuf, from small buffers.
#[derive(Debug)]
pub struct SmallCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        SmallCodec(PhantomData)
    }
}

impl<T, U> Codec for SmallCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::new(BUFFER_BYTES, FRAME_BYTES))
    }

    fn decoder(&mut self) -> ProstDecoder<U> {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(BUFFER_BYTES, FRAME_BYTES))
    }
}
