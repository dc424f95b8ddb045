-- One turn of a node by one statement, with all that is read and written in it once: what ends, who leaves, and then what begins with
-- the room that this makes. `p_keys`, `p_budgets`: all that are concerned, as far as the node knows; `p_unknown`: what ends or leaves
-- of which it does not. `p_ended`: rows as they are written, with `tokens` their sums, and `counted`: they count in the windows of
-- their key. `p_asks`: as for sluice_reserve; with `enters` a request comes in with what is set aside for it, where its key's limits
-- and all else let it. `p_entering`: the keys of those. `p_again`: some were asked for before. Limits are the gateway's, for keys
-- without their own. Tells, as JSON, what is not granted as it was asked for, and of keys by which requests came in what their
-- windows had before; and for how long it waited for others, in milliseconds.
CREATE FUNCTION sluice_carry(p_node text, p_keys text[], p_budgets text[], p_unknown text[], p_ended_ids text[], p_ended text,
  p_left text[], p_refunded text[], p_ids text[], p_asks text, p_again boolean, p_entering text[], p_rpm bigint, p_tpm bigint,
  p_concurrency bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_set text;
  v_from bigint; v_now bigint; v_second bigint; v_fenced boolean := false;
  v_more text[]; v_texts text[];
  v_asks boolean := cardinality(p_ids) > 0;
  v_told json[]; v_windows json[];
  k_ids text[]; k_total bigint[]; k_used bigint[]; k_held bigint[]; k_version bigint[]; k_alive boolean[]; k_active bigint[];
  k_rpm bigint[]; k_tpm bigint[]; k_most bigint[]; k_last bigint[]; k_came bigint[]; k_counted bigint[];
  k_requests bigint[]; k_tokens bigint[]; k_last_request bigint[]; k_last_token bigint[]; k_told boolean[];
  e_keys text[]; e_budgets text[]; e_tokens bigint[]; e_cost bigint[]; e_held bigint[]; e_held_cost bigint[]; e_last bigint[];
  e_counted bigint[]; e_gone bigint; e_was bigint;
  c_ids text[]; c_tokens bigint[]; c_cost bigint[]; c_held bigint[]; c_held_cost bigint[];
  o_keys text[]; o_seconds bigint[];
  b_ids text[]; b_usd boolean[]; b_left bigint[]; b_held bigint[]; b_tokens bigint[]; b_microusd bigint[];
  had_ids text[]; had_reserved bigint[]; had_in text[];
  v_granted bigint[] := '{}'; v_in text[] := '{}'; v_in_keys text[] := '{}';
  a record; k int; b int; n int; v_need bigint; v_fits boolean; v_begins boolean := false; v_counts boolean := false; v_comes boolean; v_lefts bigint[]; v_helds bigint[];
BEGIN
  v_set := set_config('lock_timeout', '4s', true);
  IF NOT v_asks THEN
    v_set := set_config('synchronous_commit', 'off', true);
  END IF;
  IF cardinality(p_unknown) > 0 THEN
    SELECT array_agg(f.key_id), array_agg(f.budgets) FILTER (WHERE f.budgets IS NOT NULL) INTO v_more, v_texts FROM (
      SELECT r.key_id, r.budgets FROM reservations r WHERE r.id = ANY (p_unknown)
      UNION ALL SELECT e.key_id, NULL FROM entered e WHERE e.id = ANY (p_unknown)
      UNION ALL SELECT e.key_id, NULL FROM exchanges e WHERE e.id = ANY (p_unknown) AND e.alone) AS f;
    p_keys := p_keys || v_more;
    IF v_texts IS NOT NULL THEN
      SELECT p_budgets || array_agg(DISTINCT b.id) INTO p_budgets
      FROM unnest(v_texts) AS t (text) CROSS JOIN LATERAL json_array_elements_text(t.text::json) AS b (id);
    END IF;
  END IF;

  v_from := sluice_now();
  SELECT array_agg(k.id), array_agg(k.tokens_total), array_agg(k.tokens_used), array_agg(k.tokens_held), array_agg(k.version),
    array_agg(k.revoked_at IS NULL AND k.expires_at > sluice_now()), array_agg(k.in_flight), array_agg(coalesce(k.rpm, p_rpm)),
    array_agg(coalesce(k.tpm, p_tpm)), array_agg(coalesce(k.concurrency, p_concurrency)), array_agg(k.last_used_at),
    array_agg(0::bigint), array_agg(0::bigint)
    INTO k_ids, k_total, k_used, k_held, k_version, k_alive, k_active, k_rpm, k_tpm, k_most, k_last, k_came, k_counted
  FROM (SELECT k.id, k.tokens_total, k.tokens_used, k.tokens_held, k.version, k.revoked_at, k.expires_at, k.in_flight, k.rpm, k.tpm,
    k.concurrency, k.last_used_at FROM keys k WHERE k.id = ANY (p_keys) ORDER BY k.id FOR UPDATE) AS k;
  IF cardinality(p_budgets) > 0 THEN
    PERFORM 1 FROM budgets WHERE id = ANY (p_budgets) ORDER BY id FOR UPDATE;
  END IF;
  v_now := sluice_now();
  v_from := v_now - v_from;
  v_second := v_now / 1000;

  IF cardinality(p_ended_ids) > 0 THEN
    WITH gone AS (DELETE FROM reservations WHERE id = ANY (p_ended_ids) RETURNING *),
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
        sluice_sum(k_total[array_position(k_ids, e.key_id)] - k_used[array_position(k_ids, e.key_id)],
          -sum(e.tokens) OVER (PARTITION BY e.key_id ORDER BY e.row)),
        e.server_tools, e.alone
      FROM ended e WHERE NOT e.was
    )
    SELECT array_agg(s.key_id), array_agg(s.budgets), array_agg(s.tokens), array_agg(s.cost), array_agg(s.held),
      array_agg(s.held_cost), array_agg(s.last), array_agg(s.counted), sum(s.gone), sum(s.was)
      INTO e_keys, e_budgets, e_tokens, e_cost, e_held, e_held_cost, e_last, e_counted, e_gone, e_was
    FROM (
      SELECT e.key_id, e.budgets, sluice_sum(0, sum(e.tokens)) AS tokens, sluice_sum(0, sum(e.cost_micro_usd)) AS cost,
        sluice_sum(0, sum(e.held)) AS held, sluice_sum(0, sum(e.held_micro_usd)) AS held_cost, max(e.started_at) AS last,
        sluice_sum(0, coalesce(sum(e.tokens) FILTER (WHERE e.counted), 0)) AS counted, count(*) AS gone,
        count(*) FILTER (WHERE e.was) AS was
      FROM ended e GROUP BY e.key_id, e.budgets) AS s;
    FOR i IN 1 .. coalesce(cardinality(e_keys), 0) LOOP
      k := array_position(k_ids, e_keys[i]);
      IF k IS NOT NULL THEN
        k_used[k] := sluice_sum(k_used[k], e_tokens[i]);
        k_held[k] := greatest(k_held[k] - e_held[i], 0);
        k_last[k] := greatest(k_last[k], e_last[i]);
        k_counted[k] := sluice_sum(k_counted[k], e_counted[i]);
        v_counts := v_counts OR e_counted[i] > 0;
      END IF;
      IF e_budgets[i] IS NOT NULL THEN
        SELECT array_agg(b.id) INTO v_more FROM json_array_elements_text(e_budgets[i]::json) AS b (id);
        n := cardinality(v_more);
        c_ids := c_ids || v_more;
        c_tokens := c_tokens || array_fill(e_tokens[i], ARRAY[n]);
        c_cost := c_cost || array_fill(e_cost[i], ARRAY[n]);
        c_held := c_held || array_fill(e_held[i], ARRAY[n]);
        c_held_cost := c_held_cost || array_fill(e_held_cost[i], ARRAY[n]);
      END IF;
    END LOOP;
    IF c_ids IS NOT NULL THEN
      PERFORM sluice_charge(c_ids, c_tokens, c_cost, c_held, c_held_cost);
    END IF;
  END IF;
  IF cardinality(p_left) + cardinality(p_refunded) > 0 THEN
    WITH gone AS (DELETE FROM entered e WHERE e.id = ANY (p_left || p_refunded) RETURNING e.id, e.key_id, e.second)
    SELECT array_agg(g.key_id), array_agg(CASE WHEN g.id = ANY (p_refunded) THEN g.second END) INTO o_keys, o_seconds FROM gone g;
    FOR i IN 1 .. coalesce(cardinality(o_keys), 0) LOOP
      k := array_position(k_ids, o_keys[i]);
      IF k IS NOT NULL THEN
        k_active[k] := greatest(k_active[k] - 1, 0);
      END IF;
      IF o_seconds[i] IS NOT NULL THEN
        PERFORM sluice_count(o_keys[i], o_seconds[i], -1, 0);
      END IF;
    END LOOP;
  END IF;

  IF v_asks THEN
    v_asks := EXISTS (SELECT FROM nodes n WHERE n.id = p_node AND n.until > sluice_now());
    v_fenced := NOT v_asks;
  END IF;
  IF v_asks THEN
    IF cardinality(p_budgets) > 0 THEN
      SELECT array_agg(b.id), array_agg(b.unit = 'usd'),
        array_agg(b.amount - CASE b.unit WHEN 'usd' THEN b.used_micro_usd ELSE b.used_tokens END),
        array_agg(CASE b.unit WHEN 'usd' THEN b.held_micro_usd ELSE b.held_tokens END), array_agg(0::bigint), array_agg(0::bigint)
        INTO b_ids, b_usd, b_left, b_held, b_tokens, b_microusd
      FROM budgets b WHERE b.id = ANY (p_budgets) AND b.amount IS NOT NULL;
    END IF;
    -- After the locks: an attempt of before may have been granted while this one waited.
    IF p_again THEN
      SELECT array_agg(r.id), array_agg(r.reserved) INTO had_ids, had_reserved FROM reservations r WHERE r.id = ANY (p_ids);
      SELECT array_agg(e.id) INTO had_in FROM entered e WHERE e.id = ANY (p_ids);
    END IF;
    IF cardinality(p_entering) > 0 THEN
      SELECT array_agg(w.requests), array_agg(w.tokens), array_agg(w.last_request), array_agg(w.last_token), array_agg(false)
        INTO k_requests, k_tokens, k_last_request, k_last_token, k_told
      FROM unnest(k_ids) AS k (id) CROSS JOIN LATERAL (
        SELECT coalesce(sum(w.requests), 0)::bigint AS requests, sluice_sum(0, coalesce(sum(w.tokens), 0)) AS tokens,
          max(w.second) FILTER (WHERE w.requests > 0) AS last_request, max(w.second) FILTER (WHERE w.tokens > 0) AS last_token
        FROM windows w WHERE w.key_id = k.id AND w.second >= v_second - 60) AS w;
      FOR i IN 1 .. coalesce(cardinality(k_ids), 0) LOOP
        -- With what has ended in this turn.
        IF k_counted[i] > 0 THEN
          k_tokens[i] := sluice_sum(k_tokens[i], k_counted[i]);
          k_last_token[i] := v_second;
        END IF;
        IF k_ids[i] = ANY (p_entering) THEN
          v_windows := v_windows || json_build_array(k_ids[i], k_requests[i], k_tokens[i], k_last_request[i], k_last_token[i]);
        END IF;
      END LOOP;
    END IF;

    FOR a IN SELECT * FROM json_to_recordset(p_asks::json) AS x (at bigint, id text, key_id text, seen bigint, counts text[],
      reserved bigint, reserved_micro_usd bigint, alone bigint[], enters boolean)
    LOOP
      IF a.id = ANY (had_ids) THEN
        v_told := v_told || json_build_object('at', a.at, 'said', 'ok', 'reserved', had_reserved[array_position(had_ids, a.id)]);
        CONTINUE;
      END IF;
      k := array_position(k_ids, a.key_id);
      IF k IS NULL OR NOT k_alive[k] OR k_version[k] > a.seen THEN
        v_told := v_told || json_build_object('at', a.at, 'said', CASE WHEN k IS NULL OR NOT k_alive[k] THEN 'dead' ELSE 'changed' END);
        CONTINUE;
      END IF;
      v_comes := a.enters IS TRUE AND (a.id = ANY (had_in)) IS NOT TRUE;
      IF v_comes THEN
        IF k_rpm[k] > 0 AND k_requests[k] >= k_rpm[k] OR k_tpm[k] > 0 AND k_tokens[k] >= k_tpm[k] THEN
          IF k_told[k] THEN
            v_told := v_told || json_build_object('at', a.at, 'said', 'limited');
          ELSE
            k_told[k] := true;
            -- Those before it in this group, too.
            v_told := v_told || (
              SELECT json_build_object('at', a.at, 'said', 'limited', 'seconds', json_agg(w.second ORDER BY w.second),
                'of_requests', json_agg(w.requests ORDER BY w.second), 'of_tokens', json_agg(w.tokens ORDER BY w.second))
              FROM (
                SELECT w.second, w.requests, w.tokens FROM windows w WHERE w.key_id = a.key_id AND w.second >= v_second - 60
                UNION ALL SELECT v_second, k_came[k], k_counted[k]) AS w);
          END IF;
          CONTINUE;
        ELSIF k_most[k] > 0 AND k_active[k] >= k_most[k] THEN
          v_told := v_told || json_build_object('at', a.at, 'said', 'busy');
          CONTINUE;
        END IF;
      END IF;
      v_need := k_total[k] - k_used[k];
      v_fits := v_need > 0 AND (a.reserved <= v_need - k_held[k] OR (k_held[k] = 0 AND v_need >= a.alone[1]) IS TRUE);
      n := coalesce(cardinality(a.counts), 0);
      FOR j IN 1 .. n LOOP
        b := array_position(b_ids, a.counts[j]);
        CONTINUE WHEN b IS NULL;
        v_need := CASE WHEN b_usd[b] THEN a.reserved_micro_usd ELSE a.reserved END;
        v_fits := v_fits AND b_left[b] > 0 AND (v_need <= b_left[b] - b_held[b]
          OR (b_held[b] = 0 AND b_left[b] >= a.alone[j + 1]) IS TRUE);
      END LOOP;
      IF NOT v_fits THEN
        v_lefts := ARRAY[k_total[k] - k_used[k]];
        v_helds := ARRAY[k_held[k]];
        FOR j IN 1 .. n LOOP
          b := array_position(b_ids, a.counts[j]);
          v_lefts := v_lefts || CASE WHEN b IS NULL THEN NULL ELSE b_left[b] END;
          v_helds := v_helds || CASE WHEN b IS NULL THEN NULL ELSE b_held[b] END;
        END LOOP;
        v_told := v_told || json_build_object('at', a.at, 'said', 'no', 'lefts', v_lefts, 'helds', v_helds);
        CONTINUE;
      END IF;
      k_held[k] := k_held[k] + a.reserved;
      FOR j IN 1 .. n LOOP
        b := array_position(b_ids, a.counts[j]);
        CONTINUE WHEN b IS NULL;
        b_held[b] := b_held[b] + CASE WHEN b_usd[b] THEN a.reserved_micro_usd ELSE a.reserved END;
        b_tokens[b] := b_tokens[b] + a.reserved;
        b_microusd[b] := b_microusd[b] + a.reserved_micro_usd;
      END LOOP;
      IF v_comes THEN
        v_begins := v_begins OR k_last_request[k] IS DISTINCT FROM v_second;
        k_requests[k] := k_requests[k] + 1;
        k_last_request[k] := v_second;
        k_active[k] := k_active[k] + 1;
        k_came[k] := k_came[k] + 1;
        v_in := v_in || a.id;
        v_in_keys := v_in_keys || a.key_id;
      END IF;
      v_granted := v_granted || a.at;
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
      IF b_ids IS NOT NULL THEN
        UPDATE budgets SET held_tokens = budgets.held_tokens + u.tokens, held_micro_usd = budgets.held_micro_usd + u.micro_usd
        FROM unnest(b_ids, b_tokens, b_microusd) AS u (id, tokens, micro_usd)
        WHERE budgets.id = u.id AND u.tokens + u.micro_usd > 0;
      END IF;
    END IF;
    IF cardinality(v_in) > 0 THEN
      INSERT INTO entered (id, key_id, node, second) SELECT e.id, e.key_id, p_node, v_second FROM unnest(v_in, v_in_keys) AS e (id, key_id);
    END IF;
  END IF;

  -- Its rows are locked: what was read then is what they are.
  UPDATE keys SET tokens_used = u.used, tokens_held = u.held, in_flight = u.active, last_used_at = u.last
  FROM unnest(k_ids, k_used, k_held, k_active, k_last) AS u (id, used, held, active, last)
  WHERE keys.id = u.id
    AND (keys.tokens_used, keys.tokens_held, keys.in_flight, keys.last_used_at) IS DISTINCT FROM (u.used, u.held, u.active, u.last);
  IF v_counts OR cardinality(v_in) > 0 THEN
    INSERT INTO windows AS w (key_id, second, requests, tokens)
    SELECT u.id, v_second, u.came, u.counted FROM unnest(k_ids, k_came, k_counted) AS u (id, came, counted)
    WHERE u.came > 0 OR u.counted > 0
    ON CONFLICT (key_id, second) DO UPDATE SET requests = w.requests + excluded.requests, tokens = sluice_sum(w.tokens, excluded.tokens);
    IF v_begins THEN
      DELETE FROM windows w WHERE w.key_id = ANY (v_in_keys) AND w.second < v_second - 61;
    END IF;
  END IF;
  -- Some had ended before. Another may have ended some of them while this waited for the same rows.
  IF cardinality(p_ended_ids) > 0 AND (coalesce(e_gone, 0) < cardinality(p_ended_ids) OR e_was > 0) THEN
    SELECT array_agg(e.id) INTO v_more FROM exchanges e WHERE e.id = ANY (p_ended_ids) AND e.alone;
    IF v_more IS NOT NULL THEN
      PERFORM sluice_correct(v_more, p_ended);
    END IF;
  END IF;

  IF v_fenced THEN
    RETURN '{"fenced":true}';
  ELSIF v_told IS NULL AND v_windows IS NULL AND v_from < 2 THEN
    RETURN NULL;
  END IF;
  RETURN json_build_object('waited', v_from, 'now', v_now, 'told', to_json(v_told), 'windows', to_json(v_windows))::text;
END
$$;
--> statement-breakpoint

-- By indexes, as the functions before it.
ALTER FUNCTION sluice_carry SET plan_cache_mode = force_generic_plan;--> statement-breakpoint
ALTER FUNCTION sluice_carry SET enable_seqscan = off;--> statement-breakpoint
ALTER FUNCTION sluice_carry SET jit = off;
