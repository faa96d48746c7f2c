//! The client commands, where a server wants TLS and a token.

use std::process::{Command, Output};

use plybook_tests::certificates::{Authority, Safe};
use plybook_tests::node::{self, Node};

/// A node that speaks TLS and wants certificates of its clients.
struct House {
    node: Node,
    safe: Safe,
    _folder: tempfile::TempDir,
}

impl House {
    fn open() -> House {
        let (authority, clients) = (Authority::new(), Authority::new());
        let safe = Safe::with(&authority.server(), Some(&clients.roots()));
        safe.write("ca.pem", &authority.roots());
        safe.write("other-ca.pem", &clients.roots());
        safe.put("ann", &clients.client("ann", &[]));
        let folder = tempfile::tempdir().unwrap();
        let flags = [("--tls-cert", "node.pem"), ("--tls-key", "node.key"), ("--tls-client-ca", "clients.pem")];
        let flags: Vec<String> = flags.into_iter().flat_map(|(flag, file)| [flag.to_owned(), safe.flag(file)]).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let node = node::over(folder.path().join("books.db").to_str().unwrap()).with(&flags).start();
        House { node, safe, _folder: folder }
    }

    fn run(&self, args: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(node::binary());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PLYBOOK_") || name.starts_with("OTEL_")) {
            command.env_remove(name);
        }
        let url = format!("https://{}", self.node.address());
        command.args(args).args(["--server", &url, "--patience", "0"]).envs(environment.iter().copied()).output().unwrap()
    }
}

#[test]
fn commands_speak_tls_and_show_a_certificate() {
    let house = House::open();
    let [ca, other, cert, key] = ["ca.pem", "other-ca.pem", "ann.pem", "ann.key"].map(|name| house.safe.flag(name));
    let keys = |flags: &[&str]| house.run(&[&["keys"], flags].concat(), &[]);
    let told = keys(&["--ca", &ca, "--cert", &cert, "--key", &key]);
    assert!(told.status.success(), "{told:?}");
    let told = house.run(&["keys"], &[("PLYBOOK_CA", &ca), ("PLYBOOK_CERT", &cert), ("PLYBOOK_KEY", &key)]);
    assert!(told.status.success(), "by the environment: {told:?}");
    for (flags, code) in [
        (&["--ca", &ca][..], 1),
        (&["--ca", &other, "--cert", &cert, "--key", &key], 1),
        (&["--ca", &ca, "--cert", &cert], 2),
        (&["--ca", "nowhere.pem", "--cert", &cert, "--key", &key], 2),
        (&["--ca", &ca, "--cert", &key, "--key", &cert], 2),
    ] {
        let refused = keys(flags);
        assert_eq!(refused.status.code(), Some(code), "{flags:?}: {refused:?}");
    }
}

#[test]
fn a_token_is_sent_and_never_shown() {
    let house = House::open();
    let [ca, cert, key] = ["ca.pem", "ann.pem", "ann.key"].map(|name| house.safe.flag(name));
    house.safe.write("token", "swordfish\n");
    let file = house.safe.flag("token");
    let tls = ["--ca", &ca, "--cert", &cert, "--key", &key];
    let run = |flags: &[&str], environment: &[(&str, &str)]| house.run(&[&["keys"], &tls[..], flags].concat(), environment);
    for told in [run(&["--token", "swordfish"], &[]), run(&["--token-file", &file], &[]), run(&[], &[("PLYBOOK_TOKEN", "swordfish")])] {
        assert!(told.status.success(), "a node without authentication passes over it: {told:?}");
        assert!(!format!("{told:?}").contains("swordfish"));
    }
    for (flags, because) in [
        (&["--token", "two words"][..], "one line of printable ASCII"),
        (&["--token-file", "nowhere"], "nowhere"),
        (&["--token", "swordfish", "--token-file", &file], "cannot be used with"),
    ] {
        let refused = run(flags, &[]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && said.contains(because) && !said.contains("words"), "{flags:?}: {said}");
    }
    let help = house.run(&["keys", "--help"], &[("PLYBOOK_TOKEN", "swordfish")]);
    assert!(!String::from_utf8(help.stdout).unwrap().contains("swordfish"));
    let clear = Command::new(node::binary()).args(["keys", "--token", "swordfish", "--server", "http://192.0.2.1:1"]).output().unwrap();
    let said = String::from_utf8(clear.stderr).unwrap();
    assert!(clear.status.code() == Some(2) && said.contains("in clear") && !said.contains("swordfish"), "{said}");
}
