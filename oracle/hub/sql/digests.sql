SELECT folder, encode(sha256(convert_to(string_agg(line, '' ORDER BY line COLLATE "C"), 'UTF8')), 'hex')
FROM (
    SELECT regexp_replace(path, '/[^/]*$', '') AS folder, path || ' ' || sha256 || E'\n' AS line
    FROM oracle_hub.file
    WHERE team = %(team)s AND NOT removed
        AND (%(projects)s::text[] IS NULL OR oracle_hub.project_of(path) = ANY (%(projects)s::text[]))
) AS lines
GROUP BY folder
