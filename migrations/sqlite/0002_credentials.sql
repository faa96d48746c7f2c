-- Who may call: API keys, and tenants besides `default`. Only adds a table.

-- A secret that a backend keeps. The key is `ply_<tenant>-<id>_<secret>`: it names its row by tenant and id, and only a
-- hash of its secret is here. The secret is 256 bits of the operating system's randomness, which nobody guesses
-- however fast the hash is, so SHA-256 alone is enough. A row is never removed: it says who wrote what is in the books.
CREATE TABLE api_key (
    tenant_id   INTEGER NOT NULL CONSTRAINT api_key_of_a_tenant REFERENCES tenant (id),
    -- 16 hexadecimal digits, random.
    id          TEXT    NOT NULL,
    -- The principal, as it stands in books.
    name        TEXT    NOT NULL CONSTRAINT api_key_is_named CHECK (octet_length(name) BETWEEN 1 AND 64),
    role        TEXT    NOT NULL,
    -- What a seat's or a spectator's key is bound to.
    game_id     BLOB    CONSTRAINT api_key_game_id_is_a_uuid CHECK (length(game_id) = 16),
    seat        INTEGER,
    secret_hash BLOB    NOT NULL CONSTRAINT api_key_secret_hash_is_sha256 CHECK (length(secret_hash) = 32),
    -- Times as headers print them.
    created_at  TEXT    NOT NULL,
    -- NULL where it never ends.
    expires_at  TEXT,
    revoked_at  TEXT,

    CONSTRAINT api_key_pkey PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
