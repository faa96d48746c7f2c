//! README.md's table of roles is the list by which the server decides.

use plybook_server::auth::Rpc;
use plybook_server::auth::access::{Reach, reaches};
use plybook_server::auth::role::ROLES;
use plybook_tests::node::root;

const fn word(reach: Reach) -> &'static str {
    match reach {
        Reach::Nothing => "–",
        Reach::OwnSeat => "own seat",
        Reach::OwnGame => "own game",
        Reach::NoSeat => "no seat",
        Reach::Tenant => "all",
    }
}

#[test]
fn the_readme_says_what_each_role_may_call() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = readme.lines().skip_while(|line| !line.starts_with("| calls |"));
    assert_eq!(cells(lines.next().unwrap())[1..], ROLES);
    let rows: Vec<Vec<String>> = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    for rpc in Rpc::ALL {
        let name = format!("`{}`", rpc.name());
        let rows: Vec<_> = rows.iter().filter(|row| row[0].split(", ").any(|call| call == name)).collect();
        assert_eq!(rows.len(), 1, "{name} stands in one row");
        assert_eq!(rows[0][1..], reaches(*rpc).map(word), "{name}");
    }
}
