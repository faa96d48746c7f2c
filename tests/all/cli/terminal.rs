//! The binary at a terminal of its own, by script(1): real keys, a real screen.
//!
//! Invariant: a test waits for what the screen shows, never for time; and whatever ran, the terminal is asked
//! afterwards whether it is as it was.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use plybook_tests::node;

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command at a terminal.
pub(super) struct Terminal {
    child: Child,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    /// What came before this was looked at already.
    seen: usize,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
struct Screen {
    bytes: Vec<u8>,
    ended: bool,
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Terminal {
    /// In 80 columns and 24 lines.
    pub(super) fn run(args: &[&str]) -> Terminal {
        Terminal::sized((24, 80), args)
    }

    /// In so many lines and columns.
    pub(super) fn sized((lines, columns): (u16, u16), args: &[&str]) -> Terminal {
        let words: Vec<String> = std::iter::once(node::binary().to_str().unwrap()).chain(args.iter().copied()).map(quoted).collect();
        let command = quoted(&format!("echo pid=$$; exec {}", words.join(" ")));
        // The key that interrupts is meant for the command; the shell around it has to ask afterwards.
        let session = format!(
            "trap : INT; stty rows {lines} cols {columns}; stty -a > \"$BEFORE\"; sh -c {command}; echo code=$?.; stty -a > \"$AFTER\"; cmp \"$BEFORE\" \"$AFTER\" && echo same."
        );
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command", &session, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .env("BEFORE", folder.path().join("before"))
            .env("AFTER", folder.path().join("after"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("script(1) runs: it belongs to util-linux");
        let screen = Arc::new((Mutex::new(Screen::default()), Condvar::new()));
        let (mut out, shared) = (child.stdout.take().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            loop {
                let read = out.read(&mut piece).unwrap_or(0);
                let mut screen = shared.0.lock().unwrap();
                screen.bytes.extend_from_slice(&piece[..read]);
                screen.ended = read == 0;
                shared.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Terminal { child, screen, seen: 0, _folder: folder }
    }

    /// The screen comes to show this, after what was waited for before.
    #[track_caller]
    pub(super) fn shows(&mut self, text: &str) -> &mut Terminal {
        let by = Instant::now() + PATIENCE;
        let (lock, changed) = &*self.screen;
        let mut screen = lock.lock().unwrap();
        loop {
            let found = screen.bytes[self.seen..].windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.seen += at + text.len();
                drop(screen);
                return self;
            }
            let left = by.saturating_duration_since(Instant::now());
            let shown = || String::from_utf8_lossy(&screen.bytes[self.seen..]).into_owned();
            assert!(!screen.ended && !left.is_zero(), "{text:?} is never shown: {:?}", shown());
            screen = changed.wait_timeout(screen, left).unwrap().0;
        }
    }

    /// All that was shown.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.0.lock().unwrap().bytes).into_owned()
    }

    /// Presses keys.
    pub(super) fn types(&mut self, keys: &str) -> &mut Terminal {
        let keyboard = self.child.stdin.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
        self
    }

    /// Sends the command a signal, such as TERM.
    pub(super) fn signal(&mut self, name: &str) {
        let text = self.text();
        let pid = text.split("pid=").nth(1).unwrap().split(['\r', '\n']).next().unwrap();
        assert!(Command::new("kill").args([format!("-{name}").as_str(), pid]).status().unwrap().success(), "{name}");
    }

    /// The command ends like this, and leaves every setting of the terminal as it was.
    #[track_caller]
    pub(super) fn left(&mut self, code: i32) {
        self.shows(&format!("code={code}."));
        self.shows("same.");
    }

    /// The same of a command that took the whole screen: the first screen is back, and the caret.
    #[track_caller]
    pub(super) fn ended(&mut self, code: i32) {
        self.left(code);
        let text = self.text();
        let last = |sequence: &str| text.rfind(sequence).unwrap_or_else(|| panic!("{sequence:?} is never sent: {text:?}"));
        assert!(last("\x1b[?1049l") > last("\x1b[?1049h"), "the first screen is back");
        assert!(last("\x1b[?25h") > last("\x1b[?25l"), "the caret is back");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
