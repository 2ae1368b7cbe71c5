-- The hub, version 1. Every table begins with the team, so that a statement touches the rows of one team.
-- All times are the hub's own. Machines read their team by row-level security and write through functions alone.

CREATE SCHEMA oracle_hub;

CREATE TABLE oracle_hub.meta (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    version integer NOT NULL,
    oldest integer NOT NULL, -- the oldest version whose programs may still write
    incarnation uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO oracle_hub.meta (version, oldest) VALUES (1, 1);

-- Names and paths ----------------------------------------------------------------------------------------------------

-- Whether a text may name a team, machine, project or seat. The programs check the letters of other scripts.
CREATE FUNCTION oracle_hub.is_name(name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT octet_length(name) BETWEEN 1 AND 128 AND strpos(name, '..') = 0 AND (
        name COLLATE "C" ~ '^[0-9A-Za-z][-.0-9A-Z_a-z]*$' -- the usual name, judged at once
        OR (
            name COLLATE "C" ~ '^[^\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a0]'
            AND name COLLATE "C" !~ '[\u0001-\u002c\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\u00a0]'
            AND name IS NFC NORMALIZED
        )
    )
$$;

-- Whether the hub takes a path: a record, a response, a receipt or the patterns of a project; nothing hidden or derived, and
-- nothing that climbs. Regular expressions with groups take ten times as long as these comparisons.
CREATE FUNCTION oracle_hub.is_path(path text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT octet_length(path) <= 1024
        AND path COLLATE "C" !~ '[\u0001-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]'
        AND left(path, 1) <> '/' AND right(path, 1) <> '/' AND strpos(path, '//') = 0 AND strpos('/' || path, '/.') = 0
        AND strpos(path || '/', '/_index/') = 0 AND strpos(path || '/', '/_links/') = 0
        AND strpos(path || '/', '/_backlinks/') = 0 AND strpos(path || '/', '/_state/') = 0
        AND (octet_length(path) <= 255 OR path COLLATE "C" !~ '[^/]{255}[^/]')
        AND CASE split_part(path, '/', 1)
            WHEN 'projects' THEN oracle_hub.is_name(split_part(path, '/', 2)) AND split_part(path, '/', 3) <> '' AND CASE
                WHEN split_part(path, '/', 4) <> '' THEN right(path, 3) = '.md' OR right(path, 5) = '.json'
                WHEN right(path, 5) = '.toml' THEN split_part(path, '/', 3) IN ('link-patterns.toml', 'component-patterns.toml')
                WHEN right(path, 5) = '.json' THEN split_part(path, '/', 3) NOT IN (
                    'dev_env.json', 'runtime.json', 'tests.json', 'deploy.json', 'ci.json', 'lint.json', 'structure.json',
                    'env_templates.json'
                )
                ELSE right(path, 3) = '.md'
            END
            WHEN 'shared' THEN split_part(path, '/', 2) <> '' AND (right(path, 3) = '.md' OR right(path, 5) = '.json')
            WHEN 'learnings' THEN split_part(path, '/', 2) <> '' AND (right(path, 3) = '.md' OR right(path, 5) = '.json')
            WHEN 'responses' THEN split_part(path, '/', 2) <> '' AND split_part(path, '/', 3) = '' AND right(path, 5) = '.json'
            WHEN 'tasks' THEN path COLLATE "C" ~ '^tasks/[^/]+/patrol/handoffs/[^/]+__[^/]+__[^/]+[.]json([.](claim|consumed|acked))?$'
                AND oracle_hub.is_name(split_part(path, '/', 2))
            ELSE false
        END
$$;

-- Whether the name of a folder is that of a seat: a role, or a role with a number.
CREATE FUNCTION oracle_hub.is_seat(name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN right(name, 1) BETWEEN '0' AND '9'
        THEN rtrim(name, '0123456789') IN ('planner-', 'builder-', 'reviewer-', 'patrol-')
        ELSE name IN ('planner', 'builder', 'reviewer', 'patrol')
    END
$$;

CREATE FUNCTION oracle_hub.seat_of_receipt(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    receipt text := regexp_replace(name, '[.]json([.][a-z]+)?$', '');
    before text := substring(receipt from '^.*__');
BEGIN
    IF name COLLATE "C" ~ '[.](claim|acked)$' THEN
        RETURN coalesce(nullif(substr(receipt, length(before) + 1), 'operator'), '');
    END IF;
    before := left(before, -2);
    RETURN coalesce(nullif(substr(before, length(substring(before from '^.*__')) + 1), 'operator'), '');
END
$$;

-- The seat whose home owns a path: that of its folder; for a receipt its first name, for a claim or an acknowledgement its
-- second. Empty for the operator, and for the records of memory, which belong to the machine that wrote them.
CREATE FUNCTION oracle_hub.seat_of(path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE split_part(path, '/', 1)
        WHEN 'projects' THEN CASE WHEN split_part(path, '/', 4) <> '' AND oracle_hub.is_seat(split_part(path, '/', 3)) THEN split_part(path, '/', 3) ELSE '' END
        WHEN 'tasks' THEN oracle_hub.seat_of_receipt(split_part(path, '/', 5))
        ELSE ''
    END
$$;

CREATE FUNCTION oracle_hub.project_of(path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN split_part(path, '/', 1) IN ('projects', 'tasks') THEN split_part(path, '/', 2) ELSE '' END
$$;

-- Teams, machines and homes ------------------------------------------------------------------------------------------

CREATE TABLE oracle_hub.team (
    team text PRIMARY KEY CHECK (oracle_hub.is_name(team)),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE oracle_hub.machine (
    team text NOT NULL REFERENCES oracle_hub.team,
    name text NOT NULL CHECK (oracle_hub.is_name(name)),
    role text NOT NULL UNIQUE, -- one machine, one role of the database
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    invited_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    joined_at timestamptz,
    left_at timestamptz,
    seen_at timestamptz,
    program_version text NOT NULL DEFAULT '' CHECK (length(program_version) <= 60),
    PRIMARY KEY (team, name),
    UNIQUE (team, id)
) WITH (fillfactor = 50);

CREATE TABLE oracle_hub.home (
    team text NOT NULL REFERENCES oracle_hub.team,
    project text NOT NULL CHECK (oracle_hub.is_name(project)),
    seat text NOT NULL CHECK (oracle_hub.is_name(seat)),
    machine uuid, -- none once the machine left
    epoch bigint NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (team, project, seat),
    FOREIGN KEY (team, machine) REFERENCES oracle_hub.machine (team, id)
);

-- Files --------------------------------------------------------------------------------------------------------------

CREATE TABLE oracle_hub.file (
    team text NOT NULL,
    path text COLLATE "C" NOT NULL, -- oracle_hub.push, which alone writes here, looked at it: a check would look once more
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    size integer NOT NULL CHECK (size BETWEEN 0 AND 16777216),
    content bytea,
    changed_at timestamptz NOT NULL,
    removed boolean NOT NULL,
    xid8 xid8 NOT NULL,
    PRIMARY KEY (team, path),
    CHECK (removed = (content IS NULL)),
    CHECK (content IS NULL OR size = octet_length(content)) -- its digest was compared by oracle_hub.push
) PARTITION BY HASH (team);
CREATE INDEX file_changes ON oracle_hub.file (team, xid8, path);

CREATE TABLE oracle_hub.file_history (
    team text NOT NULL,
    path text COLLATE "C" NOT NULL,
    xid8 xid8 NOT NULL,
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    size integer NOT NULL,
    content bytea,
    changed_at timestamptz NOT NULL,
    replaced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, path, xid8)
) PARTITION BY HASH (team);

DO $$
BEGIN
    FOR number IN 0..15 LOOP
        EXECUTE format('CREATE TABLE oracle_hub.file_%s PARTITION OF oracle_hub.file FOR VALUES WITH (MODULUS 16, REMAINDER %s)', number, number);
        EXECUTE format('CREATE TABLE oracle_hub.file_history_%s PARTITION OF oracle_hub.file_history FOR VALUES WITH (MODULUS 16, REMAINDER %s)', number, number);
    END LOOP;
END
$$;

-- The ten versions before the present one are kept, each for thirty days.
CREATE FUNCTION oracle_hub.keep_history() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.removed THEN
        RETURN NULL;
    END IF;
    INSERT INTO oracle_hub.file_history (team, path, xid8, owner, epoch, sha256, size, content, changed_at)
    VALUES (OLD.team, OLD.path, OLD.xid8, OLD.owner, OLD.epoch, OLD.sha256, OLD.size, OLD.content, OLD.changed_at)
    ON CONFLICT DO NOTHING;
    DELETE FROM oracle_hub.file_history
    WHERE team = OLD.team AND path = OLD.path AND (
        replaced_at < clock_timestamp() - interval '30 days'
        OR xid8 <= (
            SELECT xid8 FROM oracle_hub.file_history WHERE team = OLD.team AND path = OLD.path ORDER BY xid8 DESC OFFSET 10 LIMIT 1
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_history AFTER UPDATE ON oracle_hub.file FOR EACH ROW WHEN (OLD.sha256 <> NEW.sha256 OR NEW.removed) EXECUTE FUNCTION oracle_hub.keep_history();

-- Who calls ----------------------------------------------------------------------------------------------------------

-- The team of the calling role, null for a role that is no machine of the hub.
CREATE FUNCTION oracle_hub.my_team() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT team FROM oracle_hub.machine WHERE role = session_user AND left_at IS NULL
$$;

-- The machine of the calling role. Any other team than its own is refused.
CREATE FUNCTION oracle_hub.my_machine(in_team text) RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found uuid;
BEGIN
    SELECT id INTO found FROM oracle_hub.machine
    WHERE role = session_user AND team = in_team AND joined_at IS NOT NULL AND left_at IS NULL;
    IF found IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'this role is no machine of the team';
    END IF;
    RETURN found;
END
$$;

-- What tells this hub from one that was restored, and from a standby that took over.
CREATE FUNCTION oracle_hub.hub_id() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    timeline text := '';
BEGIN
    BEGIN
        timeline := left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
    EXCEPTION WHEN OTHERS THEN
        NULL; -- a server that keeps its log in another way
    END;
    RETURN (SELECT incarnation::text FROM oracle_hub.meta) || '/' || timeline;
END
$$;

-- What machines do ---------------------------------------------------------------------------------------------------

CREATE FUNCTION oracle_hub.join(in_team text, in_name text, in_version text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found uuid;
BEGIN
    UPDATE oracle_hub.machine
    SET joined_at = clock_timestamp(), seen_at = clock_timestamp(), left_at = NULL, program_version = in_version
    WHERE role = session_user AND team = in_team AND name = in_name
    RETURNING id INTO found;
    IF found IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'no such invitation';
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION oracle_hub.leave(in_team text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me uuid := oracle_hub.my_machine(in_team);
BEGIN
    UPDATE oracle_hub.home SET machine = NULL, since = clock_timestamp() WHERE team = in_team AND machine = me;
    UPDATE oracle_hub.machine SET left_at = clock_timestamp() WHERE team = in_team AND id = me;
    PERFORM pg_notify('oracle_hub', in_team);
END
$$;

-- Note that the machine is there, at most every ten seconds.
CREATE FUNCTION oracle_hub.touch(in_team text, in_version text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE oracle_hub.machine SET seen_at = clock_timestamp(), program_version = in_version
    WHERE team = in_team AND role = session_user AND left_at IS NULL
        AND (seen_at < clock_timestamp() - interval '10 seconds' OR program_version <> in_version)
$$;

-- Make this machine the home of a seat: where there is none, or with `in_take` where another is. Return the home as it is then.
CREATE FUNCTION oracle_hub.take_home(in_team text, in_project text, in_seat text, in_take boolean)
RETURNS TABLE (machine uuid, epoch bigint, since timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    me uuid := oracle_hub.my_machine(in_team);
BEGIN
    INSERT INTO oracle_hub.home AS h (team, project, seat, machine, epoch, since)
    VALUES (in_team, in_project, in_seat, me, 1, clock_timestamp())
    ON CONFLICT (team, project, seat) DO UPDATE SET machine = me, epoch = h.epoch + 1, since = clock_timestamp()
    WHERE h.machine IS NULL OR (in_take AND h.machine <> me);
    IF FOUND THEN
        PERFORM pg_notify('oracle_hub', in_team);
    END IF;
    RETURN QUERY SELECT machine, epoch, since FROM oracle_hub.home WHERE team = in_team AND project = in_project AND seat = in_seat;
END
$$;

-- Why a file or tombstone of a machine is refused, null if it is not; `home_machine` and `home_epoch` are those of its seat's home.
CREATE FUNCTION oracle_hub.refusal(
    path text, epoch bigint, digest text, content bytea, machine uuid, home_machine uuid, home_epoch bigint
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN oracle_hub.is_path(path) IS NOT TRUE THEN 'path'
        WHEN octet_length(content) > 16777216 THEN 'size'
        WHEN digest IS DISTINCT FROM coalesce(encode(sha256(content), 'hex'), '') THEN 'digest'
        WHEN home_epoch IS NOT NULL AND home_machine IS DISTINCT FROM machine THEN 'home'
        WHEN epoch IS DISTINCT FROM coalesce(home_epoch, 0) THEN 'epoch'
    END
$$;

-- Take files and tombstones of the calling machine, and return the paths that were refused, each with the reason.
-- The usual push is judged and written in one pass. Only if something was not written, it is asked why.
CREATE FUNCTION oracle_hub.push(in_team text, in_paths text[], in_epochs bigint[], in_digests text[], in_contents bytea[])
RETURNS TABLE (path text, reason text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    me uuid := oracle_hub.my_machine(in_team);
    wrote bigint;
BEGIN
    -- A home that moves now waits for this push, or this push for it.
    PERFORM 1 FROM oracle_hub.home
    WHERE team = in_team AND machine = me
        AND (project, seat) IN (SELECT DISTINCT oracle_hub.project_of(p), oracle_hub.seat_of(p) FROM unnest(in_paths) p)
    ORDER BY project, seat FOR SHARE;

    INSERT INTO oracle_hub.file AS f (team, path, owner, epoch, sha256, size, content, changed_at, removed, xid8)
    SELECT in_team, g.path, me, g.epoch, g.sha256, coalesce(octet_length(g.content), 0), g.content, clock_timestamp(), g.content IS NULL,
        pg_current_xact_id()
    FROM unnest(in_paths, in_epochs, in_digests, in_contents) AS g (path, epoch, sha256, content)
    LEFT JOIN oracle_hub.home h
        ON h.team = in_team AND h.project = oracle_hub.project_of(g.path) AND h.seat = oracle_hub.seat_of(g.path)
    WHERE oracle_hub.refusal(g.path, g.epoch, g.sha256, g.content, me, h.machine, h.epoch) IS NULL
        AND ( -- there is nothing to remove; LIMIT makes it a look-up by the key, never a scan of the team's rows
            g.content IS NOT NULL OR (SELECT true FROM oracle_hub.file WHERE team = in_team AND path = g.path LIMIT 1)
        )
    ORDER BY g.path
    ON CONFLICT (team, path) DO UPDATE SET
        owner = EXCLUDED.owner, epoch = EXCLUDED.epoch, sha256 = EXCLUDED.sha256, size = EXCLUDED.size,
        content = EXCLUDED.content, changed_at = EXCLUDED.changed_at, removed = EXCLUDED.removed, xid8 = EXCLUDED.xid8
    WHERE (f.owner = me OR f.removed OR EXCLUDED.epoch > 0)
        AND (f.owner, f.epoch, f.sha256, f.removed) IS DISTINCT FROM (me, EXCLUDED.epoch, EXCLUDED.sha256, EXCLUDED.removed);
    GET DIAGNOSTICS wrote = ROW_COUNT;
    IF wrote > 0 THEN
        PERFORM pg_notify('oracle_hub', in_team);
    END IF;
    IF wrote < cardinality(in_paths) THEN
        RETURN QUERY SELECT * FROM (
            SELECT g.path, coalesce(
                oracle_hub.refusal(g.path, g.epoch, g.sha256, g.content, me, h.machine, h.epoch),
                CASE
                    WHEN f.owner IS NULL AND g.content IS NULL THEN NULL -- it was never there
                    WHEN (f.owner, f.epoch, f.sha256, f.removed) IS DISTINCT FROM (me, g.epoch, g.sha256, g.content IS NULL) THEN 'owner'
                END
            ) AS reason
            FROM unnest(in_paths, in_epochs, in_digests, in_contents) AS g (path, epoch, sha256, content)
            LEFT JOIN oracle_hub.home h
                ON h.team = in_team AND h.project = oracle_hub.project_of(g.path) AND h.seat = oracle_hub.seat_of(g.path)
            LEFT JOIN LATERAL (
                SELECT owner, epoch, sha256, removed FROM oracle_hub.file WHERE team = in_team AND path = g.path LIMIT 1
            ) f ON true
        ) judged WHERE judged.reason IS NOT NULL;
    END IF;
END
$$;

-- Rights -------------------------------------------------------------------------------------------------------------

ALTER TABLE oracle_hub.team ENABLE ROW LEVEL SECURITY;
ALTER TABLE oracle_hub.machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE oracle_hub.home ENABLE ROW LEVEL SECURITY;
ALTER TABLE oracle_hub.file ENABLE ROW LEVEL SECURITY;
ALTER TABLE oracle_hub.file_history ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_team ON oracle_hub.team FOR SELECT USING (team = (SELECT oracle_hub.my_team()));
CREATE POLICY own_team ON oracle_hub.machine FOR SELECT USING (team = (SELECT oracle_hub.my_team()));
CREATE POLICY own_team ON oracle_hub.home FOR SELECT USING (team = (SELECT oracle_hub.my_team()));
CREATE POLICY own_team ON oracle_hub.file FOR SELECT USING (team = (SELECT oracle_hub.my_team()));
CREATE POLICY own_team ON oracle_hub.file_history FOR SELECT USING (team = (SELECT oracle_hub.my_team()));

-- Give a role what every machine may do. Each version of this schema repeats it for the roles that there are.
CREATE FUNCTION oracle_hub.grant_rights(role text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA oracle_hub TO %I', role);
    EXECUTE format(
        'GRANT SELECT ON oracle_hub.meta, oracle_hub.team, oracle_hub.machine, oracle_hub.home, oracle_hub.file, oracle_hub.file_history TO %I',
        role
    );
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION oracle_hub.my_team, oracle_hub.hub_id, oracle_hub.project_of, oracle_hub.join, oracle_hub.leave, '
        'oracle_hub.touch, oracle_hub.take_home, oracle_hub.push TO %I',
        role
    );
END
$$;

-- Let every machine compare all rows again after the hub was restored from a backup: transactions are numbered anew elsewhere.
CREATE FUNCTION oracle_hub.renew() RETURNS void
LANGUAGE sql AS $$
    UPDATE oracle_hub.meta SET incarnation = gen_random_uuid();
    UPDATE oracle_hub.file SET xid8 = pg_current_xact_id();
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA oracle_hub FROM PUBLIC;
