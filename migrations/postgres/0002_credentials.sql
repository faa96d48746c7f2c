-- Who may call: API keys, and tenants besides `default`.
--
-- Only adds a table, so a node of the version before serves on beside it. Tenants and keys are made by whoever owns
-- the schema (`plybook tenant`, `plybook token`): a server's role reads them, and can neither make nor change one.

SET LOCAL lock_timeout = '2s';

-- A secret that a backend keeps. The key is `ply_<tenant>-<id>_<secret>`: it names its row by tenant and id, and only a
-- hash of its secret is here. The secret is 256 bits of the operating system's randomness, which nobody guesses
-- however fast the hash is, so SHA-256 alone is enough. A row is never removed: it says who wrote what is in the books.
CREATE TABLE api_key (
    tenant_id   int         NOT NULL,
    -- 16 hexadecimal digits, random.
    id          text COLLATE "C" NOT NULL,
    -- The principal, as it stands in books.
    name        text COLLATE "C" NOT NULL,
    role        text COLLATE "C" NOT NULL,
    -- What a seat's or a spectator's key is bound to.
    game_id     uuid,
    seat        int,
    secret_hash bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    -- NULL where it never ends.
    expires_at  timestamptz,
    revoked_at  timestamptz,

    CONSTRAINT api_key_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_key_of_a_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
    CONSTRAINT api_key_is_named CHECK (octet_length(name) BETWEEN 1 AND 64),
    CONSTRAINT api_key_secret_hash_is_sha256 CHECK (octet_length(secret_hash) = 32)
);

CREATE OR REPLACE FUNCTION plybook_grant(app regrole) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('GRANT SELECT ON tenant, game, game_player, game_seed, book_entry, packed_month, packed_book, packed_feed, _sqlx_migrations TO %s', app);
    EXECUTE format('GRANT SELECT ON api_key TO %s', app);
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

-- Whoever was granted the tables before this one came has what it needs of this one too.
DO $$
DECLARE
    app oid;
BEGIN
    FOR app IN
        SELECT DISTINCT a.grantee FROM pg_catalog.pg_class c, LATERAL aclexplode(c.relacl) a
        WHERE c.oid = 'snapshot'::regclass AND a.privilege_type = 'INSERT' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE format('GRANT SELECT ON api_key TO %s', app::regrole);
    END LOOP;
END
$$;
