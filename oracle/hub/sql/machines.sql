SELECT id::text, name, to_char(joined_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    to_char(seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    extract(epoch FROM clock_timestamp() - seen_at)::float8, program_version
FROM oracle_hub.machine
WHERE team = %s AND joined_at IS NOT NULL AND left_at IS NULL
ORDER BY name COLLATE "C"
