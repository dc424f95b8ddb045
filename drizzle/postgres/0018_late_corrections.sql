-- A node that was counted as gone says how its exchanges ended after all: its figures replace the estimate, once. Keys and budgets
-- are locked by then.
CREATE OR REPLACE FUNCTION sluice_correct(p_ids text[], p_ended text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v record;
  v_was exchanges;
  v_tokens bigint;
  v_ids text[];
BEGIN
  -- Held by whoever writes sums. Who waits for it here has locked the rows of keys and budgets, for which all nodes wait: it is undone
  -- and said again.
  IF NOT pg_try_advisory_xact_lock(7588219045) THEN
    RAISE EXCEPTION 'sums are being written' USING ERRCODE = 'lock_not_available';
  END IF;
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
$$;
