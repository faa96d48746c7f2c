-- Plybook on Postgres 15 or later: one row an entry, and beside the books only what lists need.
--
-- book_entry is the truth. game and game_player can be rebuilt from it; game_seed cannot, until a
-- closing line reveals the seed. Every key begins with the tenant, so no index mixes two of them.
--
-- What holds, and what holds it:
--   an entry follows the entry before it .... the append's own condition (it inserts only if seq - 1 is there, with
--                                             the digest that the new line is chained to)
--   one entry a number ...................... book_entry_pkey
--   one answer a request, for ever .......... book_entry_request_once, game_creation_once
--   entries never change or vanish .......... trigger book_entry_is_append_only, and the rights below
--   lines fit beside their key .............. book_entry_line_fits
--   what is due is done by one node at a time  due.claim, and the lease that due.due_at is pushed by
--   an outage is recorded once .............. the lock on heartbeat's one row
--
-- There is no foreign key from book_entry to game: it would lock the game's row, and so write it, with
-- every move. The append's condition already demands entry 1, which only a creation writes.

CREATE TABLE tenant (
    id   int  NOT NULL,
    name text COLLATE "C" NOT NULL,

    CONSTRAINT tenant_pkey PRIMARY KEY (id),
    CONSTRAINT tenant_id_is_positive CHECK (id > 0),
    CONSTRAINT tenant_name_once UNIQUE (name),
    CONSTRAINT tenant_name_is_short CHECK (octet_length(name) BETWEEN 1 AND 64)
);

-- Everything belongs to it until there are credentials.
INSERT INTO tenant (id, name) VALUES (1, 'default');

-- A game as lists see it. A move does not touch its row: only the entries that finish, reopen or close
-- the game do. Ids are UUIDv7, so descending id is newest first. The version tells, before a deploy that
-- drops one, how many games still need it.
CREATE TABLE game (
    tenant_id       int         NOT NULL,
    id              uuid        NOT NULL,
    request_id      uuid        NOT NULL,
    request_hash    bytea       NOT NULL,
    ruleset         text COLLATE "C" NOT NULL,
    ruleset_version bigint      NOT NULL,
    state           text COLLATE "C" NOT NULL DEFAULT 'active',
    -- The header's time, which a node's clock gave.
    created_at      timestamptz NOT NULL,

    CONSTRAINT game_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT game_of_a_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
    CONSTRAINT game_creation_once UNIQUE (tenant_id, request_id),
    CONSTRAINT game_request_hash_is_sha256 CHECK (octet_length(request_hash) = 32),
    CONSTRAINT game_ruleset_version_counts_from_one CHECK (ruleset_version > 0),
    CONSTRAINT game_state_is_known CHECK (state IN ('active', 'finished', 'closed'))
) WITH (fillfactor = 85);

CREATE INDEX game_by_ruleset ON game (tenant_id, ruleset, id);
CREATE INDEX game_by_state ON game (tenant_id, state, id);

-- Who plays where: one row a player and game, however many seats the player holds.
CREATE TABLE game_player (
    tenant_id int  NOT NULL,
    player    text COLLATE "C" NOT NULL,
    game_id   uuid NOT NULL,

    CONSTRAINT game_player_pkey PRIMARY KEY (tenant_id, player, game_id),
    CONSTRAINT game_player_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id),
    CONSTRAINT game_player_is_named CHECK (octet_length(player) BETWEEN 1 AND 64)
);

-- The secret behind a game's dice, in a table of its own so that it can have rights of its own.
CREATE TABLE game_seed (
    tenant_id int   NOT NULL,
    game_id   uuid  NOT NULL,
    seed      bytea NOT NULL,

    CONSTRAINT game_seed_pkey PRIMARY KEY (tenant_id, game_id),
    CONSTRAINT game_seed_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id),
    CONSTRAINT game_seed_is_32_bytes CHECK (octet_length(seed) = 32)
);

-- Books that were imported as evidence: a game that is here was played elsewhere, and nothing is ever appended to
-- it. The mark stands beside the book, so that the book stays what it was, byte for byte: its rows are like any
-- other's, but no seed is in game_seed, since a closing line alone reveals it. Of the file only the signature is
-- no line of the book.
CREATE TABLE foreign_book (
    tenant_id   int         NOT NULL,
    game_id     uuid        NOT NULL,
    imported_at timestamptz NOT NULL,
    imported_by text COLLATE "C" NOT NULL,
    -- As the file printed it: key id and signature; NULL where the file had none.
    signature   text COLLATE "C",

    CONSTRAINT foreign_book_pkey PRIMARY KEY (tenant_id, game_id),
    CONSTRAINT foreign_book_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id),
    CONSTRAINT foreign_book_importer_is_named CHECK (octet_length(imported_by) BETWEEN 1 AND 64),
    CONSTRAINT foreign_book_signature_is_short CHECK (octet_length(signature) BETWEEN 1 AND 200)
);

-- The books.
--
-- * The key carries all that a reader of a book wants, so that a rebuild is a scan of neighbouring index
--   pages and not one heap page an entry. A b-tree tuple holds 2704 bytes: the longest line that
--   book_entry_line_fits allows, digest, request id and key are under 2520.
-- * xid and epoch are for a feed of all games that must not lose an entry whose transaction commits
--   late: it reads in the order of book_entry_feed, below the oldest running transaction. epoch is
--   counted up when a restore into another cluster starts the transaction ids anew: plybook migrate sees to it.
-- * Ranges of UUIDv7 are months. They are ranges of the game's id and not of a time because every
--   unique key must contain the partition key. Until a month is worth detaching, all is in one partition.
--   The way out of it: rows cannot be moved from one partition to another, since the triggers forbid it,
--   so a month gets its partition before it begins, while the DEFAULT one holds no row of its range:
--       plybook partitions ahead
--   which makes for each month a table like this one, with the DEFAULT one's options and a trigger that refuses
--   TRUNCATE, and attaches it:
--       ALTER TABLE book_entry ATTACH PARTITION book_entry_2027_01
--           FOR VALUES FROM ('<first id of the month>') TO ('<first id of the next>');
--   where a month's first id is its first millisecond in 12 hexadecimal digits, then zeros:
--       rpad(lpad(to_hex((extract(epoch FROM timestamptz '2027-01-01 00:00Z') * 1000)::bigint), 12, '0'), 32, '0')::uuid
--   Attaching stops appends and reads while it scans the DEFAULT partition to see that no row is of the range, unless
--   a constraint tells: so a CHECK comes first, NOT VALID, then VALIDATE, which scans and stops nobody, and goes
--   once the month is there. Rights need nothing: whoever goes through book_entry is asked for rights on that alone.
--   A game stays in the partition of the month in which it was created, and the months before the first
--   partition stay in the DEFAULT one for ever.
-- * A month whose games have all ended can leave: see packed_month.
CREATE TABLE book_entry (
    tenant_id    int      NOT NULL,
    game_id      uuid     NOT NULL,
    seq          int      NOT NULL,
    request_id   uuid     NOT NULL,
    request_hash bytea    NOT NULL,
    digest       bytea    NOT NULL,
    line         text COLLATE "C" NOT NULL,
    xid          xid8     NOT NULL DEFAULT pg_current_xact_id(),
    epoch        smallint NOT NULL DEFAULT 1,

    CONSTRAINT book_entry_pkey PRIMARY KEY (tenant_id, game_id, seq) INCLUDE (request_id, digest, line),
    CONSTRAINT book_entry_counts_from_one CHECK (seq > 0),
    CONSTRAINT book_entry_request_hash_is_sha256 CHECK (octet_length(request_hash) = 32),
    CONSTRAINT book_entry_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT book_entry_line_fits CHECK (octet_length(line) BETWEEN 1 AND 2400)
) PARTITION BY RANGE (game_id);

-- Both are partial for the planner's sake alone, for the columns are NOT NULL: whoever asks for a request, or follows the
-- feed, implies the condition, and nobody else does. Otherwise a smaller index may look cheaper than the key while nothing is
-- known of a partition, so in a new one an append would find the entry before by reading its game's whole book, or every
-- entry of its tenant. What implies it must be a comparison of the column by itself; a comparison of rows does not.
CREATE UNIQUE INDEX book_entry_request_once ON book_entry (tenant_id, game_id, request_id) WHERE request_id IS NOT NULL;

CREATE INDEX book_entry_feed ON book_entry (tenant_id, epoch, xid, game_id, seq) WHERE epoch IS NOT NULL;

-- Vacuum follows inserts closely: it marks the pages that let a rebuild stay in the index.
CREATE TABLE book_entry_rest PARTITION OF book_entry DEFAULT
    WITH (autovacuum_vacuum_insert_scale_factor = 0.02);

CREATE FUNCTION plybook_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is written there never changes', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER book_entry_is_append_only BEFORE UPDATE OR DELETE ON book_entry
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER book_entry_is_not_truncated BEFORE TRUNCATE ON book_entry
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();
-- Row triggers reach every partition by themselves, statement triggers do not: each new one needs this.
CREATE TRIGGER book_entry_rest_is_not_truncated BEFORE TRUNCATE ON book_entry_rest
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();

-- A commitment is public from the first reply, so its seed is as final as the book.
CREATE TRIGGER game_seed_is_final BEFORE UPDATE OR DELETE ON game_seed
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER game_seed_is_not_truncated BEFORE TRUNCATE ON game_seed
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();

-- Games at some of their entries, so that a long book need not be folded from its header: a cache, of games
-- of 1024 entries and more. Whoever reads one holds it against the book, so rows may be old, missing or wrong,
-- and may be deleted at any time, such as those of a format that no build writes any more. Builds of two
-- formats keep their own beside each other in a rolling deploy.
--
-- UNLOGGED: a crash or a failover empties it, which costs a few folds; in return it adds nothing to the log
-- that every append waits for, to standbys and to base backups. No foreign key, as with the books.
CREATE UNLOGGED TABLE snapshot (
    tenant_id int   NOT NULL,
    game_id   uuid  NOT NULL,
    format    int   NOT NULL,
    seq       int   NOT NULL,
    -- Of the entry with this number, when it was made.
    digest    bytea NOT NULL,
    bytes     bytea NOT NULL,

    CONSTRAINT snapshot_pkey PRIMARY KEY (tenant_id, game_id, format, seq),
    CONSTRAINT snapshot_counts_from_one CHECK (seq > 0),
    CONSTRAINT snapshot_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT snapshot_fits CHECK (octet_length(bytes) <= 4194304)
);

-- Requests that a game or its policy refused: who asked for what, when, against which head, and why not.
--
-- * A record beside the books, for disputes. Nothing is decided by it, so there are no triggers: rows go
--   when a game has too many of them, or when they are too old.
-- * Logged, so that backups and standbys have it: after a failover "I did click!" can still be answered.
--   What writes it commits asynchronously instead, and so waits for no disk.
-- * There is no foreign key to game: it would lock the game's row with every batch. The insert itself
--   leaves out what concerns no game of its tenant.
-- * number ascends in the order of writing over all games. The key serves a game's list and its pruning,
--   refusal_by_age the ageing.
CREATE TABLE refusal (
    tenant_id    int         NOT NULL,
    game_id      uuid        NOT NULL,
    number       bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- By the clock of the node that refused.
    refused_at   timestamptz NOT NULL,
    principal    text COLLATE "C" NOT NULL,
    -- Counted from 0; NULL where nobody at the table asked.
    seat         int,
    asked        text COLLATE "C" NOT NULL,
    request_id   uuid        NOT NULL,
    -- What the caller had decided on: whatever was sent, so greater than any entry perhaps.
    expected_seq bigint      NOT NULL,
    head_seq     bigint      NOT NULL,
    -- ErrorReason, less its prefix.
    reason       text COLLATE "C" NOT NULL,
    detail       text COLLATE "C" NOT NULL,

    CONSTRAINT refusal_pkey PRIMARY KEY (tenant_id, game_id, number),
    CONSTRAINT refusal_principal_is_short CHECK (octet_length(principal) BETWEEN 1 AND 64),
    CONSTRAINT refusal_asked_is_short CHECK (octet_length(asked) BETWEEN 1 AND 64),
    CONSTRAINT refusal_reason_is_short CHECK (octet_length(reason) BETWEEN 1 AND 64),
    CONSTRAINT refusal_detail_is_short CHECK (octet_length(detail) <= 256)
);

CREATE INDEX refusal_by_age ON refusal (refused_at);

-- What has to be done later, by whichever node comes first: a clock that runs out, a bot that is to move. At most
-- one row a game and kind.
--
-- * A row is a reminder and never a decision: whoever claims it looks into the book. So it may fire too early or
--   in vain, and must never fire too late. It is written by the very statement that appends the entry which makes it
--   so, and only where that moves it EARLIER: a move that gives a player more time writes nothing here, and the row
--   is put off when it fires.
-- * A claim puts due_at off by a lease, so that no other node takes the row meanwhile, and so that it is due again
--   by itself where the node dies. claim is random for each claim, so nobody is mistaken for another claimer, even
--   where the row was deleted and made anew. Whoever arms the row takes the claim away: what the claimer decides
--   was decided without knowing that.
-- * What serves the claim is due_soonest, over all tenants: sweeping belongs to none of them. due_of_tenant serves
--   "which games of mine are due soon", and clocks alone are asked for.
-- * Rows come, are put off and go all the time, so pages keep room and vacuum comes early: dead rows at the front
--   of due_soonest are what every claim would have to pass. Taking a claim away without moving the row is HOT.
-- * There is no foreign key to game: it would lock the game's row with every arming.
CREATE TABLE due (
    tenant_id int         NOT NULL,
    -- Claims since it was armed or settled: those that came to nothing, and the one that may be running.
    attempts  int         NOT NULL DEFAULT 0,
    game_id   uuid        NOT NULL,
    -- The earliest time at which there may be something to do; while claimed, the end of the lease. Whole milliseconds.
    due_at    timestamptz NOT NULL,
    -- The same without claims, so that a list does not lose a game while somebody looks at it.
    armed_for timestamptz NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    -- Whose turn it is to settle it; NULL where nobody claimed it.
    claim     uuid,

    CONSTRAINT due_pkey PRIMARY KEY (tenant_id, game_id, kind),
    CONSTRAINT due_kind_is_known CHECK (kind IN ('time', 'bot')),
    CONSTRAINT due_attempts_are_claims CHECK (attempts >= 0 AND (attempts > 0) = (claim IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
        autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX due_soonest ON due (due_at);
CREATE INDEX due_of_tenant ON due (tenant_id, armed_for, game_id) WHERE kind = 'time';

-- Whether anybody serves at all: every node beats every few seconds. One row for all of them, and no tenant's: its
-- lock puts their beats in a row, so that of the nodes that come back together one finds the gap.
CREATE TABLE heartbeat (
    single  boolean     NOT NULL,
    -- By this database's clock; NULL before the first beat of all.
    beat_at timestamptz,
    -- Whose beat it was, for people.
    node    uuid,

    CONSTRAINT heartbeat_pkey PRIMARY KEY (single),
    CONSTRAINT heartbeat_is_one_row CHECK (single)
);

INSERT INTO heartbeat (single) VALUES (true);

-- Times when no node was there, so that players can be given back what it took from them: from the last beat of
-- anybody to the one that found the gap. Bounded: whoever records one forgets the oldest.
CREATE TABLE outage (
    from_at timestamptz NOT NULL,
    to_at   timestamptz NOT NULL,

    CONSTRAINT outage_pkey PRIMARY KEY (from_at),
    CONSTRAINT outage_ends_after_it_began CHECK (to_at > from_at)
);

-- What was evidence yesterday is evidence today.
CREATE TRIGGER foreign_book_is_final BEFORE UPDATE OR DELETE ON foreign_book
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER foreign_book_is_not_truncated BEFORE TRUNCATE ON foreign_book
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();

-- The epoch that entries get now.
CREATE FUNCTION plybook_epoch() RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT substring(pg_get_expr(d.adbin, d.adrelid) FROM '[0-9]+')::smallint
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    WHERE d.adrelid = 'book_entry'::regclass AND a.attname = 'epoch'
$$;

-- A page of the feed: at least one row, of which the first five columns are the same in all, and the others an entry's where
-- there is one.
--
-- * What cannot change any more is below (epoch, the oldest running transaction): no entry can come to stand there. What is
--   there and may not be shown yet is hidden. An entry at or above the next transaction id was restored from another cluster.
-- * is_known: whether the entry after which the page begins is there, with a digest that begins like this.
-- * A function because of its settings. The planner takes a range of (epoch, xid …) for a handful of rows, whatever
--   there is, since epochs are all the same: it would fetch and sort everything from the cursor on for every page.
--   Without sorts there is one way left, the index in its order, and without jit that costs nothing.
CREATE FUNCTION plybook_feed(
    tenant int, after_epoch smallint, after_xid text, after_game uuid, after_seq int, digest_begins bytea, at_most bigint
) RETURNS TABLE (
    is_known boolean, is_hidden boolean, is_foreign boolean, horizon_epoch smallint, horizon text,
    epoch smallint, xid text, game_id uuid, seq int, line text, digest bytea, request_id uuid
) LANGUAGE sql STABLE
    SET enable_sort = off SET enable_incremental_sort = off SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    WITH here AS MATERIALIZED (
        SELECT plybook_epoch() AS epoch, pg_snapshot_xmin(now) AS xmin, pg_snapshot_xmax(now) AS xmax
        FROM pg_current_snapshot() AS now
    ), known AS MATERIALIZED (
        SELECT 1 FROM book_entry k
        WHERE k.tenant_id = tenant AND k.game_id = after_game AND k.seq = after_seq
          AND k.epoch = after_epoch AND k.xid = after_xid::xid8
          AND substring(k.digest FROM 1 FOR length(digest_begins)) = digest_begins
    ), newest AS MATERIALIZED (
        SELECT n.epoch, n.xid FROM book_entry n WHERE n.tenant_id = tenant AND n.epoch >= 0
        ORDER BY n.epoch DESC, n.xid DESC, n.game_id DESC, n.seq DESC LIMIT 1
    )
    SELECT EXISTS (SELECT 1 FROM known),
           (SELECT (n.epoch, n.xid) >= (here.epoch, here.xmin) FROM newest n),
           (SELECT n.epoch >= here.epoch AND n.xid >= here.xmax FROM newest n),
           here.epoch, here.xmin::text, e.epoch, e.xid::text, e.game_id, e.seq, e.line, e.digest, e.request_id
    FROM here LEFT JOIN LATERAL (
        SELECT b.epoch, b.xid, b.game_id, b.seq, b.line, b.digest, b.request_id FROM book_entry b
        WHERE b.tenant_id = tenant AND b.epoch >= after_epoch
          AND (b.epoch, b.xid, b.game_id, b.seq) > (after_epoch, after_xid::xid8, after_game, after_seq)
          AND (b.epoch, b.xid) < (here.epoch, here.xmin)
        ORDER BY b.epoch, b.xid, b.game_id, b.seq LIMIT at_most) AS e ON true
$$;

-- The last entry that the feed shows now.
CREATE FUNCTION plybook_feed_end(tenant int) RETURNS TABLE (
    epoch smallint, xid text, game_id uuid, seq int, line text, digest bytea, request_id uuid
) LANGUAGE sql STABLE
    SET enable_sort = off SET enable_incremental_sort = off SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    WITH here AS MATERIALIZED (SELECT plybook_epoch() AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS xmin)
    SELECT e.epoch, e.xid::text, e.game_id, e.seq, e.line, e.digest, e.request_id
    FROM here CROSS JOIN LATERAL (
        SELECT b.epoch, b.xid, b.game_id, b.seq, b.line, b.digest, b.request_id FROM book_entry b
        WHERE b.tenant_id = tenant AND b.epoch <= here.epoch AND (b.epoch, b.xid) < (here.epoch, here.xmin)
        ORDER BY b.epoch DESC, b.xid DESC, b.game_id DESC, b.seq DESC LIMIT 1) AS e
$$;

-- Months whose games have all ended, as values of a thousand entries each instead of a row an entry, the same
-- entries twice: by game, for whoever reads a book or repeats a request, and in the order of the feed, for whoever follows
-- it from the beginning. plybook partitions pack writes them, reads all of them back, and detaches the
-- partition in the transaction that makes the month's row, from which on they count. Until then they are nobody's.
--
-- Who looks for a packed entry looks into book_entry first, and here in another statement: a statement that waited for
-- the detaching may have a snapshot from before it.
CREATE TABLE packed_month (
    tenant_id  int         NOT NULL,
    -- Its first id.
    month      uuid        NOT NULL,
    games      bigint      NOT NULL,
    entries    bigint      NOT NULL,
    packed_at  timestamptz NOT NULL,
    -- The last place in the feed.
    last_epoch smallint    NOT NULL,
    last_xid   xid8        NOT NULL,
    last_game  uuid        NOT NULL,
    last_seq   int         NOT NULL,

    CONSTRAINT packed_month_pkey PRIMARY KEY (tenant_id, month),
    CONSTRAINT packed_month_of_a_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE packed_book (
    tenant_id int   NOT NULL,
    game_id   uuid  NOT NULL,
    first_seq int   NOT NULL,
    last_seq  int   NOT NULL,
    month     uuid  NOT NULL,
    bytes     bytea NOT NULL,

    CONSTRAINT packed_book_pkey PRIMARY KEY (tenant_id, game_id, first_seq)
);

CREATE TABLE packed_feed (
    tenant_id   int      NOT NULL,
    month       uuid     NOT NULL,
    first_epoch smallint NOT NULL,
    first_xid   xid8     NOT NULL,
    first_game  uuid     NOT NULL,
    first_seq   int      NOT NULL,
    last_epoch  smallint NOT NULL,
    last_xid    xid8     NOT NULL,
    last_game   uuid     NOT NULL,
    last_seq    int      NOT NULL,
    bytes       bytea    NOT NULL,

    CONSTRAINT packed_feed_pkey PRIMARY KEY (tenant_id, month, last_epoch, last_xid, last_game, last_seq)
);

CREATE FUNCTION plybook_refuse_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = OLD.tenant_id AND m.month = OLD.month) THEN
        RAISE EXCEPTION '% on % is refused: what is written there never changes', TG_OP, TG_TABLE_NAME
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER packed_month_is_final BEFORE UPDATE OR DELETE ON packed_month
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER packed_month_is_not_truncated BEFORE TRUNCATE ON packed_month
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER packed_book_is_final BEFORE UPDATE ON packed_book
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER packed_book_is_not_lost BEFORE DELETE ON packed_book
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_loss();
CREATE TRIGGER packed_book_is_not_truncated BEFORE TRUNCATE ON packed_book
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER packed_feed_is_final BEFORE UPDATE ON packed_feed
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_change();
CREATE TRIGGER packed_feed_is_not_lost BEFORE DELETE ON packed_feed
    FOR EACH ROW EXECUTE FUNCTION plybook_refuse_loss();
CREATE TRIGGER packed_feed_is_not_truncated BEFORE TRUNCATE ON packed_feed
    FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();

-- All that a server's role needs, where it is not the owner of these tables: SELECT plybook_grant('app').
-- It may rewrite what the book can restore, states, snapshots and what is due, and delete refusals and outages, which
-- are bounded; nothing else.
CREATE FUNCTION plybook_grant(app regrole) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('GRANT SELECT ON tenant, game, game_player, game_seed, book_entry, packed_month, packed_book, packed_feed, _sqlx_migrations TO %s', app);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON snapshot TO %s', app);
    EXECUTE format('GRANT INSERT ON game, game_player, game_seed, book_entry TO %s', app);
    EXECUTE format('GRANT UPDATE (state) ON game TO %s', app);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON refusal TO %s', app);
    EXECUTE format('GRANT SELECT, INSERT ON foreign_book TO %s', app);
    EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE (due_at, armed_for, attempts, claim) ON due TO %s', app);
    EXECUTE format('GRANT SELECT, UPDATE (beat_at, node) ON heartbeat TO %s', app);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON outage TO %s', app);
END
$$;
