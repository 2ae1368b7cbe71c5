-- Note that this machine is there, unless its program is too old; return the homes and the machines of its team, each as a list
-- of values, and the versions of the schema.
SELECT CASE WHEN oldest <= %(schema)s THEN oracle_hub.touch(%(team)s, %(version)s)::text END, (
    SELECT coalesce(json_agg(json_build_array(
        project, seat, coalesce(machine::text, ''), epoch, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ) ORDER BY project COLLATE "C", seat COLLATE "C"), '[]')
    FROM oracle_hub.home
    WHERE team = %(team)s
), (
    SELECT coalesce(json_agg(json_build_array(
        id, name, to_char(joined_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        to_char(seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        extract(epoch FROM clock_timestamp() - seen_at)::float8, program_version
    ) ORDER BY name COLLATE "C"), '[]')
    FROM oracle_hub.machine
    WHERE team = %(team)s AND joined_at IS NOT NULL AND left_at IS NULL
), version, oldest
FROM oracle_hub.meta
