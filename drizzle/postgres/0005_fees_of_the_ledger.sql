-- Functions of the ledger that fees concern: what is asked for by the piece stands in the reservation, and is in the sums.

-- Sets aside what requests ask for, in their order, each where it fits everything that it counts against; where it does not, tells
-- how much is left and held. `p_asks`: rows of what is written, with `at` their places from 1, `seen` the version of the key that
-- was authenticated, `counts` their budgets, and `alone`: with nothing held, more than is left may be asked for, while no less is
-- left than this in each.
CREATE OR REPLACE FUNCTION sluice_reserve(p_node text, p_ids text[], p_keys text[], p_budgets text[], p_asks text)
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
      held, held_micro_usd, budgets, address, tag, pictures, node)
    SELECT x.id, x.key_id, x.model, x.wire, x.stream, x.started_at, x.input_estimate, x.reserved, x.reserved_micro_usd,
      x.reserved, x.reserved_micro_usd, x.budgets, x.address, x.tag, x.pictures, p_node
    FROM json_to_recordset(p_asks::json) AS x (at bigint, id text, key_id text, model text, wire text, stream boolean,
      started_at bigint, input_estimate bigint, reserved bigint, reserved_micro_usd bigint, budgets text, address text, tag text,
      pictures text)
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

-- What exchanges that run have come to so far.
CREATE OR REPLACE FUNCTION sluice_progress(p_node text, p_rows text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM set_config('lock_timeout', '4s', true);
  PERFORM 1 FROM reservations r WHERE r.node = p_node
    AND r.id IN (SELECT x.id FROM json_to_recordset(p_rows::json) AS x (id text)) ORDER BY r.id FOR UPDATE;
  UPDATE reservations r SET input = x.input, cache_read = x.cache_read, cache_write = x.cache_write, output = x.output,
    reasoning = x.reasoning, server_tools = x.server_tools
  FROM json_to_recordset(p_rows::json) AS x (id text, input bigint, cache_read bigint, cache_write bigint, output bigint,
    reasoning bigint, server_tools text)
  WHERE r.id = x.id AND r.node = p_node;
END
$$;--> statement-breakpoint

-- Takes the figures of an exchange out of the sums again, where they are in: by its hour and its day, as the node has them.
CREATE OR REPLACE FUNCTION sluice_unsum(e exchanges, p_hour bigint, p_day bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_errors bigint := CASE WHEN e.outcome IN ('refused', 'failed') THEN 1 ELSE 0 END;
BEGIN
  UPDATE usage_hours SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd,
    fees_micro_usd = fees_micro_usd - coalesce(e.fees_micro_usd, 0)
  WHERE hour = p_hour AND key_id = e.key_id AND model = e.model;
  UPDATE usage_days SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd,
    fees_micro_usd = fees_micro_usd - coalesce(e.fees_micro_usd, 0)
  WHERE day = p_day AND key_id = e.key_id AND model = e.model;
  UPDATE usage_models SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd,
    fees_micro_usd = fees_micro_usd - coalesce(e.fees_micro_usd, 0)
  WHERE hour = p_hour AND model = e.model;
  UPDATE usage_accounts SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd,
    fees_micro_usd = fees_micro_usd - coalesce(e.fees_micro_usd, 0)
  WHERE hour = p_hour AND provider = coalesce(e.provider, '') AND account = coalesce(e.account, '');
  UPDATE usage_tags SET requests = requests - 1, errors = errors - v_errors, input = input - coalesce(e.input, 0),
    cache_read = cache_read - coalesce(e.cache_read, 0), cache_write = cache_write - coalesce(e.cache_write, 0),
    output = output - coalesce(e.output, 0), reasoning = reasoning - coalesce(e.reasoning, 0),
    cost_micro_usd = cost_micro_usd - e.cost_micro_usd,
    fees_micro_usd = fees_micro_usd - coalesce(e.fees_micro_usd, 0)
  WHERE day = p_day AND key_id = e.key_id AND e.tag IS NOT NULL AND tag = CASE WHEN EXISTS (
    SELECT FROM usage_tags t WHERE t.day = p_day AND t.key_id = e.key_id AND t.tag = e.tag) THEN e.tag ELSE '(other)' END;
END
$$;
