//! `plybook refusals`: what was asked of a game in vain, newest first.
//!
//! Invariant: a page is printed when it has come, so that who reads on with `head` waits for no more.

use clap::Args;
use plybook_core::Time;
use plybook_proto::v1;
use serde_json::json;

use crate::link::Link;
use crate::screen::Screen;

/// Refusals fetched at once.
const PAGE: i32 = 200;
/// Least widths of time, actor, seat, what was asked, expected entry, head and reason.
const WIDTHS: [usize; 7] = [24, 9, 4, 10, 8, 4, 14];

/// Flags of `plybook refusals`.
#[derive(Args, Debug)]
pub(crate) struct RefusalsArgs {
    #[command(flatten)]
    link: Link,
    /// The game.
    game: String,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Prints page by page.
pub(crate) async fn run(args: RefusalsArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let screen = Screen::new();
    let mut request = v1::ListRefusalsRequest { game_id: args.game, page_size: PAGE, page_token: String::new() };
    let mut any = false;
    loop {
        let page = client.list_refusals(request.clone()).await?;
        if !page.refusals.is_empty() {
            let told = if args.json { objects(&page.refusals) } else { table(&page.refusals, !any) };
            screen.say(told.join("\n"))?;
            any = true;
        }
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    if !any {
        eprintln!("no refused request of this game is remembered");
    }
    Ok(())
}

fn objects(refusals: &[v1::RefusedRequest]) -> Vec<String> {
    let object = |one: &v1::RefusedRequest| {
        json!({
            "refuse_time": time(one), "actor": one.actor, "seat": one.seat, "asked": one.asked, "request_id": one.request_id,
            "expected_seq": one.expected_seq, "head_seq": one.head_seq, "reason": reason(one), "detail": one.detail,
        })
    };
    refusals.iter().map(|one| object(one).to_string()).collect()
}

/// One line each, in columns as wide as the page needs; the request's id is in the JSON form only.
fn table(refusals: &[v1::RefusedRequest], with_head: bool) -> Vec<String> {
    let head = ["TIME", "ACTOR", "SEAT", "ASKED", "EXPECTED", "HEAD", "REASON", "WHY"].map(str::to_owned);
    let rows = refusals.iter().map(|one| {
        let seat = one.seat.map_or_else(|| "-".to_owned(), |seat| seat.to_string());
        let (expected, head) = (one.expected_seq.to_string(), one.head_seq.to_string());
        [time(one), one.actor.clone(), seat, one.asked.clone(), expected, head, reason(one), one.detail.clone()]
    });
    let rows: Vec<_> = with_head.then_some(head).into_iter().chain(rows).collect();
    let mut widths = WIDTHS;
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        format!("{}{}", cells.collect::<String>(), row[7]).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// When it was refused, as in a book.
pub(crate) fn time(one: &v1::RefusedRequest) -> String {
    let time = one.refuse_time.unwrap_or_default();
    let ms = time.seconds.max(0).cast_unsigned().saturating_mul(1000);
    Time::from_unix_ms(ms.saturating_add(u64::from(time.nanos.max(0).cast_unsigned()) / 1_000_000)).to_string()
}

/// The reason, without its prefix.
pub(crate) fn reason(one: &v1::RefusedRequest) -> String {
    let name = one.reason().as_str_name();
    name.strip_prefix("ERROR_REASON_").unwrap_or(name).to_owned()
}
