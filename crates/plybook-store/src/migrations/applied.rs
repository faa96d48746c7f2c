//! What was done to a database's schema so far, and whether this build can go on from there.
//!
//! Invariant: a schema that this build does not know whole is refused, unless all that it does not know was made by later builds
//! and says that the build before may go on beside it.

use super::{EXPANDS, Script, migration};
use crate::error::Error;

/// The oldest schema whose books this build can read: what reads them names no column that came later.
const OLDEST_READ: i64 = 1;

/// A migration that a database remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) is_whole: bool,
    pub(crate) checksum: Vec<u8>,
}

/// A migration of this build or of a database, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub version: i64,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub standing: Standing,
    /// What it says; nothing where it is a later build's.
    pub text: Option<&'static str>,
}

/// Where a migration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was done.
    Applied,
    /// It is to be done.
    Pending,
    /// A later build did it, and this one goes on beside it.
    Later,
    /// This build does not know it, or knows another one of its number.
    Unknown,
}

/// Says in a sentence why such a schema does not serve this build; nothing at all is no schema.
pub(crate) fn check(scripts: &'static [Script], found: &[Applied]) -> Result<(), Error> {
    check_from(scripts, newest(scripts), found)
}

/// The same, for a build that only reads books.
pub(crate) fn check_read(scripts: &'static [Script], found: &[Applied]) -> Result<(), Error> {
    check_from(scripts, OLDEST_READ, found)
}

/// The same, for a build that is about to do what is missing.
pub(crate) fn check_migrate(scripts: &'static [Script], found: &[Applied]) -> Result<(), Error> {
    check_known(scripts, found)
}

/// Every migration that this build or the database knows, ascending.
pub(crate) fn steps(scripts: &'static [Script], found: &[Applied]) -> Vec<Step> {
    let of_build = scripts.iter().map(|script| {
        let standing = match found.iter().find(|applied| applied.version == script.0) {
            None => Standing::Pending,
            Some(applied) if is_same(script, applied) && applied.is_whole => Standing::Applied,
            Some(_) => Standing::Unknown,
        };
        Step { version: script.0, name: script.1.to_owned(), standing, text: Some(script.2) }
    });
    let foreign = found.iter().filter(|applied| scripts.iter().all(|script| script.0 != applied.version)).map(|applied| {
        let is_later = applied.version > newest(scripts) && applied.is_whole && applied.name.starts_with(EXPANDS);
        let standing = if is_later { Standing::Later } else { Standing::Unknown };
        Step { version: applied.version, name: applied.name.clone(), standing, text: None }
    });
    let mut steps: Vec<Step> = of_build.chain(foreign).collect();
    steps.sort_by_key(|step| step.version);
    steps
}

fn newest(scripts: &[Script]) -> i64 {
    scripts.iter().map(|script| script.0).max().unwrap_or(0)
}

fn is_same(script: &Script, applied: &Applied) -> bool {
    *migration(script).checksum == *applied.checksum
}

fn check_known(scripts: &'static [Script], found: &[Applied]) -> Result<(), Error> {
    let wanted = newest(scripts);
    let refusal = |why: String| Err(Error::Config(why));
    if let Some(Applied { version, .. }) = found.iter().find(|applied| !applied.is_whole) {
        return refusal(format!("the database's schema {version} was begun and not finished: restore it, or finish it by hand"));
    }
    if let Some(later) = found.iter().rfind(|applied| applied.version > wanted && !applied.name.starts_with(EXPANDS)) {
        return refusal(format!(
            "the database's schema {} is newer than schema {wanted} of this plybook: use a newer plybook",
            later.version
        ));
    }
    for script in scripts {
        let other = found.iter().find(|applied| applied.version == script.0 && !is_same(script, applied));
        if let Some(Applied { version, .. }) = other {
            return refusal(format!(
                "the database was brought to schema {version} by another plybook: its migration differs from this one's"
            ));
        }
    }
    Ok(())
}

fn check_from(scripts: &'static [Script], least: i64, found: &[Applied]) -> Result<(), Error> {
    let wanted = newest(scripts);
    let Some(newest) = found.iter().map(|applied| applied.version).max() else {
        return Err(Error::Config("the database has no Plybook schema: run `plybook migrate`".to_owned()));
    };
    check_known(scripts, found)?;
    let is_there = |version| found.iter().any(|applied| applied.version == version);
    match scripts.iter().map(|script| script.0).find(|version| *version <= least && !is_there(*version)) {
        None => Ok(()),
        Some(missing) if missing > newest => Err(Error::Config(format!(
            "the database's schema {newest} is older than schema {wanted} of this plybook: run `plybook migrate`"
        ))),
        Some(missing) => Err(Error::Config(format!("the database's schema lacks migration {missing}: it is no schema of any plybook"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const LATER: &[Script] = &[(1, "books", "a"), (2, "expand: more", "b"), (3, "contract: less", "c")];

    fn applied(version: i64) -> Applied {
        let script = LATER.iter().find(|script| script.0 == version);
        let checksum = script.map_or_else(|| vec![9], |script| migration(script).checksum.to_vec());
        Applied { version, name: script.map_or("expand: later", |script| script.1).to_owned(), is_whole: true, checksum }
    }

    /// Whoever only reads books takes what it still can, whoever serves does not.
    #[test]
    fn an_older_schema_is_read_and_not_served() {
        for (found, serves, reads) in [
            (&[][..], false, false),
            (&[0], false, false),
            (&[1], false, true),
            (&[1, 2], false, true),
            (&[1, 2, 3], true, true),
            (&[1, 3], false, true),
            (&[1, 2, 3, 4], true, true),
            (&[4], false, false),
        ] {
            let found: Vec<Applied> = found.iter().copied().map(applied).collect();
            assert_eq!(check(LATER, &found).is_ok(), serves, "{found:?}");
            assert_eq!(check_read(LATER, &found).is_ok(), reads, "{found:?}");
        }
        assert!(check(LATER, &[applied(1), applied(2)]).unwrap_err().to_string().contains("plybook migrate"));
        assert!(check(LATER, &[applied(1), applied(3)]).unwrap_err().to_string().contains("no schema of any plybook"));
    }

    #[test]
    fn a_build_goes_on_beside_an_expansion_and_beside_nothing_else() {
        let all = || LATER.iter().map(|script| applied(script.0)).chain([applied(4)]);
        let with = |change: fn(&mut Applied)| {
            let mut found: Vec<Applied> = all().collect();
            change(found.last_mut().unwrap());
            found
        };
        assert!(check(LATER, &with(|_| ())).is_ok());
        assert_eq!(steps(LATER, &with(|_| ()))[3].standing, Standing::Later);
        for (change, why) in [
            ((|last| last.name = "contract: later".to_owned()) as fn(&mut Applied), "is newer"),
            (|last| last.name = "later".to_owned(), "is newer"),
            (|last| last.is_whole = false, "not finished"),
            (|last| *last = Applied { checksum: vec![1], ..applied(3) }, "another plybook"),
        ] {
            for check in [check, check_read, check_migrate] {
                let told = check(LATER, &with(change)).unwrap_err().to_string();
                assert!(told.contains(why), "{told}");
            }
        }
    }

    #[test]
    fn steps_say_what_is_to_be_done() {
        let found = [applied(1), Applied { checksum: vec![1], ..applied(2) }];
        let standing: Vec<Standing> = steps(LATER, &found).iter().map(|step| step.standing).collect();
        assert_eq!(standing, [Standing::Applied, Standing::Unknown, Standing::Pending]);
    }
}
