SELECT path, reason FROM oracle_hub.push(%s, %b::text[], %b::bigint[], %b::text[], %b::bytea[])
