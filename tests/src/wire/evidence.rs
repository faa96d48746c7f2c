//! Files of other servers, sent to be kept, and books compared.
//!
//! Invariant: a file goes out byte for byte, in pieces that no line's end decides.

use plybook_proto::v1;
use tonic::Status;

use super::Wire;

/// Bytes of a piece: small, so that lines are cut anywhere.
const PIECE_BYTES: usize = 1_000;

/// A file in pieces of so many bytes.
pub fn pieces(file: &[u8], bytes: usize) -> Vec<v1::ImportBookRequest> {
    let count = file.len().div_ceil(bytes).max(1);
    let piece = |n: usize| {
        let chunk = file[n * bytes..file.len().min((n + 1) * bytes)].to_vec();
        v1::ImportBookRequest { chunk, last: n + 1 == count }
    };
    (0..count).map(piece).collect()
}

impl Wire {
    /// ImportBook.
    pub async fn import(&self, file: impl AsRef<[u8]>) -> Result<v1::ImportBookResponse, Status> {
        let file = file.as_ref();
        let bytes = PIECE_BYTES.max(file.len() / 2_000);
        self.audit().import_book(futures::stream::iter(pieces(file, bytes))).await.map(tonic::Response::into_inner)
    }

    /// CompareBooks of two games.
    pub async fn compare(&self, left: &str, right: &str) -> Result<v1::CompareBooksResponse, Status> {
        let game = |id: &str| Some(v1::ComparedBook { book: Some(v1::compared_book::Book::GameId(id.to_owned())) });
        let request = v1::CompareBooksRequest { left: game(left), right: game(right) };
        self.audit().compare_books(request).await.map(tonic::Response::into_inner)
    }

    /// VerifyGame.
    pub async fn verified(&self, id: &str) -> Result<v1::VerifyGameResponse, Status> {
        let request = v1::VerifyGameRequest { game_id: id.to_owned() };
        self.audit().verify_game(request).await.map(tonic::Response::into_inner)
    }
}
