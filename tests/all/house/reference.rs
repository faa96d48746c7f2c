//! The page of the contract is the contract's own comments.

use plybook_tests::node::root;
use plybook_tests::reference;

use super::page;

#[test]
fn the_reference_is_the_contracts_own_comments() {
    let (name, made) = ("proto/reference.md", reference::page());
    if std::env::var_os("PLYBOOK_WRITE").is_some() {
        std::fs::write(root().join(name), &made).unwrap();
    }
    assert!(page(name).text == made, "{name} is of another contract: PLYBOOK_WRITE=1 ./tests/run house::reference writes it anew");
}

#[test]
fn everything_on_the_reference_is_described_and_every_link_leads_somewhere() {
    let made = reference::page();
    let headings: Vec<String> = made.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_lowercase).collect();
    assert!(headings.len() > 50, "the page has the contract's messages");
    for line in made.lines().filter(|line| line.starts_with("| ")) {
        assert!(!line.ends_with("|  |"), "nothing is said of it: {line}");
        for target in line.split("(#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(headings.iter().any(|heading| heading == target), "{target}: {line}");
        }
    }
}
