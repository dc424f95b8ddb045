-- Most turns by two statements: where no request is in the way of another, what each statement of a function costs to begin is most of
-- what a turn costs. All else is decided request by request, by the function as it was.
ALTER FUNCTION sluice_carry RENAME TO sluice_carry_each;--> statement-breakpoint

-- As sluice_carry_each, to which it leaves what is not plain: keys with limits, budgets, what was asked before, what leaves, what ends
-- that its node does not know, and turns in which nothing begins. Else all that ends is written, and what begins where all of it is
-- granted; where not, one by one. An exchange that was granted once more after its end is refused by its id: its node writes each
-- part of the turn by itself then.
CREATE FUNCTION sluice_carry(p_node text, p_keys text[], p_budgets text[], p_unknown text[], p_ended_ids text[], p_ended text,
  p_left text[], p_refunded text[], p_ids text[], p_asks text, p_again boolean, p_entering text[], p_rpm bigint, p_tpm bigint,
  p_concurrency bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_set text;
  v_waited bigint; v_plain boolean; v_late text[];
BEGIN
  IF p_again OR cardinality(p_budgets || p_unknown || p_left || p_refunded || p_entering) > 0 OR cardinality(p_ids) = 0 THEN
    RETURN sluice_carry_each(p_node, p_keys, p_budgets, p_unknown, p_ended_ids, p_ended, p_left, p_refunded, p_ids, p_asks, p_again,
      p_entering, p_rpm, p_tpm, p_concurrency);
  END IF;
  v_set := set_config('lock_timeout', '4s', true);
  -- Rows that are locked are read by a statement that begins then.
  SELECT (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000)::bigint,
    bool_and(greatest(coalesce(k.rpm, p_rpm), coalesce(k.tpm, p_tpm), coalesce(k.concurrency, p_concurrency), 0) = 0)
    INTO v_waited, v_plain
  FROM (SELECT k.rpm, k.tpm, k.concurrency FROM keys k WHERE k.id = ANY (p_keys) ORDER BY k.id FOR UPDATE) AS k;
  IF v_plain THEN
    WITH asks AS MATERIALIZED (
      SELECT x.* FROM json_to_recordset(p_asks::json) AS x (id text, key_id text, seen bigint, model text, wire text, stream boolean,
        started_at bigint, input_estimate bigint, reserved bigint, reserved_micro_usd bigint, budgets text, address text, tag text,
        pictures text)
    ), gone AS (DELETE FROM reservations WHERE id = ANY (p_ended_ids) RETURNING *),
    ended AS MATERIALIZED (
      SELECT g.row, g.id, g.key_id, g.model, g.wire, g.stream, g.started_at, g.input_estimate, g.reserved, g.address, g.tag,
        g.held, x.ended_at, x.outcome, x.status, x.error_code, x.provider, x.account, x.upstream_model, x.provider_wire,
        x.attempts, x.first_byte_ms, x.total_ms, x.input, x.cache_read, x.cache_write, x.output, x.reasoning, x.estimated,
        x.fees_micro_usd, x.raw_usage, x.trail, x.dropped, x.server_tools, x.alone, x.cost_micro_usd, x.tokens
      FROM gone g JOIN json_to_recordset(p_ended::json) AS x (id text, ended_at bigint, outcome text, status bigint, error_code text,
        provider text, account text, upstream_model text, provider_wire text, attempts bigint, first_byte_ms bigint,
        total_ms bigint, input bigint, cache_read bigint, cache_write bigint, output bigint, reasoning bigint, estimated boolean,
        cost_micro_usd bigint, fees_micro_usd bigint, raw_usage text, trail text, dropped text, server_tools text, alone boolean,
        tokens bigint) ON x.id = g.id
    ), turned AS MATERIALIZED (
      SELECT d.key_id, k.tokens_total - k.tokens_used AS left, sluice_sum(k.tokens_used, d.used) AS used,
        greatest(k.tokens_held - d.freed, 0)::bigint AS held, d.wished, greatest(k.last_used_at, d.last) AS last,
        d.wishes = 0 OR (k.revoked_at IS NULL AND k.expires_at > sluice_now() AND k.version <= d.seen
          AND k.tokens_total > sluice_sum(k.tokens_used, d.used)
          AND k.tokens_total - sluice_sum(k.tokens_used, d.used) >= greatest(k.tokens_held - d.freed, 0) + d.wished) IS TRUE AS fits
      FROM (
        SELECT t.key_id, sum(t.used) AS used, sum(t.freed) AS freed, coalesce(sum(t.wished), 0)::bigint AS wished,
          count(t.wished) AS wishes, min(t.seen) AS seen, max(t.last) AS last
        FROM (
          SELECT e.key_id, e.tokens AS used, e.held AS freed, NULL::bigint AS wished, NULL::bigint AS seen, e.started_at AS last FROM ended e
          UNION ALL SELECT a.key_id, 0, 0, a.reserved, a.seen, NULL FROM asks a) AS t
        GROUP BY t.key_id) AS d
      LEFT JOIN keys k ON k.id = d.key_id
    ), whole AS MATERIALIZED (
      SELECT bool_and(t.fits) AND EXISTS (SELECT FROM nodes n WHERE n.id = p_node AND n.until > sluice_now()) AS is FROM turned t
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
    ), charged AS (
      UPDATE keys SET tokens_used = t.used, tokens_held = t.held + CASE WHEN w.is THEN t.wished ELSE 0 END, last_used_at = t.last
      FROM turned t, whole w WHERE keys.id = t.key_id
    )
    SELECT w.is, CASE WHEN (SELECT count(*) FROM ended) < cardinality(p_ended_ids) THEN p_ended_ids END
      INTO v_plain, v_late FROM whole w;
    -- Some had ended before, or another has ended them while this waited for the same rows.
    IF v_late IS NOT NULL THEN
      SELECT array_agg(e.id) INTO v_late FROM exchanges e WHERE e.id = ANY (v_late) AND e.alone;
      IF v_late IS NOT NULL THEN
        PERFORM sluice_correct(v_late, p_ended);
      END IF;
    END IF;
    IF v_plain THEN
      RETURN CASE WHEN v_waited >= 2 THEN json_build_object('waited', v_waited)::text END;
    END IF;
    p_ended_ids := '{}';
    p_ended := '[]';
  END IF;
  RETURN sluice_carry_each(p_node, p_keys, '{}', '{}', p_ended_ids, p_ended, '{}', '{}', p_ids, p_asks, false, '{}', p_rpm, p_tpm,
    p_concurrency);
END
$$;--> statement-breakpoint

ALTER FUNCTION sluice_carry SET plan_cache_mode = force_generic_plan;--> statement-breakpoint
ALTER FUNCTION sluice_carry SET enable_seqscan = off;--> statement-breakpoint
ALTER FUNCTION sluice_carry SET jit = off;
