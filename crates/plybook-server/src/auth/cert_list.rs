//! The list of client certificates, read again while the node runs.
//!
//! Invariants: what cannot be read, or does not hold, leaves the list as it was, and is said once; a stream whose holder a new
//! list gives something else, or nothing, ends.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::PeerIdentity;
use super::client_certs::{ClientCerts, Holder};
use crate::config::ConfigError;

/// How often a file is looked at.
const FILE_EVERY: Duration = Duration::from_secs(2);

/// Whom client certificates stand for at the moment. Clones are of the same list.
#[derive(Clone, Debug)]
pub struct CertList(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: Option<PathBuf>,
    current: RwLock<ClientCerts>,
    /// What was found the last time.
    seen: Mutex<Result<String, String>>,
}

impl CertList {
    /// This list, for as long as the node runs.
    pub fn of(list: ClientCerts) -> CertList {
        CertList(Arc::new(Inner { file: None, current: RwLock::new(list), seen: Mutex::new(Ok(String::new())) }))
    }

    /// What stands in a file, which must hold now.
    pub fn open(file: &Path) -> Result<CertList, ConfigError> {
        let text = read(file).map_err(ConfigError)?;
        let list = list(file, &text).map_err(ConfigError)?;
        Ok(CertList(Arc::new(Inner { file: Some(file.to_owned()), current: RwLock::new(list), seen: Mutex::new(Ok(text)) })))
    }

    /// Whom a certificate stands for, and what is cancelled once it does no longer.
    pub(super) fn holder(&self, peer: &PeerIdentity) -> Option<(Holder, Arc<CancellationToken>)> {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        current.holder(peer).map(|(holder, revoked)| (holder.clone(), Arc::clone(revoked)))
    }

    /// Looks at the file every so often, and never ends; at once where there is none.
    pub(super) async fn follow(self) {
        while self.0.file.is_some() {
            tokio::time::sleep(FILE_EVERY).await;
            let list = self.clone();
            if tokio::task::spawn_blocking(move || list.look()).await.is_err() {
                return;
            }
        }
    }

    fn look(&self) {
        let Some(file) = &self.0.file else { return };
        let found = read(file);
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == found {
            return;
        }
        seen.clone_from(&found);
        match found.and_then(|text| list(file, &text)) {
            Ok(list) => {
                tracing::info!(certificates = list.len(), "the list of client certificates was read");
                self.0.current.write().unwrap_or_else(PoisonError::into_inner).give_way(list);
            }
            Err(why) => tracing::warn!(%why, "the list of client certificates stays as it was"),
        }
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn list(file: &Path, text: &str) -> Result<ClientCerts, String> {
    ClientCerts::read(text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::Role;
    use super::*;

    fn line(name: &str, role: &str) -> String {
        format!(r#"{{"name": "{name}", "tenant": "shop", "principal": "svc", "role": "{role}"}}"#)
    }

    fn role(list: &CertList, name: &str) -> Option<Role> {
        list.holder(&PeerIdentity { names: [name.to_owned()].into() }).map(|(holder, _)| holder.role)
    }

    #[test]
    fn a_new_list_is_taken_and_one_that_does_not_hold_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("certs");
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        write(&line("cn:a", "service"));
        let list = CertList::open(&file).unwrap();
        for broken in ["no list", "{}", &format!("{}\nhalf of a l", line("cn:b", "auditor"))] {
            write(broken);
            list.look();
            assert_eq!((role(&list, "cn:a"), role(&list, "cn:b")), (Some(Role::Service), None), "{broken}");
        }
        std::fs::remove_file(&file).unwrap();
        list.look();
        assert_eq!(role(&list, "cn:a"), Some(Role::Service), "a file that is gone");
        write(&line("cn:b", "auditor"));
        list.look();
        assert_eq!((role(&list, "cn:a"), role(&list, "cn:b")), (None, Some(Role::Auditor)));
    }

    #[test]
    fn who_stands_for_somebody_else_now_is_told_so_and_nobody_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("certs");
        let write = |lines: &[String]| std::fs::write(&file, lines.join("\n")).unwrap();
        write(&[line("cn:stays", "service"), line("cn:changes", "service"), line("cn:goes", "service")]);
        let list = CertList::open(&file).unwrap();
        let names = ["cn:stays", "cn:changes", "cn:goes"];
        let revoked = names.map(|name| list.holder(&PeerIdentity { names: [name.to_owned()].into() }).unwrap().1);
        write(&[line("cn:new", "service"), line("cn:changes", "auditor"), line("cn:stays", "service")]);
        list.look();
        assert_eq!(revoked.map(|revoked| revoked.is_cancelled()), [false, true, true]);
    }

    #[test]
    fn a_start_names_the_file() {
        let why = CertList::open(Path::new("/nonexistent/certs")).unwrap_err().to_string();
        assert!(why.contains("/nonexistent/certs: No such file"), "{why}");
    }
}
