SELECT machine::text, epoch, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM oracle_hub.take_home(%s, %s, %s, %s)
