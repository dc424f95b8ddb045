-- As sluice_carry, also for keys with limits: what comes in and what leaves, and their windows. By a function of its own, as each part
-- of a statement costs at its beginning whether there is anything for it or not. Budgets, refunds, and turns in which nothing begins
-- are left to sluice_carry_each.
CREATE FUNCTION sluice_carry_limited(p_node text, p_keys text[], p_budgets text[], p_unknown text[], p_ended_ids text[],
  p_ended text, p_left text[], p_refunded text[], p_ids text[], p_asks text, p_again boolean, p_entering text[], p_rpm bigint, p_tpm bigint,
  p_concurrency bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_set text;
  v_waited bigint; v_now bigint;
  v_whole boolean; v_begins boolean; v_windows json; v_late text[];
BEGIN
  IF p_again OR cardinality(p_budgets || p_unknown || p_refunded) > 0 OR cardinality(p_ids) = 0 THEN
    RETURN sluice_carry_each(p_node, p_keys, p_budgets, p_unknown, p_ended_ids, p_ended, p_left, p_refunded, p_ids, p_asks, p_again,
      p_entering, p_rpm, p_tpm, p_concurrency);
  END IF;
  v_set := set_config('lock_timeout', '4s', true);
  -- Rows that are locked are read by a statement that begins then.
  SELECT (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000)::bigint, sluice_now() INTO v_waited, v_now
  FROM (SELECT k.id FROM keys k WHERE k.id = ANY (p_keys) ORDER BY k.id FOR UPDATE) AS k HAVING count(*) >= 0;
  WITH asks AS MATERIALIZED (
    SELECT x.* FROM json_to_recordset(p_asks::json) AS x (id text, key_id text, seen bigint, model text, wire text, stream boolean,
      started_at bigint, input_estimate bigint, reserved bigint, reserved_micro_usd bigint, budgets text, address text, tag text,
      pictures text, enters boolean)
  ), gone AS (DELETE FROM reservations WHERE id = ANY (p_ended_ids) RETURNING *),
  ended AS MATERIALIZED (
    SELECT g.row, g.id, g.key_id, g.model, g.wire, g.stream, g.started_at, g.input_estimate, g.reserved, g.address, g.tag,
      g.held, x.ended_at, x.outcome, x.status, x.error_code, x.provider, x.account, x.upstream_model, x.provider_wire,
      x.attempts, x.first_byte_ms, x.total_ms, x.input, x.cache_read, x.cache_write, x.output, x.reasoning, x.estimated,
      x.fees_micro_usd, x.raw_usage, x.trail, x.dropped, x.server_tools, x.alone, x.cost_micro_usd, x.tokens,
      CASE WHEN x.counted THEN x.tokens ELSE 0 END AS counted
    FROM gone g JOIN json_to_recordset(p_ended::json) AS x (id text, ended_at bigint, outcome text, status bigint, error_code text,
      provider text, account text, upstream_model text, provider_wire text, attempts bigint, first_byte_ms bigint,
      total_ms bigint, input bigint, cache_read bigint, cache_write bigint, output bigint, reasoning bigint, estimated boolean,
      cost_micro_usd bigint, fees_micro_usd bigint, raw_usage text, trail text, dropped text, server_tools text, alone boolean,
      tokens bigint, counted boolean) ON x.id = g.id
  ), away AS (DELETE FROM entered WHERE id = ANY (p_left) RETURNING key_id),
  turned AS MATERIALIZED (
    SELECT d.key_id, k.tokens_total - k.tokens_used AS left, sluice_sum(k.tokens_used, d.used) AS used,
      greatest(k.tokens_held - d.freed, 0)::bigint AS held, d.wished, greatest(k.last_used_at, d.last) AS last,
      greatest(k.in_flight - d.left, 0) AS active, d.comes, d.counted, w.requests, sluice_sum(w.tokens, d.counted) AS tokens,
      w.last_request, CASE WHEN d.counted > 0 THEN v_now / 1000 ELSE w.last_token END AS last_token,
      d.wishes = 0 OR (k.revoked_at IS NULL AND k.expires_at > v_now AND k.version <= d.seen
        AND k.tokens_total > sluice_sum(k.tokens_used, d.used)
        AND k.tokens_total - sluice_sum(k.tokens_used, d.used) >= greatest(k.tokens_held - d.freed, 0) + d.wished
        AND (d.comes = 0 OR (coalesce(k.rpm, p_rpm) <= 0 OR w.requests + d.comes <= coalesce(k.rpm, p_rpm))
          AND (coalesce(k.tpm, p_tpm) <= 0 OR sluice_sum(w.tokens, d.counted) < coalesce(k.tpm, p_tpm))
          AND (coalesce(k.concurrency, p_concurrency) <= 0
            OR greatest(k.in_flight - d.left, 0) + d.comes <= coalesce(k.concurrency, p_concurrency)))) IS TRUE AS fits
    FROM (
      SELECT t.key_id, sum(t.used) AS used, sum(t.freed) AS freed, coalesce(sum(t.wished), 0)::bigint AS wished,
        count(t.wished) AS wishes, min(t.seen) AS seen, max(t.last) AS last, sluice_sum(0, sum(t.counted)) AS counted,
        count(*) FILTER (WHERE t.comes) AS comes, count(*) FILTER (WHERE t.leaves) AS left
      FROM (
        SELECT e.key_id, e.tokens AS used, e.held AS freed, NULL::bigint AS wished, NULL::bigint AS seen, e.started_at AS last,
          e.counted, false AS comes, false AS leaves FROM ended e
        UNION ALL SELECT a.key_id, 0, 0, a.reserved, a.seen, NULL, 0, a.enters IS TRUE, false FROM asks a
        UNION ALL SELECT o.key_id, 0, 0, NULL, NULL, NULL, 0, false, true FROM away o) AS t
      GROUP BY t.key_id) AS d
    LEFT JOIN keys k ON k.id = d.key_id
    LEFT JOIN LATERAL (
      SELECT coalesce(sum(w.requests), 0)::bigint AS requests, sluice_sum(0, coalesce(sum(w.tokens), 0)) AS tokens,
        max(w.second) FILTER (WHERE w.requests > 0) AS last_request, max(w.second) FILTER (WHERE w.tokens > 0) AS last_token
      FROM windows w WHERE d.comes > 0 AND w.key_id = d.key_id AND w.second >= v_now / 1000 - 60) AS w ON true
  ), whole AS MATERIALIZED (
    SELECT bool_and(t.fits) AND EXISTS (SELECT FROM nodes n WHERE n.id = p_node AND n.until > v_now) AS is FROM turned t
  ), written AS (
    INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, address, tag, ended_at,
      outcome, status, error_code, provider, account, upstream_model, provider_wire, attempts, first_byte_ms, total_ms, input,
      cache_read, cache_write, output, reasoning, estimated, cost_micro_usd, fees_micro_usd, raw_usage, trail, dropped,
      left_after, server_tools, alone)
    SELECT e.row, e.id, e.key_id, e.model, e.wire, e.stream, e.started_at, e.input_estimate, e.reserved, e.address, e.tag,
      e.ended_at, e.outcome, e.status, e.error_code, e.provider, e.account, e.upstream_model, e.provider_wire, e.attempts,
      e.first_byte_ms, e.total_ms, e.input, e.cache_read, e.cache_write, e.output, e.reasoning, e.estimated,
      e.cost_micro_usd, e.fees_micro_usd, e.raw_usage, e.trail, e.dropped,
      sluice_sum(t.left, -sum(e.tokens) OVER (PARTITION BY e.key_id ORDER BY e.row)), e.server_tools, e.alone
    FROM ended e JOIN turned t USING (key_id)
  ), begun AS (
    INSERT INTO reservations (id, key_id, model, wire, stream, started_at, input_estimate, reserved, reserved_micro_usd,
      held, held_micro_usd, budgets, address, tag, pictures, node)
    SELECT x.id, x.key_id, x.model, x.wire, x.stream, x.started_at, x.input_estimate, x.reserved, x.reserved_micro_usd,
      x.reserved, x.reserved_micro_usd, x.budgets, x.address, x.tag, x.pictures, p_node
    FROM asks x WHERE (SELECT w.is FROM whole w)
  ), came AS (
    INSERT INTO entered (id, key_id, node, second)
    SELECT x.id, x.key_id, p_node, v_now / 1000 FROM asks x WHERE x.enters AND (SELECT w.is FROM whole w)
  ), noted AS (
    INSERT INTO windows AS o (key_id, second, requests, tokens)
    SELECT t.key_id, v_now / 1000, CASE WHEN w.is THEN t.comes ELSE 0 END, t.counted FROM turned t, whole w
    WHERE t.counted > 0 OR (w.is AND t.comes > 0)
    ON CONFLICT (key_id, second) DO UPDATE SET requests = o.requests + excluded.requests, tokens = sluice_sum(o.tokens, excluded.tokens)
  ), charged AS (
    UPDATE keys SET tokens_used = t.used, tokens_held = t.held + CASE WHEN w.is THEN t.wished ELSE 0 END, last_used_at = t.last,
      in_flight = t.active + CASE WHEN w.is THEN t.comes ELSE 0 END
    FROM turned t, whole w WHERE keys.id = t.key_id
  )
  SELECT w.is, s.begins, s.windows, CASE WHEN (SELECT count(*) FROM ended) < cardinality(p_ended_ids) THEN p_ended_ids END
    INTO v_whole, v_begins, v_windows, v_late
  FROM whole w, (
    SELECT bool_or(t.last_request IS DISTINCT FROM v_now / 1000) AS begins,
      json_agg(json_build_array(t.key_id, t.requests, t.tokens, t.last_request, t.last_token) ORDER BY t.key_id) AS windows
    FROM turned t WHERE t.comes > 0) AS s;
  -- Some had ended before, or another has ended them while this waited for the same rows.
  IF v_late IS NOT NULL THEN
    SELECT array_agg(e.id) INTO v_late FROM exchanges e WHERE e.id = ANY (v_late) AND e.alone;
    IF v_late IS NOT NULL THEN
      PERFORM sluice_correct(v_late, p_ended);
    END IF;
  END IF;
  IF NOT v_whole THEN
    RETURN sluice_carry_each(p_node, p_keys, '{}', '{}', '{}', '[]', '{}', '{}', p_ids, p_asks, false, p_entering, p_rpm, p_tpm,
      p_concurrency);
  END IF;
  IF v_begins THEN
    DELETE FROM windows w WHERE w.key_id = ANY (p_entering) AND w.second < v_now / 1000 - 61;
  END IF;
  IF v_windows IS NULL AND v_waited < 2 THEN
    RETURN NULL;
  END IF;
  RETURN json_build_object('waited', v_waited, 'now', v_now, 'windows', v_windows)::text;
END
$$;--> statement-breakpoint

ALTER FUNCTION sluice_carry_limited SET plan_cache_mode = force_generic_plan;--> statement-breakpoint
ALTER FUNCTION sluice_carry_limited SET enable_seqscan = off;--> statement-breakpoint
ALTER FUNCTION sluice_carry_limited SET jit = off;
