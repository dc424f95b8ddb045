-- The ledger: what of it must be decided or written where the rows are, each in one round trip. Every function locks keys before
-- budgets before reservations, each in the order of their ids, so that no two wait for each other. What a verdict rests on stands
-- in rows that are locked by then.

-- Milliseconds since the epoch, by the one clock that decides.
CREATE FUNCTION sluice_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;--> statement-breakpoint

-- Sums stay what every reader can count on.
CREATE FUNCTION sluice_sum(a bigint, b numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(-9007199254740991, least(a + b, 9007199254740991))::bigint
$$;--> statement-breakpoint

-- A lease begins or goes on. One that had ended begins anew: what others have taken over meanwhile is theirs. Returns whether it had
-- not ended.
CREATE FUNCTION sluice_beat(p_node text, p_lease bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_was bigint;
  v_now bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  SELECT until INTO v_was FROM nodes WHERE id = p_node FOR NO KEY UPDATE;
  v_now := sluice_now();
  INSERT INTO nodes (id, until) VALUES (p_node, v_now + p_lease) ON CONFLICT (id) DO UPDATE SET until = excluded.until;
  RETURN coalesce(v_was > v_now, false);
END
$$;--> statement-breakpoint

-- Takes over what nodes held whose leases have ended; their requests leave.
CREATE FUNCTION sluice_sweep(p_node text, p_most int) RETURNS SETOF reservations LANGUAGE plpgsql AS $$
DECLARE
  v_entered text[];
BEGIN
  DELETE FROM nodes WHERE until <= sluice_now() AND id <> p_node;
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
$$;--> statement-breakpoint

-- The windows of a key with what is counted in a second: an amount counts for 60 to 61 s, never less.
CREATE FUNCTION sluice_count(p_key text, p_second bigint, p_requests bigint, p_tokens bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := sluice_now() / 1000;
BEGIN
  UPDATE keys SET (window_seconds, window_requests, window_tokens) = (
    SELECT coalesce(array_agg(s ORDER BY s), '{}'), coalesce(array_agg(r ORDER BY s), '{}'), coalesce(array_agg(t ORDER BY s), '{}')
    FROM (
      SELECT s, greatest(sum(r), 0)::bigint AS r, sluice_sum(0, sum(t)) AS t FROM (
        SELECT * FROM unnest(window_seconds, window_requests, window_tokens) AS had (s, r, t)
        UNION ALL SELECT p_second, p_requests, p_tokens) AS each
      WHERE s >= v_now - 60 GROUP BY s HAVING sum(r) > 0 OR sum(t) > 0) AS kept)
  WHERE id = p_key;
END
$$;--> statement-breakpoint

-- Requests end; those that are refunded count against no limit.
CREATE FUNCTION sluice_leave(p_ids text[], p_refunded text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v record;
BEGIN
  PERFORM 1 FROM keys WHERE id IN (SELECT key_id FROM entered WHERE id = ANY (p_ids || p_refunded)) ORDER BY id FOR UPDATE;
  FOR v IN
    WITH gone AS (DELETE FROM entered WHERE id = ANY (p_ids || p_refunded) RETURNING *)
    SELECT key_id, second, count(*) AS n, count(*) FILTER (WHERE id = ANY (p_refunded)) AS refunded
    FROM gone GROUP BY key_id, second ORDER BY key_id
  LOOP
    UPDATE keys SET in_flight = greatest(in_flight - v.n, 0) WHERE id = v.key_id;
    IF v.refunded > 0 THEN
      PERFORM sluice_count(v.key_id, v.second, -v.refunded, 0);
    END IF;
  END LOOP;
END
$$;--> statement-breakpoint

-- Requests of keys that have limits come in, in their order. The limits are the gateway's, for keys without their own.
CREATE FUNCTION sluice_enter(p_node text, p_ids text[], p_keys text[], p_rpm bigint, p_tpm bigint, p_concurrency bigint)
RETURNS TABLE (at bigint, said text, now bigint, seconds bigint[], requests bigint[], tokens bigint[], active bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v keys%ROWTYPE;
  v_now bigint;
  v_said text;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  PERFORM 1 FROM nodes n WHERE n.id = p_node AND n.until > sluice_now() FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 0::bigint, 'fenced', 0::bigint, NULL::bigint[], NULL::bigint[], NULL::bigint[], 0::bigint;
    RETURN;
  END IF;
  PERFORM 1 FROM keys WHERE id = ANY (p_keys) ORDER BY id FOR UPDATE;
  FOR i IN 1 .. cardinality(p_ids) LOOP
    SELECT * INTO v FROM keys WHERE id = p_keys[i];
    IF NOT FOUND THEN
      RETURN QUERY SELECT i::bigint, 'dead', 0::bigint, NULL::bigint[], NULL::bigint[], NULL::bigint[], 0::bigint;
      CONTINUE;
    END IF;
    v_now := sluice_now();
    IF EXISTS (SELECT FROM entered e WHERE e.id = p_ids[i]) THEN
      v_said := 'ok';
    ELSE
      SELECT CASE
        WHEN coalesce(v.rpm, p_rpm) > 0 AND coalesce(sum(w.r), 0) >= coalesce(v.rpm, p_rpm) THEN 'limited'
        WHEN coalesce(v.tpm, p_tpm) > 0 AND coalesce(sum(w.t), 0) >= coalesce(v.tpm, p_tpm) THEN 'limited'
        WHEN coalesce(v.concurrency, p_concurrency) > 0 AND v.in_flight >= coalesce(v.concurrency, p_concurrency) THEN 'busy'
        ELSE 'ok' END INTO v_said
      FROM unnest(v.window_seconds, v.window_requests, v.window_tokens) AS w (s, r, t) WHERE w.s >= v_now / 1000 - 60;
      IF v_said = 'ok' THEN
        INSERT INTO entered (id, key_id, node, second) VALUES (p_ids[i], v.id, p_node, v_now / 1000);
        UPDATE keys SET in_flight = in_flight + 1 WHERE id = v.id;
        PERFORM sluice_count(v.id, v_now / 1000, 1, 0);
        SELECT * INTO v FROM keys WHERE id = v.id;
      END IF;
    END IF;
    RETURN QUERY SELECT i::bigint, v_said, v_now, v.window_seconds, v.window_requests, v.window_tokens, v.in_flight;
  END LOOP;
END
$$;--> statement-breakpoint

-- Sets aside what requests ask for, in their order, each where it fits everything that it counts against; where it does not, tells
-- how much is left and held. `p_asks`: rows of what is written, with `at` their places from 1, `seen` the version of the key that
-- was authenticated, `counts` their budgets, and `alone`: with nothing held, more than is left may be asked for, while no less is
-- left than this in each.
CREATE FUNCTION sluice_reserve(p_node text, p_ids text[], p_keys text[], p_budgets text[], p_asks text)
RETURNS TABLE (at bigint, said text, reserved bigint, lefts bigint[], helds bigint[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now bigint;
  k_ids text[]; k_left bigint[]; k_held bigint[]; k_version bigint[]; k_alive boolean[];
  b_ids text[]; b_usd boolean[]; b_left bigint[]; b_held bigint[]; b_tokens bigint[]; b_microusd bigint[];
  had_ids text[]; had_reserved bigint[];
  v_granted bigint[] := '{}';
  a record; i int; b int; n int;
  v_lefts bigint[]; v_helds bigint[]; v_need bigint; v_fits boolean;
BEGIN
  PERFORM set_config('lock_timeout', '4s', true);
  PERFORM 1 FROM nodes WHERE id = p_node AND until > sluice_now() FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 0::bigint, 'fenced', NULL::bigint, NULL::bigint[], NULL::bigint[];
    RETURN;
  END IF;
  PERFORM 1 FROM keys WHERE id = ANY (p_keys) ORDER BY id FOR UPDATE;
  IF cardinality(p_budgets) > 0 THEN
    PERFORM 1 FROM budgets WHERE id = ANY (p_budgets) ORDER BY id FOR UPDATE;
  END IF;
  v_now := sluice_now();
  SELECT array_agg(id), array_agg(tokens_total - tokens_used), array_agg(tokens_held), array_agg(version),
    array_agg(revoked_at IS NULL AND expires_at > v_now)
    INTO k_ids, k_left, k_held, k_version, k_alive FROM keys WHERE id = ANY (p_keys);
  IF cardinality(p_budgets) > 0 THEN
    SELECT array_agg(id), array_agg(unit = 'usd'),
      array_agg(amount - CASE unit WHEN 'usd' THEN used_micro_usd ELSE used_tokens END),
      array_agg(CASE unit WHEN 'usd' THEN held_micro_usd ELSE held_tokens END), array_agg(0), array_agg(0)
      INTO b_ids, b_usd, b_left, b_held, b_tokens, b_microusd FROM budgets WHERE id = ANY (p_budgets) AND amount IS NOT NULL;
  END IF;
  SELECT array_agg(id), array_agg(reserved) INTO had_ids, had_reserved FROM reservations WHERE id = ANY (p_ids);

  FOR a IN SELECT * FROM json_to_recordset(p_asks::json)
    AS x (at bigint, id text, key_id text, seen bigint, counts text[], reserved bigint, reserved_micro_usd bigint, alone bigint[])
  LOOP
    i := array_position(had_ids, a.id);
    IF i IS NOT NULL THEN
      RETURN QUERY SELECT a.at, 'ok', had_reserved[i], NULL::bigint[], NULL::bigint[];
      CONTINUE;
    END IF;
    i := array_position(k_ids, a.key_id);
    IF i IS NULL OR NOT k_alive[i] THEN
      RETURN QUERY SELECT a.at, 'dead', NULL::bigint, NULL::bigint[], NULL::bigint[];
      CONTINUE;
    END IF;
    IF k_version[i] > a.seen THEN
      RETURN QUERY SELECT a.at, 'changed', NULL::bigint, NULL::bigint[], NULL::bigint[];
      CONTINUE;
    END IF;
    v_lefts := ARRAY[k_left[i]];
    v_helds := ARRAY[k_held[i]];
    v_fits := k_left[i] > 0 AND (a.reserved <= k_left[i] - k_held[i]
      OR (k_held[i] = 0 AND k_left[i] >= a.alone[1]) IS TRUE);
    n := coalesce(cardinality(a.counts), 0);
    FOR j IN 1 .. n LOOP
      b := array_position(b_ids, a.counts[j]);
      v_lefts := v_lefts || CASE WHEN b IS NULL THEN NULL ELSE b_left[b] END;
      v_helds := v_helds || CASE WHEN b IS NULL THEN NULL ELSE b_held[b] END;
      CONTINUE WHEN b IS NULL;
      v_need := CASE WHEN b_usd[b] THEN a.reserved_micro_usd ELSE a.reserved END;
      v_fits := v_fits AND b_left[b] > 0 AND (v_need <= b_left[b] - b_held[b]
        OR (b_held[b] = 0 AND b_left[b] >= a.alone[j + 1]) IS TRUE);
    END LOOP;
    IF NOT v_fits THEN
      RETURN QUERY SELECT a.at, 'no', NULL::bigint, v_lefts, v_helds;
      CONTINUE;
    END IF;
    k_held[i] := k_held[i] + a.reserved;
    FOR j IN 1 .. n LOOP
      b := array_position(b_ids, a.counts[j]);
      CONTINUE WHEN b IS NULL;
      b_held[b] := b_held[b] + CASE WHEN b_usd[b] THEN a.reserved_micro_usd ELSE a.reserved END;
      b_tokens[b] := b_tokens[b] + a.reserved;
      b_microusd[b] := b_microusd[b] + a.reserved_micro_usd;
    END LOOP;
    v_granted := v_granted || a.at;
    RETURN QUERY SELECT a.at, 'ok', a.reserved, NULL::bigint[], NULL::bigint[];
  END LOOP;

  IF cardinality(v_granted) > 0 THEN
    INSERT INTO reservations (id, key_id, model, wire, stream, started_at, input_estimate, reserved, reserved_micro_usd,
      held, held_micro_usd, budgets, address, tag, node)
    SELECT x.id, x.key_id, x.model, x.wire, x.stream, x.started_at, x.input_estimate, x.reserved, x.reserved_micro_usd,
      x.reserved, x.reserved_micro_usd, x.budgets, x.address, x.tag, p_node
    FROM json_to_recordset(p_asks::json) AS x (at bigint, id text, key_id text, model text, wire text, stream boolean,
      started_at bigint, input_estimate bigint, reserved bigint, reserved_micro_usd bigint, budgets text, address text, tag text)
    WHERE x.at = ANY (v_granted) ORDER BY x.at;
    UPDATE keys SET tokens_held = k.held FROM unnest(k_ids, k_held) AS k (id, held)
    WHERE keys.id = k.id AND keys.tokens_held <> k.held;
    IF b_ids IS NOT NULL THEN
      UPDATE budgets SET held_tokens = budgets.held_tokens + u.tokens, held_micro_usd = budgets.held_micro_usd + u.micro_usd
      FROM unnest(b_ids, b_tokens, b_microusd) AS u (id, tokens, micro_usd)
      WHERE budgets.id = u.id AND u.tokens + u.micro_usd > 0;
    END IF;
  END IF;
END
$$;--> statement-breakpoint

-- What exchanges count against is locked: keys, then budgets.
CREATE FUNCTION sluice_lock(p_ids text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_keys text[]; v_budgets text[];
BEGIN
  SELECT array_agg(DISTINCT key_id), array_agg(budgets) FILTER (WHERE budgets IS NOT NULL) INTO v_keys, v_budgets
  FROM reservations WHERE id = ANY (p_ids);
  PERFORM 1 FROM keys WHERE id = ANY (v_keys) ORDER BY id FOR UPDATE;
  IF v_budgets IS NOT NULL THEN
    PERFORM 1 FROM budgets WHERE id IN (SELECT json_array_elements_text(b::json) FROM unnest(v_budgets) AS b)
    ORDER BY id FOR UPDATE;
  END IF;
END
$$;--> statement-breakpoint

-- What was spent, and let go of, by budgets; and the marks that were passed by it.
CREATE FUNCTION sluice_charge(p_ids text[], p_tokens bigint[], p_micro_usd bigint[], p_held bigint[], p_held_micro_usd bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH spent AS (
    SELECT id, sum(t) AS t, sum(m) AS m, sum(h) AS h, sum(hm) AS hm
    FROM unnest(p_ids, p_tokens, p_micro_usd, p_held, p_held_micro_usd) AS u (id, t, m, h, hm) GROUP BY id
  ), charged AS (
    UPDATE budgets b SET
      used_tokens = CASE WHEN amount IS NULL THEN used_tokens ELSE greatest(sluice_sum(used_tokens, s.t), 0) END,
      used_micro_usd = CASE WHEN amount IS NULL THEN used_micro_usd ELSE greatest(sluice_sum(used_micro_usd, s.m), 0) END,
      held_tokens = greatest(held_tokens - s.h, 0)::bigint, held_micro_usd = greatest(held_micro_usd - s.hm, 0)::bigint
    FROM spent s WHERE b.id = s.id
    RETURNING b.id, b.unit, b.amount, b.warn_at, b.since, b.marked,
      CASE b.unit WHEN 'usd' THEN b.used_micro_usd ELSE b.used_tokens END AS used
  ), passed AS (
    SELECT c.*, w::bigint AS mark FROM charged c, json_array_elements_text(c.warn_at::json) AS w
    WHERE c.amount IS NOT NULL AND w::bigint > c.marked AND c.used::numeric * 100 >= c.amount::numeric * w::bigint
  )
  INSERT INTO budget_marks (at, budget, since, mark, unit, amount, used)
  SELECT sluice_now(), id, since, mark, unit, amount, used FROM passed ORDER BY id, mark
  ON CONFLICT (budget, since, mark) DO NOTHING;
  UPDATE budgets b SET marked = m.mark FROM (
    SELECT k.budget, k.since, max(k.mark) AS mark FROM budget_marks k WHERE k.budget = ANY (p_ids) GROUP BY k.budget, k.since) AS m
  WHERE b.id = m.budget AND b.since = m.since AND b.marked < m.mark
    AND (CASE b.unit WHEN 'usd' THEN b.used_micro_usd ELSE b.used_tokens END)::numeric * 100 >= b.amount::numeric * m.mark;
END
$$;--> statement-breakpoint

-- Less will do for these.
CREATE FUNCTION sluice_narrow(p_ids text[], p_tokens bigint[], p_micro_usd bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  PERFORM sluice_lock(p_ids);
  FOR v IN
    SELECT r.row, r.key_id, r.budgets, r.held - n.t AS less, r.held_micro_usd - least(r.held_micro_usd, n.m) AS less_micro_usd
    FROM reservations r JOIN unnest(p_ids, p_tokens, p_micro_usd) AS n (id, t, m) ON n.id = r.id
    WHERE r.held > n.t ORDER BY r.id FOR UPDATE OF r
  LOOP
    UPDATE reservations SET held = held - v.less, held_micro_usd = held_micro_usd - v.less_micro_usd WHERE row = v.row;
    UPDATE keys SET tokens_held = greatest(tokens_held - v.less, 0) WHERE id = v.key_id;
    UPDATE budgets SET held_tokens = greatest(held_tokens - v.less, 0), held_micro_usd = greatest(held_micro_usd - v.less_micro_usd, 0)
    WHERE v.budgets IS NOT NULL AND id IN (SELECT json_array_elements_text(v.budgets::json));
  END LOOP;
END
$$;--> statement-breakpoint

-- What exchanges that run have come to so far.
CREATE FUNCTION sluice_progress(p_node text, p_rows text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  PERFORM 1 FROM reservations r WHERE r.node = p_node
    AND r.id IN (SELECT x.id FROM json_to_recordset(p_rows::json) AS x (id text)) ORDER BY r.id FOR UPDATE;
  UPDATE reservations r SET input = x.input, cache_read = x.cache_read, cache_write = x.cache_write, output = x.output,
    reasoning = x.reasoning
  FROM json_to_recordset(p_rows::json) AS x (id text, input bigint, cache_read bigint, cache_write bigint, output bigint,
    reasoning bigint)
  WHERE r.id = x.id AND r.node = p_node;
END
$$;--> statement-breakpoint

-- Takes the figures of an exchange out of the sums again, where they are in: by its hour and its day, as the node has them.
CREATE FUNCTION sluice_unsum(e exchanges, p_hour bigint, p_day bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_errors bigint := CASE WHEN e.outcome IN ('refused', 'failed') THEN 1 ELSE 0 END;
BEGIN
  UPDATE usage_hours SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd
  WHERE hour = p_hour AND key_id = e.key_id AND model = e.model;
  UPDATE usage_days SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd
  WHERE day = p_day AND key_id = e.key_id AND model = e.model;
  UPDATE usage_models SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd
  WHERE hour = p_hour AND model = e.model;
  UPDATE usage_accounts SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd
  WHERE hour = p_hour AND provider = coalesce(e.provider, '') AND account = coalesce(e.account, '');
  UPDATE usage_tags SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd
  WHERE day = p_day AND key_id = e.key_id AND e.tag IS NOT NULL AND tag = CASE WHEN EXISTS (
    SELECT FROM usage_tags t WHERE t.day = p_day AND t.key_id = e.key_id AND t.tag = e.tag) THEN e.tag ELSE '(other)' END;
END
$$;--> statement-breakpoint

-- A node that was counted as gone says how its exchanges ended after all: its figures replace the estimate, once. Keys and budgets
-- are locked by then.
CREATE FUNCTION sluice_correct(p_ids text[], p_ended text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v record;
  v_was exchanges;
  v_tokens bigint;
  v_ids text[];
BEGIN
  -- Held by whoever writes sums.
  PERFORM pg_advisory_xact_lock(7588219045);
  FOR v IN
    SELECT x.* FROM json_to_recordset(p_ended::json) AS x (id text, ended_at bigint, outcome text, status bigint,
      error_code text, provider text, account text, upstream_model text, provider_wire text, attempts bigint,
      first_byte_ms bigint, total_ms bigint, input bigint, cache_read bigint, cache_write bigint, output bigint,
      reasoning bigint, estimated boolean, cost_micro_usd bigint, fees_micro_usd bigint, raw_usage text, trail text,
      dropped text, server_tools text, alone boolean, tokens bigint, budgets text, hour bigint, day bigint)
    WHERE x.id = ANY (p_ids) AND NOT x.alone AND NOT x.estimated AND x.hour IS NOT NULL ORDER BY x.id
  LOOP
    SELECT * INTO v_was FROM exchanges WHERE id = v.id AND alone FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    IF v_was.summed THEN
      PERFORM sluice_unsum(v_was, v.hour, v.day);
    END IF;
    v_tokens := v.tokens - coalesce(v_was.input, 0) - coalesce(v_was.cache_read, 0) - coalesce(v_was.cache_write, 0)
      - coalesce(v_was.output, 0);
    UPDATE exchanges SET ended_at = v.ended_at, outcome = v.outcome, status = v.status, error_code = v.error_code,
      provider = v.provider, account = v.account, upstream_model = v.upstream_model, provider_wire = v.provider_wire,
      attempts = v.attempts, first_byte_ms = v.first_byte_ms, total_ms = v.total_ms, input = v.input,
      cache_read = v.cache_read, cache_write = v.cache_write, output = v.output, reasoning = v.reasoning, estimated = false,
      cost_micro_usd = v.cost_micro_usd, fees_micro_usd = v.fees_micro_usd, raw_usage = v.raw_usage, trail = v.trail,
      dropped = v.dropped, server_tools = v.server_tools, left_after = left_after - v_tokens, alone = false, summed = false
    WHERE row = v_was.row;
    UPDATE keys SET tokens_used = greatest(sluice_sum(tokens_used, v_tokens), 0) WHERE id = v_was.key_id;
    IF v.budgets IS NOT NULL THEN
      SELECT array_agg(b) INTO v_ids FROM json_array_elements_text(v.budgets::json) AS b;
      PERFORM sluice_charge(v_ids, array_fill(v_tokens, ARRAY[cardinality(v_ids)]),
        array_fill(v.cost_micro_usd - v_was.cost_micro_usd, ARRAY[cardinality(v_ids)]),
        array_fill(0::bigint, ARRAY[cardinality(v_ids)]), array_fill(0::bigint, ARRAY[cardinality(v_ids)]));
    END IF;
  END LOOP;
END
$$;--> statement-breakpoint

-- Ends exchanges, each once: what is not among the reservations any more is ended, and writes nothing. `p_ended`: rows as they are
-- written, with `tokens` their sums, and `counted`: they count in the key's window.
CREATE FUNCTION sluice_settle(p_ids text[], p_ended text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_late text[];
  v_gone int := 0;
  v_budget text;
  v record;
  b_ids text[] := '{}'; b_tokens bigint[] := '{}'; b_cost bigint[] := '{}';
  b_held bigint[] := '{}'; b_held_cost bigint[] := '{}';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  SELECT array_agg(id) INTO v_late FROM exchanges WHERE id = ANY (p_ids) AND alone;
  IF v_late IS NOT NULL THEN
    -- Its budgets are told by its node alone.
    PERFORM 1 FROM keys WHERE id IN (SELECT key_id FROM exchanges WHERE id = ANY (p_ids) AND alone
      UNION ALL SELECT key_id FROM reservations WHERE id = ANY (p_ids)) ORDER BY id FOR UPDATE;
    PERFORM 1 FROM budgets WHERE id IN (
      SELECT json_array_elements_text(x.budgets::json) FROM json_to_recordset(p_ended::json) AS x (id text, budgets text)
      WHERE x.budgets IS NOT NULL) ORDER BY id FOR UPDATE;
  ELSE
    PERFORM sluice_lock(p_ids);
  END IF;
  FOR v IN
    WITH gone AS (DELETE FROM reservations WHERE id = ANY (p_ids) RETURNING *),
    ended AS (
      SELECT g.row, g.id, g.key_id, g.model, g.wire, g.stream, g.started_at, g.input_estimate, g.reserved, g.address, g.tag,
        g.budgets, g.held, g.held_micro_usd, x.ended_at, x.outcome, x.status, x.error_code, x.provider, x.account,
        x.upstream_model, x.provider_wire, x.attempts, x.first_byte_ms, x.total_ms, x.input, x.cache_read, x.cache_write,
        x.output, x.reasoning, x.estimated, x.fees_micro_usd, x.raw_usage, x.trail, x.dropped, x.server_tools, x.alone,
        x.counted, w.id IS NOT NULL AS was, CASE WHEN w.id IS NULL THEN x.tokens ELSE 0 END AS tokens,
        CASE WHEN w.id IS NULL THEN x.cost_micro_usd ELSE 0 END AS cost_micro_usd
      -- Granted once more by an attempt that came after its end: it only lets go.
      FROM gone g LEFT JOIN exchanges w ON w.id = g.id JOIN json_to_recordset(p_ended::json) AS x (id text, ended_at bigint, outcome text, status bigint,
        error_code text, provider text, account text, upstream_model text, provider_wire text, attempts bigint,
        first_byte_ms bigint, total_ms bigint, input bigint, cache_read bigint, cache_write bigint, output bigint,
        reasoning bigint, estimated boolean, cost_micro_usd bigint, fees_micro_usd bigint, raw_usage text, trail text,
        dropped text, server_tools text, alone boolean, tokens bigint, counted boolean) ON x.id = g.id
    ), written AS (
      INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, address, tag, ended_at,
        outcome, status, error_code, provider, account, upstream_model, provider_wire, attempts, first_byte_ms, total_ms, input,
        cache_read, cache_write, output, reasoning, estimated, cost_micro_usd, fees_micro_usd, raw_usage, trail, dropped,
        left_after, server_tools, alone)
      SELECT e.row, e.id, e.key_id, e.model, e.wire, e.stream, e.started_at, e.input_estimate, e.reserved, e.address, e.tag,
        e.ended_at, e.outcome, e.status, e.error_code, e.provider, e.account, e.upstream_model, e.provider_wire, e.attempts,
        e.first_byte_ms, e.total_ms, e.input, e.cache_read, e.cache_write, e.output, e.reasoning, e.estimated,
        e.cost_micro_usd, e.fees_micro_usd, e.raw_usage, e.trail, e.dropped,
        sluice_sum(k.tokens_total - k.tokens_used, -sum(e.tokens) OVER (PARTITION BY e.key_id ORDER BY e.row)),
        e.server_tools, e.alone
      FROM ended e LEFT JOIN keys k ON k.id = e.key_id WHERE NOT e.was
      RETURNING id
    ), charged AS (
      UPDATE keys k SET tokens_used = sluice_sum(k.tokens_used, s.tokens), tokens_held = greatest(k.tokens_held - s.held, 0)::bigint,
        last_used_at = greatest(k.last_used_at, s.started_at)
      FROM (SELECT key_id, sum(tokens) AS tokens, sum(held) AS held, max(started_at) AS started_at FROM ended GROUP BY key_id) AS s
      WHERE k.id = s.key_id
      RETURNING k.id
    )
    SELECT e.key_id, e.budgets, e.tokens, e.cost_micro_usd, e.held, e.held_micro_usd, e.counted
    FROM ended e
  LOOP
    v_gone := v_gone + 1;
    IF v.counted AND v.tokens > 0 THEN
      PERFORM sluice_count(v.key_id, sluice_now() / 1000, 0, v.tokens);
    END IF;
    IF v.budgets IS NOT NULL THEN
      FOR v_budget IN SELECT json_array_elements_text(v.budgets::json) LOOP
        b_ids := b_ids || v_budget;
        b_tokens := b_tokens || v.tokens;
        b_cost := b_cost || v.cost_micro_usd;
        b_held := b_held || v.held;
        b_held_cost := b_held_cost || v.held_micro_usd;
      END LOOP;
    END IF;
  END LOOP;
  IF cardinality(b_ids) > 0 THEN
    PERFORM sluice_charge(b_ids, b_tokens, b_cost, b_held, b_held_cost);
  END IF;
  -- Another may have ended some of them while this waited for the same rows.
  IF v_gone < cardinality(p_ids) THEN
    SELECT array_agg(id) INTO v_late FROM exchanges WHERE id = ANY (p_ids) AND alone;
  END IF;
  IF v_late IS NOT NULL THEN
    PERFORM sluice_correct(v_late, p_ended);
  END IF;
END
$$;
