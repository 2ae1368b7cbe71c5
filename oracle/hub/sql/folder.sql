SELECT path, owner::text, epoch, sha256, size, NULL, removed
FROM oracle_hub.file
WHERE team = %(team)s AND path > %(folder)s || '/' AND path < %(folder)s || '0'
    AND strpos(substr(path, length(%(folder)s) + 2), '/') = 0
ORDER BY path
