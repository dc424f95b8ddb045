-- The ledger's functions with less work in each: what a group needs is read once, decided in memory and written once. Who is lent
-- nothing waits for nobody: the lease is looked at and not locked, as what a node was granted in the moment that its lease ended
-- is found by whoever takes over from it.

ALTER TABLE "windows" SET (fillfactor = 50);--> statement-breakpoint
INSERT INTO windows (key_id, second, requests, tokens)
SELECT k.id, w.s, w.r, w.t FROM keys k CROSS JOIN LATERAL unnest(k.window_seconds, k.window_requests, k.window_tokens) AS w (s, r, t)
ON CONFLICT DO NOTHING;--> statement-breakpoint
UPDATE keys SET window_seconds = '{}', window_requests = '{}', window_tokens = '{}' WHERE cardinality(window_seconds) > 0;--> statement-breakpoint

-- Counts in a second of a key whose row is locked: an amount counts for 60 to 61 s, never less.
CREATE OR REPLACE FUNCTION sluice_count(p_key text, p_second bigint, p_requests bigint, p_tokens bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO windows AS w (key_id, second, requests, tokens)
  VALUES (p_key, p_second, greatest(p_requests, 0), greatest(p_tokens, 0))
  ON CONFLICT (key_id, second) DO UPDATE SET requests = greatest(w.requests + p_requests, 0),
    tokens = greatest(sluice_sum(w.tokens, p_tokens), 0);
END
$$;--> statement-breakpoint

-- Requests of keys that have limits come in, in their order. The limits are the gateway's, for keys without their own. Tells what is
-- counted, with the last seconds in which anything was; and second by second for the first of a key that is refused for it.
CREATE FUNCTION sluice_come(p_node text, p_ids text[], p_keys text[], p_rpm bigint, p_tpm bigint, p_concurrency bigint)
RETURNS TABLE (at bigint, said text, now bigint, requests bigint, tokens bigint, last_request bigint, last_token bigint,
  seconds bigint[], of_requests bigint[], of_tokens bigint[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_set text;
  v_second bigint;
  v_begins boolean := false;
  k int;
  k_ids text[]; k_rpm bigint[]; k_tpm bigint[]; k_most bigint[]; k_active bigint[]; k_came bigint[];
  k_requests bigint[]; k_tokens bigint[]; k_last_request bigint[]; k_last_token bigint[]; k_told boolean[];
  v_had text[];
  v_ids text[] := '{}'; v_keys text[] := '{}';
BEGIN
  v_set := set_config('synchronous_commit', 'off', true);
  v_set := set_config('lock_timeout', '4s', true);
  IF NOT EXISTS (SELECT FROM nodes n WHERE n.id = p_node AND n.until > sluice_now()) THEN
    at := 0;
    said := 'fenced';
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM 1 FROM keys WHERE id = ANY (p_keys) ORDER BY id FOR UPDATE;
  now := sluice_now();
  v_second := now / 1000;
  -- By a statement of its own: what was counted while this waited is seen.
  SELECT array_agg(k.id), array_agg(coalesce(k.rpm, p_rpm)), array_agg(coalesce(k.tpm, p_tpm)),
    array_agg(coalesce(k.concurrency, p_concurrency)), array_agg(k.in_flight), array_agg(0::bigint),
    array_agg(w.requests), array_agg(w.tokens), array_agg(w.last_request), array_agg(w.last_token), array_agg(false)
    INTO k_ids, k_rpm, k_tpm, k_most, k_active, k_came, k_requests, k_tokens, k_last_request, k_last_token, k_told
  FROM keys k CROSS JOIN LATERAL (
    SELECT coalesce(sum(w.requests), 0)::bigint AS requests, sluice_sum(0, coalesce(sum(w.tokens), 0)) AS tokens,
      max(w.second) FILTER (WHERE w.requests > 0) AS last_request, max(w.second) FILTER (WHERE w.tokens > 0) AS last_token
    FROM windows w WHERE w.key_id = k.id AND w.second >= v_second - 60) AS w
  WHERE k.id = ANY (p_keys);
  SELECT array_agg(e.id) INTO v_had FROM entered e WHERE e.id = ANY (p_ids);

  FOR i IN 1 .. cardinality(p_ids) LOOP
    at := i;
    seconds := NULL; of_requests := NULL; of_tokens := NULL;
    k := array_position(k_ids, p_keys[i]);
    IF k IS NULL THEN
      said := 'dead';
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF p_ids[i] = ANY (v_had) THEN
      said := 'ok';
    ELSIF k_rpm[k] > 0 AND k_requests[k] >= k_rpm[k] OR k_tpm[k] > 0 AND k_tokens[k] >= k_tpm[k] THEN
      said := 'limited';
      IF NOT k_told[k] THEN
        k_told[k] := true;
        SELECT array_agg(w.second ORDER BY w.second), array_agg(w.requests ORDER BY w.second), array_agg(w.tokens ORDER BY w.second)
          INTO seconds, of_requests, of_tokens FROM windows w WHERE w.key_id = p_keys[i] AND w.second >= v_second - 60;
        -- Those before it in this group, too.
        seconds := seconds || v_second;
        of_requests := of_requests || k_came[k];
        of_tokens := of_tokens || 0::bigint;
      END IF;
    ELSIF k_most[k] > 0 AND k_active[k] >= k_most[k] THEN
      said := 'busy';
    ELSE
      said := 'ok';
      v_begins := v_begins OR k_last_request[k] IS DISTINCT FROM v_second;
      k_requests[k] := k_requests[k] + 1;
      k_last_request[k] := v_second;
      k_active[k] := k_active[k] + 1;
      k_came[k] := k_came[k] + 1;
      v_ids := v_ids || p_ids[i];
      v_keys := v_keys || p_keys[i];
    END IF;
    requests := k_requests[k]; tokens := k_tokens[k]; last_request := k_last_request[k]; last_token := k_last_token[k];
    RETURN NEXT;
  END LOOP;

  IF cardinality(v_ids) > 0 THEN
    INSERT INTO entered (id, key_id, node, second) SELECT e.id, e.key_id, p_node, v_second FROM unnest(v_ids, v_keys) AS e (id, key_id);
    UPDATE keys SET in_flight = keys.in_flight + c.n FROM unnest(k_ids, k_came) AS c (id, n) WHERE keys.id = c.id AND c.n > 0;
    INSERT INTO windows AS w (key_id, second, requests, tokens)
    SELECT c.id, v_second, c.n, 0 FROM unnest(k_ids, k_came) AS c (id, n) WHERE c.n > 0
    ON CONFLICT (key_id, second) DO UPDATE SET requests = w.requests + excluded.requests;
    IF v_begins THEN
      DELETE FROM windows w WHERE w.key_id = ANY (k_ids) AND w.second < v_second - 61;
    END IF;
  END IF;
END
$$;--> statement-breakpoint

-- The same, as nodes of the version before ask for it.
CREATE OR REPLACE FUNCTION sluice_enter(p_node text, p_ids text[], p_keys text[], p_rpm bigint, p_tpm bigint, p_concurrency bigint)
RETURNS TABLE (at bigint, said text, now bigint, seconds bigint[], requests bigint[], tokens bigint[], active bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v record;
BEGIN
  FOR v IN SELECT * FROM sluice_come(p_node, p_ids, p_keys, p_rpm, p_tpm, p_concurrency) LOOP
    at := v.at; said := v.said; now := coalesce(v.now, 0);
    SELECT coalesce(array_agg(w.second ORDER BY w.second), '{}'), coalesce(array_agg(w.requests ORDER BY w.second), '{}'),
      coalesce(array_agg(w.tokens ORDER BY w.second), '{}')
      INTO seconds, requests, tokens FROM windows w WHERE v.at > 0 AND w.key_id = p_keys[v.at] AND w.second >= v.now / 1000 - 60;
    active := coalesce((SELECT k.in_flight FROM keys k WHERE v.at > 0 AND k.id = p_keys[v.at]), 0);
    RETURN NEXT;
  END LOOP;
END
$$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION sluice_reserve(p_node text, p_ids text[], p_keys text[], p_budgets text[], p_asks text)
RETURNS TABLE (at bigint, said text, reserved bigint, lefts bigint[], helds bigint[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_set text;
  k_ids text[]; k_left bigint[]; k_held bigint[]; k_version bigint[]; k_alive boolean[];
  b_ids text[]; b_usd boolean[]; b_left bigint[]; b_held bigint[]; b_tokens bigint[]; b_microusd bigint[];
  had_ids text[]; had_reserved bigint[];
  v_granted bigint[] := '{}';
  a record; i int; b int; n int;
  v_need bigint; v_fits boolean;
BEGIN
  v_set := set_config('lock_timeout', '4s', true);
  IF NOT EXISTS (SELECT FROM nodes n WHERE n.id = p_node AND n.until > sluice_now()) THEN
    at := 0;
    said := 'fenced';
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT array_agg(k.id), array_agg(k.tokens_total - k.tokens_used), array_agg(k.tokens_held), array_agg(k.version),
    array_agg(k.revoked_at IS NULL AND k.expires_at > sluice_now())
    INTO k_ids, k_left, k_held, k_version, k_alive
  FROM (SELECT k.id, k.tokens_total, k.tokens_used, k.tokens_held, k.version, k.revoked_at, k.expires_at
    FROM keys k WHERE k.id = ANY (p_keys) ORDER BY k.id FOR UPDATE) AS k;
  IF cardinality(p_budgets) > 0 THEN
    SELECT array_agg(b.id), array_agg(b.unit = 'usd'),
      array_agg(b.amount - CASE b.unit WHEN 'usd' THEN b.used_micro_usd ELSE b.used_tokens END),
      array_agg(CASE b.unit WHEN 'usd' THEN b.held_micro_usd ELSE b.held_tokens END), array_agg(0::bigint), array_agg(0::bigint)
      INTO b_ids, b_usd, b_left, b_held, b_tokens, b_microusd
    FROM (SELECT b.id, b.unit, b.amount, b.used_micro_usd, b.used_tokens, b.held_micro_usd, b.held_tokens
      FROM budgets b WHERE b.id = ANY (p_budgets) ORDER BY b.id FOR UPDATE) AS b WHERE b.amount IS NOT NULL;
  END IF;
  -- After the locks: an attempt of before may have been granted while this one waited.
  SELECT array_agg(r.id), array_agg(r.reserved) INTO had_ids, had_reserved FROM reservations r WHERE r.id = ANY (p_ids);

  FOR a IN SELECT * FROM json_to_recordset(p_asks::json)
    AS x (at bigint, id text, key_id text, seen bigint, counts text[], reserved bigint, reserved_micro_usd bigint, alone bigint[])
  LOOP
    at := a.at; reserved := NULL; lefts := NULL; helds := NULL;
    IF a.id = ANY (had_ids) THEN
      said := 'ok';
      reserved := had_reserved[array_position(had_ids, a.id)];
      RETURN NEXT;
      CONTINUE;
    END IF;
    i := array_position(k_ids, a.key_id);
    IF i IS NULL OR NOT k_alive[i] OR k_version[i] > a.seen THEN
      said := CASE WHEN i IS NULL OR NOT k_alive[i] THEN 'dead' ELSE 'changed' END;
      RETURN NEXT;
      CONTINUE;
    END IF;
    v_fits := k_left[i] > 0 AND (a.reserved <= k_left[i] - k_held[i]
      OR (k_held[i] = 0 AND k_left[i] >= a.alone[1]) IS TRUE);
    n := coalesce(cardinality(a.counts), 0);
    FOR j IN 1 .. n LOOP
      b := array_position(b_ids, a.counts[j]);
      CONTINUE WHEN b IS NULL;
      v_need := CASE WHEN b_usd[b] THEN a.reserved_micro_usd ELSE a.reserved END;
      v_fits := v_fits AND b_left[b] > 0 AND (v_need <= b_left[b] - b_held[b]
        OR (b_held[b] = 0 AND b_left[b] >= a.alone[j + 1]) IS TRUE);
    END LOOP;
    IF NOT v_fits THEN
      said := 'no';
      lefts := ARRAY[k_left[i]];
      helds := ARRAY[k_held[i]];
      FOR j IN 1 .. n LOOP
        b := array_position(b_ids, a.counts[j]);
        lefts := lefts || CASE WHEN b IS NULL THEN NULL ELSE b_left[b] END;
        helds := helds || CASE WHEN b IS NULL THEN NULL ELSE b_held[b] END;
      END LOOP;
      RETURN NEXT;
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
    said := 'ok';
    reserved := a.reserved;
    RETURN NEXT;
  END LOOP;

  IF cardinality(v_granted) > 0 THEN
    INSERT INTO reservations (id, key_id, model, wire, stream, started_at, input_estimate, reserved, reserved_micro_usd,
      held, held_micro_usd, budgets, address, tag, pictures, node)
    SELECT x.id, x.key_id, x.model, x.wire, x.stream, x.started_at, x.input_estimate, x.reserved, x.reserved_micro_usd,
      x.reserved, x.reserved_micro_usd, x.budgets, x.address, x.tag, x.pictures, p_node
    FROM json_to_recordset(p_asks::json) AS x (at bigint, id text, key_id text, model text, wire text, stream boolean,
      started_at bigint, input_estimate bigint, reserved bigint, reserved_micro_usd bigint, budgets text, address text, tag text,
      pictures text)
    WHERE x.at = ANY (v_granted);
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

-- What was spent, and let go of, by budgets; and the marks that were passed by it.
CREATE OR REPLACE FUNCTION sluice_charge(p_ids text[], p_tokens bigint[], p_micro_usd bigint[], p_held bigint[],
  p_held_micro_usd bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_passed bigint;
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
  ), noted AS (
    INSERT INTO budget_marks (at, budget, since, mark, unit, amount, used)
    SELECT sluice_now(), id, since, mark, unit, amount, used FROM passed ORDER BY id, mark
    ON CONFLICT (budget, since, mark) DO NOTHING
  )
  SELECT count(*) INTO v_passed FROM passed;
  IF v_passed > 0 THEN
    UPDATE budgets b SET marked = m.mark FROM (
      SELECT k.budget, k.since, max(k.mark) AS mark FROM budget_marks k WHERE k.budget = ANY (p_ids) GROUP BY k.budget, k.since) AS m
    WHERE b.id = m.budget AND b.since = m.since AND b.marked < m.mark
      AND (CASE b.unit WHEN 'usd' THEN b.used_micro_usd ELSE b.used_tokens END)::numeric * 100 >= b.amount::numeric * m.mark;
  END IF;
END
$$;--> statement-breakpoint

-- Ends exchanges, each once: what is not among the reservations any more is ended, and writes nothing. `p_ended`: rows as they are
-- written, with `tokens` their sums, and `counted`: they count in the key's window. Requests leave with them; those that are
-- refunded count against no limit. `p_keys`, `p_budgets`: to be locked, too.
CREATE FUNCTION sluice_end(p_ids text[], p_ended text, p_left text[], p_refunded text[], p_keys text[], p_budgets text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_set text;
  v_second bigint;
  v_found bigint; v_gone bigint;
  v_keys text[]; v_more text[]; v_budgets text[]; v_was text[]; v_late text[];
  b_ids text[]; b_tokens bigint[]; b_cost bigint[]; b_held bigint[]; b_held_cost bigint[];
BEGIN
  v_set := set_config('synchronous_commit', 'off', true);
  v_set := set_config('lock_timeout', '4s', true);
  SELECT array_agg(r.key_id), array_agg(r.budgets) FILTER (WHERE r.budgets IS NOT NULL), count(*) INTO v_keys, v_budgets, v_found
  FROM reservations r WHERE r.id = ANY (p_ids);
  IF cardinality(p_left) + cardinality(p_refunded) > 0 THEN
    SELECT array_agg(e.key_id) INTO v_more FROM entered e WHERE e.id = ANY (p_left || p_refunded);
    v_keys := v_keys || v_more;
  END IF;
  IF v_found < cardinality(p_ids) THEN
    -- Some have ended before. Their budgets are told by their node alone.
    SELECT array_agg(e.id), array_agg(e.key_id) INTO v_late, v_more FROM exchanges e WHERE e.id = ANY (p_ids) AND e.alone;
    IF v_late IS NOT NULL THEN
      v_keys := v_keys || v_more;
      SELECT v_budgets || array_agg(x.budgets) INTO v_budgets
      FROM json_to_recordset(p_ended::json) AS x (id text, budgets text) WHERE x.budgets IS NOT NULL;
    END IF;
  END IF;
  IF v_keys IS NULL THEN
    RETURN;
  END IF;
  PERFORM 1 FROM keys WHERE id = ANY (v_keys || p_keys) ORDER BY id FOR UPDATE;
  IF v_budgets IS NOT NULL THEN
    SELECT array_agg(b.id) INTO v_budgets
    FROM (SELECT DISTINCT b FROM unnest(v_budgets) AS b) AS each CROSS JOIN LATERAL json_array_elements_text(each.b::json) AS b (id);
  END IF;
  v_budgets := v_budgets || p_budgets;
  IF cardinality(v_budgets) > 0 THEN
    PERFORM 1 FROM budgets WHERE id = ANY (v_budgets) ORDER BY id FOR UPDATE;
  END IF;
  IF cardinality(p_refunded) > 0 THEN
    PERFORM sluice_leave('{}', p_refunded);
  END IF;
  v_second := sluice_now() / 1000;
  WITH gone AS (DELETE FROM reservations WHERE id = ANY (p_ids) RETURNING *),
  out AS (DELETE FROM entered WHERE id = ANY (p_left) RETURNING key_id),
  ended AS MATERIALIZED (
    SELECT g.row, g.id, g.key_id, g.model, g.wire, g.stream, g.started_at, g.input_estimate, g.reserved, g.address, g.tag,
      g.budgets, g.held, g.held_micro_usd, x.ended_at, x.outcome, x.status, x.error_code, x.provider, x.account,
      x.upstream_model, x.provider_wire, x.attempts, x.first_byte_ms, x.total_ms, x.input, x.cache_read, x.cache_write,
      x.output, x.reasoning, x.estimated, x.fees_micro_usd, x.raw_usage, x.trail, x.dropped, x.server_tools, x.alone,
      x.counted, w.id IS NOT NULL AS was, CASE WHEN w.id IS NULL THEN x.tokens ELSE 0 END AS tokens,
      CASE WHEN w.id IS NULL THEN x.cost_micro_usd ELSE 0 END AS cost_micro_usd
    -- Granted once more by an attempt that came after its end: it only lets go.
    FROM gone g LEFT JOIN LATERAL (SELECT e.id FROM exchanges e WHERE e.id = g.id LIMIT 1) AS w ON true
    JOIN json_to_recordset(p_ended::json) AS x (id text, ended_at bigint,
      outcome text, status bigint, error_code text, provider text, account text, upstream_model text, provider_wire text,
      attempts bigint, first_byte_ms bigint, total_ms bigint, input bigint, cache_read bigint, cache_write bigint, output bigint,
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
  ), counted AS (
    INSERT INTO windows AS w (key_id, second, requests, tokens)
    SELECT e.key_id, v_second, 0, sluice_sum(0, sum(e.tokens)) FROM ended e WHERE e.counted AND e.tokens > 0 GROUP BY e.key_id
    ON CONFLICT (key_id, second) DO UPDATE SET tokens = sluice_sum(w.tokens, excluded.tokens)
  ), charged AS (
    UPDATE keys k SET tokens_used = sluice_sum(k.tokens_used, s.tokens), tokens_held = greatest(k.tokens_held - s.held, 0)::bigint,
      last_used_at = greatest(k.last_used_at, s.started_at), in_flight = greatest(k.in_flight - s.gone, 0)
    FROM (
      SELECT key_id, sum(tokens) AS tokens, sum(held) AS held, max(started_at) AS started_at, sum(gone) AS gone FROM (
        SELECT e.key_id, e.tokens, e.held, e.started_at, 0 AS gone FROM ended e
        UNION ALL SELECT o.key_id, 0, 0, NULL, 1 FROM out o) AS each
      GROUP BY key_id) AS s
    WHERE k.id = s.key_id
  )
  SELECT (SELECT count(*) FROM gone), (SELECT array_agg(e.id) FROM ended e WHERE e.was), array_agg(b.id), array_agg(b.tokens),
    array_agg(b.cost), array_agg(b.held), array_agg(b.held_cost)
    INTO v_gone, v_was, b_ids, b_tokens, b_cost, b_held, b_held_cost
  FROM (
    SELECT b.id, sluice_sum(0, sum(e.tokens)) AS tokens, sluice_sum(0, sum(e.cost_micro_usd)) AS cost,
      sluice_sum(0, sum(e.held)) AS held, sluice_sum(0, sum(e.held_micro_usd)) AS held_cost
    FROM ended e CROSS JOIN LATERAL json_array_elements_text(e.budgets::json) AS b (id) WHERE e.budgets IS NOT NULL
    GROUP BY b.id) AS b;
  IF b_ids IS NOT NULL THEN
    PERFORM sluice_charge(b_ids, b_tokens, b_cost, b_held, b_held_cost);
  END IF;
  -- Another may have ended some of them while this waited for the same rows.
  IF v_gone < cardinality(p_ids) OR v_was IS NOT NULL THEN
    SELECT array_agg(e.id) INTO v_late FROM exchanges e WHERE e.id = ANY (p_ids) AND e.alone;
    IF v_late IS NOT NULL THEN
      PERFORM sluice_correct(v_late, p_ended);
    END IF;
  END IF;
END
$$;--> statement-breakpoint

-- The same, as nodes of the version before ask for it.
CREATE OR REPLACE FUNCTION sluice_settle(p_ids text[], p_ended text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sluice_end(p_ids, p_ended, '{}', '{}', '{}', '{}');
END
$$;--> statement-breakpoint

-- What ends, and then what begins with the room that it makes, by one transaction: a key that many nodes wait for is locked once. It
-- is as durable as what begins.
CREATE FUNCTION sluice_turn(p_ended_ids text[], p_ended text, p_left text[], p_refunded text[], p_node text, p_ids text[],
  p_keys text[], p_budgets text[], p_asks text)
RETURNS TABLE (at bigint, said text, reserved bigint, lefts bigint[], helds bigint[]) LANGUAGE plpgsql AS $$
DECLARE
  v_set text;
  v_commit text := current_setting('synchronous_commit');
BEGIN
  PERFORM sluice_end(p_ended_ids, p_ended, p_left, p_refunded, p_keys, p_budgets);
  v_set := set_config('synchronous_commit', v_commit, true);
  RETURN QUERY SELECT * FROM sluice_reserve(p_node, p_ids, p_keys, p_budgets, p_asks);
END
$$;--> statement-breakpoint

-- A plan is made once in a connection, when a table may have been empty or never looked at, and holds for years: by indexes, whatever
-- the planner knew then.
DO $$
DECLARE
  v regprocedure;
BEGIN
  FOR v IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
    AND p.proname IN ('sluice_come', 'sluice_reserve', 'sluice_end', 'sluice_turn', 'sluice_leave', 'sluice_narrow', 'sluice_progress')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', v);
    EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', v);
    EXECUTE format('ALTER FUNCTION %s SET jit = off', v);
  END LOOP;
END
$$;
