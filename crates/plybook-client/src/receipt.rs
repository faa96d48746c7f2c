//! Receipts as text.
//!
//! Invariant: the line is the one of proto/book-format.md, section 5, which `plybook verify --receipt` reads; nothing
//! is checked here.

use plybook_proto::v1;

/// A receipt as one line, to be kept: `receipt <game> <entry> <digest> <key id> <signature>`, and behind it, where its head
/// was signed together with others, ` leaf <leaf index> of <tree size> <digest>,<digest>…`.
///
/// ```
/// use plybook_client::receipt;
/// use plybook_proto::v1;
///
/// let mut kept = v1::Receipt {
///     game_id: "0190f3b2-6c1e-7cc3-98c4-dc0c0c07398f".into(),
///     seq: 5,
///     book_digest: vec![0xab; 32],
///     key_id: "21fe31dfa154a261".into(),
///     signature: vec![0xcd; 64],
///     inclusion: None,
/// };
/// let [digest, signature] = ["ab".repeat(32), "cd".repeat(64)];
/// let line = format!("receipt 0190f3b2-6c1e-7cc3-98c4-dc0c0c07398f 5 {digest} 21fe31dfa154a261 {signature}");
/// assert_eq!(receipt::line(&kept), line);
///
/// kept.inclusion = Some(v1::Inclusion { leaf_index: 2, tree_size: 4, path: vec![vec![0x12; 32].into(), vec![0x34; 32].into()] });
/// assert_eq!(receipt::line(&kept), format!("{line} leaf 2 of 4 {},{}", "12".repeat(32), "34".repeat(32)));
/// ```
pub fn line(receipt: &v1::Receipt) -> String {
    let (digest, signature) = (hex(&receipt.book_digest), hex(&receipt.signature));
    let alone = format!("receipt {} {} {digest} {} {signature}", receipt.game_id, receipt.seq, receipt.key_id);
    let Some(v1::Inclusion { leaf_index, tree_size, path }) = &receipt.inclusion else { return alone };
    let path: Vec<String> = path.iter().map(|node| hex(node)).collect();
    format!("{alone} leaf {leaf_index} of {tree_size} {}", path.join(","))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
