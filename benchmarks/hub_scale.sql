-- Records {first} to {last} of a team, as some machines sent them: words and targets of links are distributed like Zipf's law.
DO $$
DECLARE
    syllables text[] := string_to_array('{syllables}', ' ');
    many integer := cardinality(syllables);
    words text[];
    body text;
    number integer;
    name text;
    content bytea;
    owners uuid[] := ARRAY(SELECT gen_random_uuid() FROM generate_series(1, {machines}));
BEGIN
    PERFORM setseed({first} / 1e7);
    words := ARRAY(
        SELECT syllables[1 + n % many] || syllables[1 + n / many % many] || syllables[1 + n / many / many]
        FROM generate_series(0, many * many * many - 1) n ORDER BY n
    );
    FOR number IN {first}..{last} LOOP
        name := '2026-04-01T10-00-00Z-' || lpad(number::text, 7, '0');
        body := '';
        FOR line IN 1..8 LOOP
            FOR at IN 1..12 LOOP
                body := body || words[1 + floor(exp(random() * ln({words})))::integer - 1] || ' ';
            END LOOP;
            body := body || CASE line
                WHEN 1 THEN 'ARENA-' || CASE WHEN number <= {linked} THEN 228 ELSE 1000 + floor(exp(random() * 7.6))::integer END
                WHEN 2 THEN 'OPS-' || floor(exp(random() * ln(900)))::integer
                WHEN 3 THEN 'src/mod' || floor(random() * 200)::integer || '/file' || floor(random() * 10)::integer || '.py'
                WHEN 4 THEN 'https://example.com/page/' || floor(exp(random() * ln(5000)))::integer
                WHEN 5 THEN '[[2026-04-01T10-00-00Z-' || lpad((1 + floor(random() * number)::integer)::text, 7, '0') || ']]'
                ELSE 'docs/topic' || floor(random() * 5000)::integer || '.md'
            END || E'.\n\n';
        END LOOP;
        content := convert_to(
            E'---\nschema_version: "2"\nid: "' || name || E'"\nkind: "finding"\ntitle: "'
            || words[1 + floor(random() * {words})::integer] || ' ' || words[1 + floor(exp(random() * ln({words})))::integer - 1]
            || E'"\nauthor: "builder"\nstatus: "open"\nts: "2026-04-01T10:00:00.000000Z"\n---\n\n' || body, 'UTF8'
        );
        INSERT INTO oracle_hub.file (team, path, owner, epoch, sha256, size, content, changed_at, removed, xid8)
        VALUES (
            '{team}', 'projects/p' || lpad((number / 500)::text, 4, '0') || '/finding/' || number / 100 % 5 || '/' || name || '.md',
            owners[1 + number % {machines}], 0, encode(sha256(content), 'hex'), octet_length(content), content,
            clock_timestamp(), false, pg_current_xact_id()
        );
    END LOOP;
END
$$
