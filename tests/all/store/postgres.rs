//! What only the shared store promises.

use std::time::{Duration, Instant};

use plybook_core::{Seq, Time, Uuid};
use plybook_store::{Append, Error, Filter, GameKey, NewEntry, Postgres, PostgresOptions, State, Store, StoredEntry, TenantId};
use plybook_tests::patience::{NEVER, PATIENCE, in_more_and_more_time};
use plybook_tests::postgres::{database, empty_database};
use sqlx::Executor;

use super::{move_state, new_entry, new_game, new_key, open_game, play_to, request, stored};

#[tokio::test]
async fn the_database_refuses_to_change_what_is_written() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    play_to(&store, key, 3).await;
    let book = store.entries(key, Seq::ZERO, 10).await.unwrap();
    for sql in [
        "UPDATE book_entry SET line = 'x' WHERE seq = 2",
        "UPDATE book_entry SET request_id = gen_random_uuid() WHERE seq = 2",
        "UPDATE book_entry SET epoch = 2",
        "UPDATE book_entry SET request_id = request_id",
        "DELETE FROM book_entry WHERE seq = 3",
        "DELETE FROM book_entry_rest",
        "TRUNCATE book_entry",
        "TRUNCATE book_entry_rest",
        "UPDATE game_seed SET seed = sha256('x')",
        "DELETE FROM game_seed",
        "TRUNCATE game_seed",
    ] {
        let refusal = database.try_execute(sql).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "23001", "{sql}: {refusal}");
    }
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), book);
}

#[tokio::test]
async fn a_role_with_plybooks_grants_plays_and_does_no_more() {
    let database = database().await;
    database.execute("CREATE ROLE plybook_app LOGIN; SELECT plybook_grant('plybook_app')").await;
    let url = database.url.replace("//plybook@", "//plybook_app@");
    let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
    store.ready().await.unwrap();
    let key = open_game(&store).await;
    let entries = play_to(&store, key, 3).await;
    move_state(&store, key, 4, State::Finished).await;
    assert_eq!(store.append(entries[0].clone()).await.unwrap(), Append::Repeated(stored(&entries[0])));
    assert_eq!(store.append(new_entry(key, 3, request(1))).await.unwrap(), Append::Conflict);
    store.feed(TenantId::DEFAULT, None, 10).await.unwrap();
    store.feed_end(TenantId::DEFAULT).await.unwrap();
    store.feed_holder().await.unwrap();
    for keep in [2, 1] {
        store.remember(&[super::refusals::refused(key, 1), super::refusals::refused(key, 2)], keep).await.unwrap();
    }
    assert_eq!(store.forget_refusals(Time::from_unix_ms(u64::MAX), 10).await.unwrap(), 1);
    let forbidden = [
        "DELETE FROM book_entry",
        "UPDATE book_entry SET line = 'x'",
        "UPDATE book_entry SET request_id = request_id",
        "TRUNCATE book_entry",
        "DELETE FROM game",
        "UPDATE game SET ruleset = 'x'",
        "UPDATE game_seed SET seed = seed",
        "UPDATE refusal SET detail = ''",
        "TRUNCATE refusal",
        "DROP TABLE book_entry",
        "INSERT INTO tenant VALUES (9, 'mine')",
        "INSERT INTO api_key SELECT * FROM api_key",
        "UPDATE api_key SET role = 'service'",
        "UPDATE api_key SET revoked_at = NULL",
        "DELETE FROM api_key",
    ];
    database.forbids("plybook_app", &forbidden).await;
}

#[tokio::test]
async fn a_schema_of_another_build_is_told_in_a_sentence() {
    let database = empty_database().await;
    let store = database.store().await;
    let says = |error: Error, words: &str| assert!(matches!(&error, Error::Config(why) if why.contains(words)), "{error:?}");
    says(store.ready().await.unwrap_err(), "run `plybook migrate`");

    let other = database.store().await;
    let (one, two) = tokio::join!(store.migrate(), other.migrate());
    one.unwrap();
    two.unwrap();
    store.migrate().await.unwrap();
    store.ready().await.unwrap();

    let row = |version: &str| {
        format!(
            "INSERT INTO _sqlx_migrations SELECT {version}, description, now(), true, checksum, 0 FROM _sqlx_migrations ORDER BY version LIMIT 1"
        )
    };
    database.execute(&row("9999")).await;
    says(store.ready().await.unwrap_err(), "newer plybook");
    says(store.migrate().await.unwrap_err(), "newer plybook");
    database.execute("DELETE FROM _sqlx_migrations WHERE version = 9999").await;
    database.execute("DELETE FROM _sqlx_migrations WHERE version > 1; UPDATE _sqlx_migrations SET version = 0").await;
    says(store.ready().await.unwrap_err(), "run `plybook migrate`");
}

/// Whatever an administrator set for the database.
#[tokio::test]
async fn appending_sessions_wait_for_the_disk() {
    let database = database().await;
    database
        .execute(
            "CREATE TABLE seen (setting text);
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
             CREATE TRIGGER see AFTER INSERT ON book_entry FOR EACH ROW EXECUTE FUNCTION see();
             DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
        )
        .await;
    assert_eq!(database.column("SELECT current_setting('synchronous_commit')").await, ["off"], "the default is as the test wants it");
    let store = database.store().await;
    let key = open_game(&store).await;
    play_to(&store, key, 2).await;
    assert_eq!(database.column("SELECT setting FROM seen").await, ["on", "on"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_backends_cost_a_retry_and_nothing_else() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    for seq in 2..8 {
        assert!(database.kill_all().await > 0, "there is something to lose");
        let entry = new_entry(key, seq, request(1));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match store.append(entry.clone()).await {
                Ok(Append::Stored | Append::Repeated(_)) => break,
                Err(Error::Unavailable(_)) => assert!(Instant::now() < deadline, "the store never came back"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(store.last(key).await.unwrap(), Some(stored(&entry)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_too_slow_is_unavailable() {
    let database = database().await;
    let key = open_game(&database.store().await).await;
    let entry = new_entry(key, 2, request(1));
    let one = PostgresOptions { max_connections: 1, ..PostgresOptions::new(&database.url) };
    let hasty = PostgresOptions { statement_timeout: Duration::from_millis(600), acquire_timeout: PATIENCE, ..one.clone() };
    let hasty = Postgres::connect(&hasty).await.unwrap();
    let (_, crowded) = in_more_and_more_time(Duration::from_millis(200), async |acquire_timeout| {
        Postgres::connect(&PostgresOptions { acquire_timeout, statement_timeout: NEVER, ..one.clone() }).await
    })
    .await;
    let mut blocker = database.connect().await;
    blocker.execute("BEGIN; LOCK TABLE book_entry").await.unwrap();

    let unavailable = |answer| match answer {
        Err(Error::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = unavailable(hasty.append(entry.clone()).await);
    assert!(why.contains("statement timeout"), "{why}");
    // One holds the only connection for as long as the table is locked, and the other is told.
    let appends = [(); 2].map(|()| Box::pin(crowded.append(entry.clone())));
    let (told, _, other) = futures::future::select_all(appends).await;
    let why = unavailable(told);
    assert!(why.contains("pool timed out"), "{why}");
    blocker.execute("ROLLBACK").await.unwrap();
    futures::future::join_all(other).await;
    let stored = hasty.append(entry.clone()).await.unwrap();
    assert!(matches!(stored, Append::Stored | Append::Repeated(_)), "{stored:?}");
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_told_apart() {
    let database = database().await;
    let socket = plybook_tests::ports::Nobody::new();
    let free = socket.address().port();
    let nobody = Postgres::connect(&PostgresOptions::new(format!("postgres://plybook@127.0.0.1:{free}/x"))).await.unwrap_err();
    assert!(matches!(&nobody, Error::Unavailable(why) if why.contains(&free.to_string())), "{nobody:?}");

    let base = &database.url[..database.url.rfind('/').unwrap()];
    let unknown = Postgres::connect(&PostgresOptions::new(format!("{base}/no_such_database"))).await.unwrap_err();
    assert!(matches!(&unknown, Error::Config(why) if why.contains("no_such_database")), "{unknown:?}");

    let nonsense = Postgres::connect(&PostgresOptions::new("books.db")).await.unwrap_err();
    assert!(matches!(nonsense, Error::Config(_)), "{nonsense:?}");
}

#[tokio::test]
async fn a_missing_entry_is_noticed() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    play_to(&store, key, 5).await;
    database.execute("ALTER TABLE book_entry DISABLE TRIGGER USER; DELETE FROM book_entry WHERE seq = 3").await;
    for after in [Seq::ZERO, Seq(2)] {
        let answer = store.entries(key, after, 10).await;
        assert!(matches!(answer, Err(Error::Missing { game, seq: Seq(3) }) if game == key.game), "{answer:?}");
    }
    // And nothing can be written into the hole's place from behind it.
    assert_eq!(store.append(new_entry(key, 4, request(1))).await.unwrap(), Append::Conflict);
}

#[tokio::test]
async fn a_game_that_lost_entries_stays_in_its_list() {
    let database = database().await;
    let store = database.store().await;
    let games = [open_game(&store).await, open_game(&store).await, open_game(&store).await, open_game(&store).await];
    for key in games {
        play_to(&store, key, 3).await;
        move_state(&store, key, 4, State::Closed).await;
    }
    let [sound, beheaded, holed, gone] = games.map(|key| key.game);
    let lose = |game, which: &str| format!("DELETE FROM book_entry WHERE game_id = '{game}' AND {which};");
    let loss = [lose(beheaded, "seq = 1"), lose(holed, "seq = 3"), lose(gone, "true")].concat();
    database.execute(&format!("ALTER TABLE book_entry DISABLE TRIGGER USER; {loss}")).await;

    let list = store.list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap();
    let seq = |entry: &Option<StoredEntry>| entry.as_ref().map(|entry| entry.seq.0);
    let found: Vec<_> =
        list.iter().map(|summary| (summary.game, seq(&summary.header), seq(&summary.before_last), seq(&summary.last))).collect();
    assert_eq!(
        found,
        [(gone, None, None, None), (holed, Some(1), None, Some(4)), (beheaded, None, Some(3), Some(4)), (sound, Some(1), Some(3), Some(4))]
    );
}

#[tokio::test]
async fn a_game_has_the_version_and_the_time_of_its_header() {
    let database = database().await;
    open_game(&database.store().await).await;
    let columns = database.column("SELECT ruleset_version || ' ' || (created_at AT TIME ZONE 'UTC') FROM game").await;
    assert_eq!(columns, ["3 2026-11-29 21:52:03.456"]);
}

/// As the migration says: a month gets its partition before it begins.
#[tokio::test]
async fn a_later_month_can_have_a_partition_of_its_own() {
    let database = database().await;
    let store = database.store().await;
    let now = open_game(&store).await;
    let first_id = |month: &str| {
        format!("rpad(lpad(to_hex((extract(epoch FROM timestamptz '{month} 00:00Z') * 1000)::bigint), 12, '0'), 32, '0')::uuid")
    };
    let bounds =
        database.column(&format!("SELECT {}::text UNION ALL SELECT {}::text", first_id("2127-01-01"), first_id("2127-02-01"))).await;
    database
        .execute(&format!(
            "CREATE TABLE book_entry_2127_01 PARTITION OF book_entry FOR VALUES FROM ('{}') TO ('{}')
                 WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
             CREATE TRIGGER book_entry_2127_01_is_not_truncated BEFORE TRUNCATE ON book_entry_2127_01
                 FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change()",
            bounds[0], bounds[1]
        ))
        .await;
    // The last millisecond of the month.
    let ms: u128 = 4_957_113_600_000 - 1;
    let then = GameKey { game: Uuid::from_u128(ms << 80 | 0x7fff << 64 | 0x8 << 60), ..now };
    store.create(new_game(then, request(1))).await.unwrap();
    for key in [now, then] {
        play_to(&store, key, 3).await;
    }
    let rows = "SELECT tableoid::regclass || ' ' || count(*) FROM book_entry GROUP BY tableoid ORDER BY 1";
    assert_eq!(database.column(rows).await, ["book_entry_2127_01 3", "book_entry_rest 3"]);
    assert_eq!(store.append(new_entry(then, 3, request(1))).await.unwrap(), Append::Conflict);
    for sql in ["DELETE FROM book_entry_2127_01", "UPDATE book_entry_2127_01 SET line = 'x'", "TRUNCATE book_entry_2127_01"] {
        let refusal = database.try_execute(sql).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "23001", "{sql}: {refusal}");
    }
}

/// On a database that has no statistics yet, where a careless condition is planned as a scan of everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_and_reads_never_scan_all_books() {
    let database = database().await;
    let store = database.store().await;
    for _ in 0..20 {
        let key = open_game(&store).await;
        let entries = play_to(&store, key, 12).await;
        move_state(&store, key, 13, State::Finished).await;
        store.append(entries[3].clone()).await.unwrap();
        store.append(new_entry(key, 5, request(1))).await.unwrap();
        store.entries(key, Seq(3), 5).await.unwrap();
        store.last(key).await.unwrap();
        store.list(key.tenant, &Filter::default(), None, 50).await.unwrap();
    }
    store.close().await;
    // Sessions report what they did when they end, which close does not wait for.
    let deadline = Instant::now() + PATIENCE;
    while database.column("SELECT 'busy' FROM pg_stat_user_tables WHERE relname = 'book_entry_rest' AND n_tup_ins >= 260").await.is_empty()
    {
        assert!(Instant::now() < deadline, "the statistics never came");
    }
    assert_eq!(database.column("SELECT seq_scan::text FROM pg_stat_user_tables WHERE relname = 'book_entry_rest'").await, ["0"]);
}

/// A cold node's first read: neighbouring pages of one index instead of a page of the table an entry.
#[tokio::test]
async fn a_rebuild_reads_the_index_alone() {
    let database = database().await;
    database
        .execute(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT 1, lpad(to_hex(game), 32, '0')::uuid, seq, gen_random_uuid(), sha256('r'), sha256('d'), 'line ' || seq
             FROM generate_series(1, 200) AS seq, generate_series(1, 50) AS game",
        )
        .await;
    database.execute("VACUUM ANALYZE book_entry").await;
    let plan = database
        .column(
            "EXPLAIN SELECT seq, line, digest, request_id FROM book_entry
             WHERE tenant_id = 1 AND game_id = lpad('7', 32, '0')::uuid AND seq > 0 ORDER BY seq LIMIT 500",
        )
        .await
        .join("\n");
    assert!(plan.contains("Index Only Scan"), "{plan}");
}

/// Two nodes decide the end of a game at once: the state is the one of the entry that got in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_state_follows_the_entry_that_won() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    for _ in 0..20 {
        let key = new_key();
        one.create(new_game(key, request(0))).await.unwrap();
        let closing = NewEntry { state: Some(State::Closed), ..new_entry(key, 2, request(1)) };
        let finishing = NewEntry { state: Some(State::Finished), ..new_entry(key, 2, request(1)) };
        let (closed, finished) = tokio::join!(one.append(closing), two.append(finishing));
        let expected = match (closed.unwrap(), finished.unwrap()) {
            (Append::Stored, Append::Conflict) => "closed",
            (Append::Conflict, Append::Stored) => "finished",
            other => panic!("{other:?}"),
        };
        assert_eq!(database.column(&format!("SELECT state FROM game WHERE id = '{}'", key.game)).await, [expected]);
    }
}
