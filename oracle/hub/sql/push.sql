SELECT path, reason FROM oracle_hub.push(%s, %s::text[], %s::bigint[], %s::text[], %b::bytea[])
