-- Several outages of the database, each shorter than half a lease, that follow each other: whoever is back first gives the others
-- time after each. And the database says whether it has forgotten its last moments.

ALTER TABLE "life" SET UNLOGGED;--> statement-breakpoint

-- The name of what the database remembers: another after a crash.
CREATE FUNCTION sluice_life() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
BEGIN
  SELECT name INTO v_name FROM life;
  IF v_name IS NULL THEN
    INSERT INTO life (name) VALUES (md5(random()::text || clock_timestamp()::text)) ON CONFLICT DO NOTHING;
    SELECT name INTO v_name FROM life;
  END IF;
  RETURN v_name;
END
$$;--> statement-breakpoint

-- A lease begins or goes on. One that had ended begins anew: what others have taken over meanwhile is theirs. Returns whether it had
-- not ended. Renewals further apart than a quarter of a lease are not in time: the database may have been away. After up to half of
-- one, the leases of all are still good, and half of the time is enough for the others to come back.
CREATE OR REPLACE FUNCTION sluice_beat(p_node text, p_lease bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_was bigint;
  v_now bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  SELECT until INTO v_was FROM nodes WHERE id = p_node FOR NO KEY UPDATE;
  v_now := sluice_now();
  INSERT INTO nodes (id, until, renewed_at, steady_since) VALUES (p_node, v_now + p_lease, v_now, v_now)
  ON CONFLICT (id) DO UPDATE SET until = excluded.until, renewed_at = excluded.renewed_at,
    steady_since = CASE
      WHEN excluded.renewed_at - nodes.renewed_at BETWEEN 0 AND p_lease / 4 THEN nodes.steady_since
      WHEN excluded.renewed_at - nodes.renewed_at BETWEEN 0 AND p_lease / 2
        THEN greatest(nodes.steady_since, excluded.renewed_at - p_lease * 3 / 4)
      ELSE excluded.renewed_at END;
  RETURN coalesce(v_was > v_now, false);
END
$$;--> statement-breakpoint

-- Takes over what nodes held whose leases have ended for a quarter of their time; their requests leave. An outage of the database ends
-- the leases of all: who has not renewed its own in time for as long as one and a half of them takes over nothing yet.
CREATE OR REPLACE FUNCTION sluice_sweep(p_node text, p_most int) RETURNS SETOF reservations LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := sluice_now();
  v_lease bigint;
  v_entered text[];
BEGIN
  SELECT until - renewed_at INTO v_lease FROM nodes WHERE id = p_node AND until > v_now
    AND v_now - renewed_at <= (until - renewed_at) / 4 AND v_now - steady_since >= (until - renewed_at) * 3 / 2;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  -- By a clock that was set back, a lease of before would last for as long again.
  DELETE FROM nodes WHERE id <> p_node AND (until + v_lease / 4 <= v_now OR renewed_at > v_now + v_lease);
  -- Looked at by itself: what such a node was granted a moment ago is to be seen.
  SELECT array_agg(e.id) INTO v_entered FROM (
    SELECT id FROM entered WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = entered.node) LIMIT 10000) e;
  IF v_entered IS NOT NULL THEN
    PERFORM sluice_leave(v_entered, '{}');
  END IF;
  RETURN QUERY
    UPDATE reservations SET node = p_node WHERE row IN (
      SELECT r.row FROM reservations r WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = r.node)
      ORDER BY r.row LIMIT p_most FOR UPDATE SKIP LOCKED)
    RETURNING *;
END
$$;
