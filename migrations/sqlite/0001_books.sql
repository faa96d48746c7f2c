-- Plybook in one SQLite file: the same nouns and rules as on Postgres, for a single node.
--
-- book_entry is the truth; game and game_player can be rebuilt from it. Ids are the 16 bytes of a UUID,
-- so that their order is the order of creation. There is one writer: an append checks its conditions and
-- writes inside one transaction, and the constraints stand behind it.
--
-- No CHECK names what a later version may widen, such as the states of a game or the length of a line:
-- SQLite can only drop one by rebuilding the table. The store checks those before it writes.

CREATE TABLE tenant (
    id   INTEGER NOT NULL CONSTRAINT tenant_pkey PRIMARY KEY CONSTRAINT tenant_id_is_positive CHECK (id > 0),
    name TEXT    NOT NULL CONSTRAINT tenant_name_once UNIQUE
                 CONSTRAINT tenant_name_is_short CHECK (octet_length(name) BETWEEN 1 AND 64)
) STRICT;

-- Everything belongs to it until there are credentials.
INSERT INTO tenant (id, name) VALUES (1, 'default');

-- A game as lists see it. A move does not touch its row: only the entries that finish, reopen or close
-- the game do. Ids are UUIDv7, so descending id is newest first. The version tells, before an upgrade that
-- drops one, how many games still need it.
CREATE TABLE game (
    tenant_id       INTEGER NOT NULL CONSTRAINT game_of_a_tenant REFERENCES tenant (id),
    id              BLOB    NOT NULL CONSTRAINT game_id_is_a_uuid CHECK (length(id) = 16),
    request_id      BLOB    NOT NULL CONSTRAINT game_request_id_is_a_uuid CHECK (length(request_id) = 16),
    request_hash    BLOB    NOT NULL CONSTRAINT game_request_hash_is_sha256 CHECK (length(request_hash) = 32),
    ruleset         TEXT    NOT NULL,
    ruleset_version INTEGER NOT NULL CONSTRAINT game_ruleset_version_counts_from_one CHECK (ruleset_version > 0),
    state           TEXT    NOT NULL DEFAULT 'active',
    -- The header's time, as the header prints it.
    created_at      TEXT    NOT NULL,

    CONSTRAINT game_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT game_creation_once UNIQUE (tenant_id, request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX game_by_ruleset ON game (tenant_id, ruleset, id);
CREATE INDEX game_by_state ON game (tenant_id, state, id);

-- Who plays where: one row a player and game, however many seats the player holds.
CREATE TABLE game_player (
    tenant_id INTEGER NOT NULL,
    player    TEXT    NOT NULL CONSTRAINT game_player_is_named CHECK (octet_length(player) BETWEEN 1 AND 64),
    game_id   BLOB    NOT NULL,

    CONSTRAINT game_player_pkey PRIMARY KEY (tenant_id, player, game_id),
    CONSTRAINT game_player_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The secret behind a game's dice.
CREATE TABLE game_seed (
    tenant_id INTEGER NOT NULL,
    game_id   BLOB    NOT NULL,
    seed      BLOB    NOT NULL CONSTRAINT game_seed_is_32_bytes CHECK (length(seed) = 32),

    CONSTRAINT game_seed_pkey PRIMARY KEY (tenant_id, game_id),
    CONSTRAINT game_seed_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- Books that were imported as evidence: a game that is here was played elsewhere, and nothing is ever appended to
-- it. The mark stands beside the book, so that the book stays what it was, byte for byte: its rows are like any
-- other's, but no seed is in game_seed, since a closing line alone reveals it. Of the file only the signature is
-- no line of the book.
CREATE TABLE foreign_book (
    tenant_id   INTEGER NOT NULL,
    game_id     BLOB    NOT NULL,
    imported_at TEXT    NOT NULL,
    imported_by TEXT    NOT NULL CONSTRAINT foreign_book_importer_is_named CHECK (octet_length(imported_by) BETWEEN 1 AND 64),
    -- As the file printed it: key id and signature; NULL where the file had none.
    signature   TEXT,

    CONSTRAINT foreign_book_pkey PRIMARY KEY (tenant_id, game_id),
    CONSTRAINT foreign_book_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The books. With one writer the order of positions is the order of commits, which is all that a feed
-- of all games needs; a named column, because VACUUM may renumber an unnamed rowid.
CREATE TABLE book_entry (
    position     INTEGER NOT NULL CONSTRAINT book_entry_position PRIMARY KEY AUTOINCREMENT,
    tenant_id    INTEGER NOT NULL,
    game_id      BLOB    NOT NULL,
    seq          INTEGER NOT NULL CONSTRAINT book_entry_counts_from_one CHECK (seq > 0),
    request_id   BLOB    NOT NULL CONSTRAINT book_entry_request_id_is_a_uuid CHECK (length(request_id) = 16),
    request_hash BLOB    NOT NULL CONSTRAINT book_entry_request_hash_is_sha256 CHECK (length(request_hash) = 32),
    digest       BLOB    NOT NULL CONSTRAINT book_entry_digest_is_sha256 CHECK (length(digest) = 32),
    line         TEXT    NOT NULL,

    CONSTRAINT book_entry_once UNIQUE (tenant_id, game_id, seq),
    CONSTRAINT book_entry_request_once UNIQUE (tenant_id, game_id, request_id),
    CONSTRAINT book_entry_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id)
) STRICT;

CREATE TRIGGER book_entry_is_never_updated BEFORE UPDATE ON book_entry
BEGIN
    SELECT RAISE(ABORT, 'UPDATE on book_entry is refused: what is written there never changes');
END;
CREATE TRIGGER book_entry_is_never_deleted BEFORE DELETE ON book_entry
BEGIN
    SELECT RAISE(ABORT, 'DELETE on book_entry is refused: what is written there never changes');
END;
-- REPLACE deletes without asking the trigger above unless recursive triggers are on; this one comes first.
CREATE TRIGGER book_entry_is_never_replaced BEFORE INSERT ON book_entry
WHEN EXISTS (SELECT 1 FROM book_entry
             WHERE tenant_id = NEW.tenant_id AND game_id = NEW.game_id AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM book_entry
             WHERE tenant_id = NEW.tenant_id AND game_id = NEW.game_id AND request_id = NEW.request_id)
  OR EXISTS (SELECT 1 FROM book_entry WHERE position = NEW.position)
BEGIN
    SELECT RAISE(ABORT, 'INSERT over an entry of book_entry is refused: what is written there never changes');
END;

-- Games at some of their entries, so that a long book need not be folded from its header: a cache, of games
-- of 1024 entries and more. Whoever reads one holds it against the book, so rows may be old, missing or wrong,
-- and may be deleted at any time, such as those of a format that no build writes any more.
CREATE TABLE snapshot (
    tenant_id INTEGER NOT NULL,
    game_id   BLOB    NOT NULL CONSTRAINT snapshot_game_id_is_a_uuid CHECK (length(game_id) = 16),
    format    INTEGER NOT NULL,
    seq       INTEGER NOT NULL CONSTRAINT snapshot_counts_from_one CHECK (seq > 0),
    -- Of the entry with this number, when it was made.
    digest    BLOB    NOT NULL CONSTRAINT snapshot_digest_is_sha256 CHECK (length(digest) = 32),
    bytes     BLOB    NOT NULL,

    CONSTRAINT snapshot_pkey PRIMARY KEY (tenant_id, game_id, format, seq)
) STRICT;

-- A commitment is public from the first reply, so its seed is as final as the book.
CREATE TRIGGER game_seed_is_never_updated BEFORE UPDATE ON game_seed
BEGIN
    SELECT RAISE(ABORT, 'UPDATE on game_seed is refused: what is written there never changes');
END;
CREATE TRIGGER game_seed_is_never_deleted BEFORE DELETE ON game_seed
BEGIN
    SELECT RAISE(ABORT, 'DELETE on game_seed is refused: what is written there never changes');
END;

-- Requests that a game or its policy refused: who asked for what, when, against which head, and why not. A
-- record beside the books, for disputes: nothing is decided by it, so no trigger stands before it, and rows
-- go when a game has too many of them, or when they are too old. number ascends in the order of writing and
-- is never given again.
CREATE TABLE refusal (
    number       INTEGER NOT NULL CONSTRAINT refusal_number PRIMARY KEY AUTOINCREMENT,
    tenant_id    INTEGER NOT NULL,
    game_id      BLOB    NOT NULL,
    -- By the clock of the node that refused, as headers print it, so that texts are ordered as times are.
    refused_at   TEXT    NOT NULL,
    principal    TEXT    NOT NULL,
    -- Counted from 0; NULL where nobody at the table asked.
    seat         INTEGER,
    asked        TEXT    NOT NULL,
    request_id   BLOB    NOT NULL CONSTRAINT refusal_request_id_is_a_uuid CHECK (length(request_id) = 16),
    -- What the caller had decided on: whatever was sent, so greater than any entry perhaps.
    expected_seq INTEGER NOT NULL,
    head_seq     INTEGER NOT NULL,
    -- ErrorReason, less its prefix.
    reason       TEXT    NOT NULL,
    detail       TEXT    NOT NULL,

    CONSTRAINT refusal_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id)
) STRICT;

CREATE INDEX refusal_of_game ON refusal (tenant_id, game_id, number);
CREATE INDEX refusal_by_age ON refusal (refused_at);

-- What has to be done later: a clock that runs out, a bot that is to move. At most one row a game and kind.
--
-- A row is a reminder and never a decision: whoever claims it looks into the book. So it may fire too early or in
-- vain, and must never fire too late. It is written by the transaction that appends the entry which makes it so, and
-- only where that moves it EARLIER; a later time is put in when it fires. A claim puts due_at off by a lease, so that
-- it is due again by itself where its claimer dies. claim is random for each claim; whoever arms the row takes it away.
CREATE TABLE due (
    tenant_id INTEGER NOT NULL,
    game_id   BLOB    NOT NULL,
    kind      TEXT    NOT NULL,
    -- The earliest time at which there may be something to do; while claimed, the end of the lease. As headers print
    -- it, so that texts are ordered as times are.
    due_at    TEXT    NOT NULL,
    -- The same without claims: what lists show.
    armed_for TEXT    NOT NULL,
    -- Claims since it was armed or settled: those that came to nothing, and the one that may be running.
    attempts  INTEGER NOT NULL DEFAULT 0,
    -- Whose turn it is to settle it; NULL where nobody claimed it.
    claim     BLOB    CONSTRAINT due_claim_is_a_uuid CHECK (length(claim) = 16),

    CONSTRAINT due_pkey PRIMARY KEY (tenant_id, game_id, kind),
    CONSTRAINT due_of_a_game FOREIGN KEY (tenant_id, game_id) REFERENCES game (tenant_id, id),
    CONSTRAINT due_attempts_are_claims CHECK (attempts >= 0 AND (attempts > 0) = (claim IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX due_soonest ON due (due_at);
CREATE INDEX due_of_tenant ON due (tenant_id, armed_for, game_id) WHERE kind = 'time';

-- Whether the file is served at all: whoever serves it beats every few seconds. One row, and no tenant's.
CREATE TABLE heartbeat (
    single  INTEGER NOT NULL CONSTRAINT heartbeat_pkey PRIMARY KEY CONSTRAINT heartbeat_is_one_row CHECK (single = 1),
    -- NULL before the first beat of all.
    beat_at TEXT,
    -- Whose beat it was, for people.
    node    BLOB
) STRICT;

INSERT INTO heartbeat (single) VALUES (1);

-- Times when nobody was there, so that players can be given back what it took from them: from the last beat of
-- anybody to the one that found the gap. Bounded: whoever records one forgets the oldest.
CREATE TABLE outage (
    from_at TEXT NOT NULL CONSTRAINT outage_pkey PRIMARY KEY,
    to_at   TEXT NOT NULL,

    CONSTRAINT outage_ends_after_it_began CHECK (to_at > from_at)
) STRICT, WITHOUT ROWID;

-- What was evidence yesterday is evidence today.
CREATE TRIGGER foreign_book_is_never_updated BEFORE UPDATE ON foreign_book
BEGIN
    SELECT RAISE(ABORT, 'UPDATE on foreign_book is refused: what is written there never changes');
END;
CREATE TRIGGER foreign_book_is_never_deleted BEFORE DELETE ON foreign_book
BEGIN
    SELECT RAISE(ABORT, 'DELETE on foreign_book is refused: what is written there never changes');
END;
CREATE TRIGGER foreign_book_is_never_replaced BEFORE INSERT ON foreign_book
WHEN EXISTS (SELECT 1 FROM foreign_book WHERE tenant_id = NEW.tenant_id AND game_id = NEW.game_id)
BEGIN
    SELECT RAISE(ABORT, 'INSERT over a row of foreign_book is refused: what is written there never changes');
END;
