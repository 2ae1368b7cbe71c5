SELECT project, seat, coalesce(machine::text, ''), epoch, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM oracle_hub.home
WHERE team = %s
ORDER BY project COLLATE "C", seat COLLATE "C"
