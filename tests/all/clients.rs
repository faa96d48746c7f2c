//! Clients of other languages, in `deploy/clients`: their examples play and watch while the only node is killed, drained and
//! started again, and their own tests pass.

mod python;
mod typescript;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use plybook_rulesets::Registry;
use plybook_tests::node::{self, Node};
use plybook_tests::ports;
use plybook_tests::python::target;

/// What is generated or installed beside a client, and is none of its sources.
const NOT_SOURCES: &[&str] = &["node_modules", "dist", "gen", ".venv", "build", "plybook", "__pycache__"];

/// A copy of a client under `target/`, to be built in.
fn workplace(client: &str) -> PathBuf {
    let place = target().join("clients").join(client);
    // What an earlier checkout had must not be built; what was installed may stay.
    for old in std::fs::read_dir(&place).into_iter().flatten().map(Result::unwrap) {
        match old.file_type().unwrap().is_dir() {
            true if old.file_name() == "node_modules" => {}
            true => std::fs::remove_dir_all(old.path()).unwrap(),
            false => std::fs::remove_file(old.path()).unwrap(),
        }
    }
    copy(&node::root().join("deploy/clients").join(client), &place);
    place
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        match path.is_dir() {
            true if NOT_SOURCES.iter().any(|known| name == *known) => {}
            true => copy(&path, &to.join(name)),
            false => drop(std::fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// Puts the code that the readme shows among the examples, where its types are checked.
fn readme_beside_the_examples(place: &Path, language: &str) {
    let readme = std::fs::read_to_string(place.join("README.md")).unwrap();
    let fence = format!("\n```{language}\n");
    let shown: Vec<&str> = readme.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(!shown.is_empty(), "the readme shows how it is used");
    for (n, code) in shown.into_iter().enumerate() {
        let name = format!("examples/readme_{n}.{}", if language == "python" { "py" } else { language });
        std::fs::write(place.join(name), format!("{code}\n")).unwrap();
    }
}

#[track_caller]
fn done(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let Output { status, stdout, stderr } = &output;
    let said = format!("{}{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    assert!(status.success(), "{command:?}:\n{said}");
    said
}

/// Plays a game of every ruleset by the example, which waits for Enter before each move: before the second move of each game the
/// node is killed, before the fourth it drains, and it comes back while the move is on its way.
fn plays_on_while_the_node_comes_and_goes(example: &mut Command) {
    let folder = tempfile::tempdir().unwrap();
    let (file, listen) = (folder.path().join("games.db"), format!("127.0.0.1:{}", ports::free()));
    let start = || node::over_at(file.to_str().unwrap(), &listen).start();
    let mut there = start();
    let told = folder.path().join("told.txt");
    example.args([&there.url(), "--step"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&told).unwrap());
    let mut playing = example.spawn().unwrap_or_else(|why| panic!("{example:?}: {why}"));
    let (mut keyboard, mut screen) = (playing.stdin.take().unwrap(), BufReader::new(playing.stdout.take().unwrap()));
    let (mut prompts, mut seen) = (BTreeMap::<String, u32>::new(), String::new());
    loop {
        let mut shown = Vec::new();
        screen.read_until(b'?', &mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        seen.push_str(&shown);
        let Some(prompt) = shown.strip_suffix('?') else { break };
        let ruleset = prompt.lines().last().unwrap().trim().split(':').next().unwrap().to_owned();
        let prompts = prompts.entry(ruleset).or_default();
        *prompts += 1;
        let mut press_enter = || keyboard.write_all(b"\n").unwrap();
        match prompts {
            2 => {
                there.kill();
                press_enter();
                there = start();
            }
            4 => {
                there.terminate();
                press_enter();
                Node::ended(there);
                there = start();
            }
            _ => press_enter(),
        }
    }
    screen.read_to_string(&mut seen).unwrap();
    let told = std::fs::read_to_string(told).unwrap();
    assert!(playing.wait().unwrap().success(), "{seen}{told}");
    for card in Registry::standard().cards() {
        assert!(seen.contains(&format!("{}: ", card.id().name)) && seen.contains(" entries, won by "), "{}:\n{seen}", card.id());
    }
    assert_eq!(seen.matches(" entries, won by ").count(), prompts.len(), "{seen}");
    assert!(told.matches("again in ").count() >= prompts.len(), "calls were sent again:\n{told}");
}
