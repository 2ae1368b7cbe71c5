-- One page of changes behind the cursor, the oldest first, and always one row with the hub, the horizon and whether rows wait for it.
-- A transaction that is still open may commit rows below the newest ones: what it and later ones wrote waits for the horizon.
WITH hub AS MATERIALIZED (
    SELECT oracle_hub.hub_id() AS id, pg_snapshot_xmin(pg_current_snapshot()) AS horizon
), start AS MATERIALIZED (
    SELECT
        CASE WHEN id = %(hub)s THEN %(xid)s::text::xid8 ELSE '0'::xid8 END AS xid,
        CASE WHEN id = %(hub)s THEN %(path)s ELSE '' END AS path
    FROM hub
), ahead AS (
    SELECT f.path, f.owner, f.epoch, f.sha256, f.size, f.removed, f.xid8, f.content,
        NOT f.removed AND f.size <= %(inline)s AND f.owner <> %(machine)s::uuid AS is_inline
    FROM oracle_hub.file f
    WHERE f.team = %(team)s
        AND (f.xid8, f.path) > ((SELECT xid FROM start), (SELECT path FROM start) COLLATE "C")
        AND f.xid8 < (SELECT horizon FROM hub)
        AND (%(projects)s::text[] IS NULL OR oracle_hub.project_of(f.path) = ANY (%(projects)s::text[]))
    ORDER BY f.xid8, f.path
    LIMIT %(rows)s + 1
), page AS (
    SELECT ahead.*,
        row_number() OVER (ORDER BY xid8, path) AS number,
        sum(CASE WHEN is_inline THEN size ELSE 0 END) OVER (ORDER BY xid8, path) AS bytes
    FROM ahead
), newest AS ( -- by the index: a planner that expects many rows behind the horizon reads the whole table for one
    SELECT xid8 FROM oracle_hub.file WHERE team = %(team)s ORDER BY xid8 DESC, path DESC LIMIT 1
)
SELECT hub.id, hub.horizon::text, (SELECT count(*) FROM page),
    page.path, page.owner::text, page.epoch, page.sha256, page.size, CASE WHEN page.is_inline THEN page.content END, page.removed,
    page.xid8::text, coalesce((SELECT xid8 FROM newest) >= hub.horizon, false)
FROM hub
LEFT JOIN page ON page.number = 1 OR (page.number <= %(rows)s AND page.bytes <= %(bytes)s)
ORDER BY page.number
