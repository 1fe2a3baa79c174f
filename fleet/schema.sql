-- The schema `fleet`: runs of calls, and of pieces of pure work, that many machines work on. `caveat fleet init` creates it.
--
-- A queue engine hands out work and decides nothing. What must happen once is a unique row here: the row of `intent` is
-- committed before its request is sent, and the database refuses a second one.

CREATE SCHEMA fleet;

CREATE TABLE fleet.meta (name text PRIMARY KEY, value text NOT NULL);

-- `kind` is that of its work: `replay` or `judge`, which are calls, or that of its pieces.
CREATE TABLE fleet.runs (
    run text PRIMARY KEY, document text NOT NULL, system text NOT NULL, timeline integer NOT NULL, kind text NOT NULL DEFAULT 'replay',
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- The documents of the run folder, such as the replay and its tasks. A later version has a name of its own.
CREATE TABLE fleet.document (
    run text NOT NULL REFERENCES fleet.runs, name text NOT NULL, document text NOT NULL, PRIMARY KEY (run, name)
);
-- One start of the coordinator, with the settings of its calls.
CREATE TABLE fleet.session (
    run text NOT NULL REFERENCES fleet.runs, session integer NOT NULL, settings text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (run, session)
);
-- The latest event is the state of the run.
CREATE TABLE fleet.event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text NOT NULL REFERENCES fleet.runs,
    session integer NOT NULL, state text NOT NULL CHECK (state IN ('running', 'paused', 'stopped', 'closed')), fault text, worker text,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX event_run ON fleet.event (run, id);

-- Texts are JSON strings, because a text of PostgreSQL cannot hold the character NUL.
CREATE TABLE fleet.text (sha256 text PRIMARY KEY, content text NOT NULL);
CREATE TABLE fleet.request (sha256 text PRIMARY KEY, folded text NOT NULL);
CREATE TABLE fleet.cell (
    run text NOT NULL REFERENCES fleet.runs, position integer NOT NULL, task_id text NOT NULL, arm text NOT NULL, spec text NOT NULL,
    context_id text NOT NULL, cue_removed text NOT NULL, sample integer NOT NULL, key text NOT NULL,
    PRIMARY KEY (run, position), UNIQUE (run, task_id, arm, spec, context_id, cue_removed, sample)
);
-- `position` is the place in the plan, and `before` counts the rounds that the run folder had made before the run came to the fleet.
CREATE TABLE fleet.call (
    run text NOT NULL REFERENCES fleet.runs, key text NOT NULL, request text NOT NULL REFERENCES fleet.request, index integer NOT NULL,
    position integer NOT NULL, slice integer NOT NULL, before integer NOT NULL, PRIMARY KEY (run, key)
);
CREATE INDEX call_slice ON fleet.call (run, slice, position);
-- Calls that an earlier session asked for and this one does not: another judge is asked, or the replay is shorter. They are not sent in it.
CREATE TABLE fleet.unwanted (
    run text NOT NULL, session integer NOT NULL, key text NOT NULL, PRIMARY KEY (run, session, key), FOREIGN KEY (run, key) REFERENCES fleet.call
);

-- One owner a slice. The epoch counts owners; `until` is a time of this database.
CREATE TABLE fleet.lease (
    run text NOT NULL REFERENCES fleet.runs, slice integer NOT NULL, calls integer NOT NULL DEFAULT 0, epoch integer NOT NULL DEFAULT 0, worker text,
    until timestamptz NOT NULL DEFAULT '-infinity', is_released boolean NOT NULL DEFAULT true, is_done boolean NOT NULL DEFAULT false,
    is_parked boolean NOT NULL DEFAULT false, deaths integer NOT NULL DEFAULT 0, messages jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (run, slice)
);

CREATE TABLE fleet.intent (
    run text NOT NULL, key text NOT NULL, round integer NOT NULL, slice integer NOT NULL, epoch integer NOT NULL,
    session integer NOT NULL, at text NOT NULL, why text, ticket uuid NOT NULL, worker text NOT NULL,
    input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, usd double precision,
    PRIMARY KEY (run, key, round)
);
CREATE INDEX intent_slice ON fleet.intent (run, slice);
-- `is_late`: it came after the call had been given up as lost in flight, and was kept because it was paid for.
CREATE TABLE fleet.outcome (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text NOT NULL, key text NOT NULL, round integer NOT NULL,
    is_late boolean NOT NULL, is_counted boolean NOT NULL, failure text, worker text, document text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run, key, round, is_late)
);
CREATE TABLE fleet.model (
    run text NOT NULL REFERENCES fleet.runs, requested text NOT NULL, returned text NOT NULL, PRIMARY KEY (run, requested, returned)
);

-- What a run may spend. NULL: no limit.
CREATE TABLE fleet.purse (
    run text PRIMARY KEY REFERENCES fleet.runs,
    limit_calls bigint, limit_input_tokens bigint, limit_output_tokens bigint, limit_usd double precision
);
-- What a slice has set aside for calls under way, and has spent; NULL: an unknown price. One row for the whole run would be locked by each
-- transaction until it is on the disk, and workers would wait for one another.
CREATE TABLE fleet.account (
    run text NOT NULL REFERENCES fleet.runs, slice integer NOT NULL,
    held_calls bigint NOT NULL, held_input_tokens bigint NOT NULL, held_output_tokens bigint NOT NULL, held_usd double precision,
    spent_calls bigint NOT NULL, spent_input_tokens bigint NOT NULL, spent_output_tokens bigint NOT NULL, spent_usd double precision,
    PRIMARY KEY (run, slice)
) WITH (fillfactor = 70);
CREATE FUNCTION fleet.read_account(a_run text) RETURNS TABLE (
    held_calls bigint, held_input_tokens bigint, held_output_tokens bigint, held_usd double precision,
    spent_calls bigint, spent_input_tokens bigint, spent_output_tokens bigint, spent_usd double precision
) LANGUAGE sql STABLE AS $$
    -- An unknown price makes an unknown sum.
    SELECT coalesce(sum(held_calls), 0)::bigint, coalesce(sum(held_input_tokens), 0)::bigint, coalesce(sum(held_output_tokens), 0)::bigint,
        CASE WHEN count(*) = count(held_usd) THEN coalesce(sum(held_usd), 0) END,
        coalesce(sum(spent_calls), 0)::bigint, coalesce(sum(spent_input_tokens), 0)::bigint, coalesce(sum(spent_output_tokens), 0)::bigint,
        CASE WHEN count(*) = count(spent_usd) THEN coalesce(sum(spent_usd), 0) END
    FROM fleet.account WHERE run = a_run
$$;
-- How many outcomes a slice has of each kind; an empty `failure` is an answer. `fleet show` adds these up, and not the outcomes.
CREATE TABLE fleet.tally (
    run text NOT NULL REFERENCES fleet.runs, session integer NOT NULL, slice integer NOT NULL, failure text NOT NULL,
    is_late boolean NOT NULL, is_counted boolean NOT NULL, outcomes bigint NOT NULL,
    PRIMARY KEY (run, session, slice, failure, is_late, is_counted)
) WITH (fillfactor = 70);
-- The rate limit of one endpoint and key, for all workers. `next_at` is when the next request may be sent.
CREATE TABLE fleet.quota (
    endpoint text NOT NULL, key text NOT NULL, rate double precision, next_at timestamptz NOT NULL DEFAULT '-infinity',
    paused_until timestamptz NOT NULL DEFAULT '-infinity', PRIMARY KEY (endpoint, key)
);
CREATE TABLE fleet.worker (
    worker text PRIMARY KEY, version text NOT NULL, kinds text[] NOT NULL, slots integer NOT NULL, facts text NOT NULL,
    started timestamptz NOT NULL DEFAULT clock_timestamp(), seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    message text, is_draining boolean NOT NULL DEFAULT false, is_ended boolean NOT NULL DEFAULT false
);
-- Pure work, named by its inputs. Doing it twice is harmless; two results for one name are a contradiction, unless their machines are of
-- two variants: then the first one stays. When no open run needs a piece, inputs and result are removed; the digest stays, and is compared
-- with that of the next time.
CREATE TABLE fleet.piece (
    name text PRIMARY KEY, kind text NOT NULL, equipment text NOT NULL, inputs bytea, result bytea, is_failure boolean, digest text,
    worker text, facts text, variant text, made_at timestamptz, at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Pieces are there for minutes. Compressing them takes longer than a small one does.
ALTER TABLE fleet.piece ALTER inputs SET STORAGE EXTERNAL, ALTER result SET STORAGE EXTERNAL;
CREATE TABLE fleet.contradiction (
    name text NOT NULL REFERENCES fleet.piece, digest text NOT NULL, worker text NOT NULL, facts text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (name, digest)
);
-- The pieces of a run. A slice of them has a lease as a slice of calls has; -1 is no slice: the result was there before.
CREATE TABLE fleet.run_piece (
    run text NOT NULL REFERENCES fleet.runs, position integer NOT NULL, slice integer NOT NULL, label text NOT NULL,
    name text NOT NULL REFERENCES fleet.piece, PRIMARY KEY (run, position)
);
CREATE INDEX run_piece_slice ON fleet.run_piece (run, slice, position);
CREATE INDEX run_piece_name ON fleet.run_piece (name);
-- Jobs whose payload names no slice of a run.
CREATE TABLE fleet.ignored (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job text NOT NULL, at timestamptz DEFAULT clock_timestamp());

-- Append-only.

CREATE FUNCTION fleet.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'fleet.% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['runs', 'document', 'session', 'event', 'text', 'request', 'cell', 'call', 'unwanted', 'intent', 'outcome',
                                'model', 'contradiction', 'ignored'] LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON fleet.%I FOR EACH ROW EXECUTE FUNCTION fleet.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER keep_all BEFORE TRUNCATE ON fleet.%I EXECUTE FUNCTION fleet.refuse_change()', name);
    END LOOP;
END $$;

-- A call is sent in a further round only with a reason, and only when the outcome of the round before is one that the reason is for.

CREATE FUNCTION fleet.find_failure(a_run text, a_key text, a_round integer) RETURNS TABLE (is_there boolean, failure text)
LANGUAGE sql STABLE AS $$
    -- A late answer counts instead of the loss that it came after.
    SELECT true, outcome.failure FROM fleet.outcome
    WHERE run = a_run AND key = a_key AND round = a_round AND is_counted ORDER BY is_late DESC LIMIT 1
$$;

-- Whether a call has no outcome, or one that cost nothing and says nothing of it.
CREATE FUNCTION fleet.is_open(a_run text, a_key text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT coalesce(failure = ANY (string_to_array((SELECT value FROM fleet.meta WHERE name = 'unsent'), ',')), false) FROM fleet.outcome
        WHERE run = a_run AND key = a_key AND is_counted ORDER BY round DESC, is_late DESC LIMIT 1
    ), true)
$$;

-- Checked for all rows of a statement at once: a sending has up to 64. They stand for foreign keys too, whose rows can never be removed,
-- and which would be locked, and so written, once more for each call.
CREATE FUNCTION fleet.check_intents() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    item record;
    before record;
BEGIN
    FOR item IN SELECT DISTINCT run, slice, epoch FROM fresh LOOP
        PERFORM 1 FROM fleet.lease
        WHERE run = item.run AND slice = item.slice AND epoch = item.epoch AND until > clock_timestamp() AND NOT is_done FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'slice % of % is not leased under epoch %', item.slice, item.run, item.epoch
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END LOOP;
    SELECT fresh.* INTO item FROM fresh LEFT JOIN LATERAL (
        SELECT slice FROM fleet.call WHERE run = fresh.run AND key = fresh.key OFFSET 0
    ) AS call ON true WHERE call.slice IS DISTINCT FROM fresh.slice LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'call % is not in slice % of %', item.key, item.slice, item.run USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    FOR item IN SELECT * FROM fresh WHERE round <> 1 OR why IS NOT NULL LOOP
        SELECT * INTO before FROM fleet.find_failure(item.run, item.key, item.round - 1);
        IF before.is_there AND before.failure IS NOT NULL AND item.why = (CASE
            WHEN before.failure = 'lost-in-flight' THEN 'repeat-lost'
            WHEN before.failure = ANY (string_to_array((SELECT value FROM fleet.meta WHERE name = 'unsent'), ',')) THEN 'unsent'
            ELSE 'retry-failed'
        END) THEN
            CONTINUE;
        END IF;
        RAISE EXCEPTION 'call % may not be sent in round % because of %', item.key, item.round, coalesce(item.why, 'nothing')
            USING ERRCODE = 'integrity_constraint_violation';
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER check_intents AFTER INSERT ON fleet.intent REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION fleet.check_intents();

CREATE FUNCTION fleet.check_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    item record;
BEGIN
    SELECT fresh.* INTO item FROM fresh LEFT JOIN LATERAL (
        SELECT slice FROM fleet.intent WHERE run = fresh.run AND key = fresh.key AND round = fresh.round OFFSET 0
    ) AS intent ON true WHERE intent.slice IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'call % of % was not sent in round %', item.key, item.run, item.round USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (
        SELECT FROM fresh WHERE is_late AND (failure IS NOT NULL OR NOT EXISTS (
            SELECT FROM fleet.outcome WHERE run = fresh.run AND key = fresh.key AND round = fresh.round AND failure = 'lost-in-flight'
        ))
    ) THEN
        RAISE EXCEPTION 'only an answer to a call that was lost in flight is late' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER check_outcomes AFTER INSERT ON fleet.outcome REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION fleet.check_outcomes();

CREATE FUNCTION fleet.read_state(a_run text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT state FROM fleet.event WHERE run = a_run ORDER BY id DESC LIMIT 1
$$;

-- `OFFSET 0` makes PostgreSQL look up each call by its key. It plans while tables are small, and would go on reading them whole.
--
-- The sending transaction: the lease is still the worker's, the budget holds the worst case, and the intents are new. What it
-- returns as `sent` may be sent, and nothing else. Repeated with the same ticket it returns the same: a worker whose connection
-- broke during COMMIT asks again. Outcomes of calls before come in the same transaction, and are kept whatever becomes of the new calls.

CREATE FUNCTION fleet.send(
    a_run text, a_session integer, a_slice integer, a_epoch integer, a_worker text, a_ticket uuid, a_at text,
    a_endpoint text, a_key text, a_calls jsonb, a_outcomes jsonb DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_purse fleet.purse;
    v_account record;
    sent text[];
    over text[] := '{}';
    v_state text := fleet.read_state(a_run);
    v_quota record;
    v_models jsonb;
BEGIN
    IF a_outcomes IS NOT NULL THEN
        -- The lease is locked before the account, as a take-over does, so that two never wait in a circle.
        PERFORM 1 FROM fleet.lease WHERE run = a_run AND slice = a_slice AND epoch = a_epoch FOR SHARE;
        v_models := fleet.settle(a_run, a_worker, a_outcomes);
    END IF;
    SELECT rate, extract(epoch FROM greatest(paused_until - clock_timestamp(), '0'))::float8 AS paused_s INTO v_quota
    FROM fleet.quota WHERE endpoint = a_endpoint AND key = a_key;
    IF v_state IS DISTINCT FROM 'running' THEN
        RETURN jsonb_build_object('refused', coalesce(v_state, 'unknown'), 'models', v_models);
    END IF;
    -- A take-over updates this row, and so waits until this transaction has ended.
    PERFORM 1 FROM fleet.lease
    WHERE run = a_run AND slice = a_slice AND epoch = a_epoch AND until > clock_timestamp() AND NOT is_done FOR SHARE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('refused', 'lease', 'models', v_models);
    END IF;
    SELECT * INTO v_purse FROM fleet.purse WHERE run = a_run;
    IF num_nonnulls(v_purse.limit_calls, v_purse.limit_input_tokens, v_purse.limit_output_tokens, v_purse.limit_usd) > 0 THEN
        -- Workers may not fill the same gap, so with a budget they reserve one after the other.
        SELECT * INTO v_purse FROM fleet.purse WHERE run = a_run FOR UPDATE;
        SELECT * INTO v_account FROM fleet.read_account(a_run);
        -- A call that does not fit holds back those after it, as on one machine: the order is that of the plan.
        SELECT coalesce(array_agg(key ORDER BY place), '{}') INTO over FROM (
            SELECT key, place, count(*) OVER so_far AS calls, sum(input_tokens) OVER so_far AS input_tokens,
                sum(output_tokens) OVER so_far AS output_tokens, sum(usd) OVER so_far AS usd
            FROM ROWS FROM (
                jsonb_to_recordset(a_calls) AS (key text, round integer, input_tokens bigint, output_tokens bigint, usd double precision)
            ) WITH ORDINALITY AS item (key, round, input_tokens, output_tokens, usd, place)
            -- What was reserved by this sending before its connection broke is part of the account already.
            WHERE NOT EXISTS (
                SELECT FROM fleet.intent WHERE run = a_run AND intent.key = item.key AND intent.round = item.round AND ticket = a_ticket
            )
            WINDOW so_far AS (ORDER BY place)
        ) AS item
        WHERE v_account.spent_calls + v_account.held_calls + calls > v_purse.limit_calls
            OR v_account.spent_input_tokens + v_account.held_input_tokens + input_tokens > v_purse.limit_input_tokens
            OR v_account.spent_output_tokens + v_account.held_output_tokens + output_tokens > v_purse.limit_output_tokens
            OR v_account.spent_usd + v_account.held_usd + usd > v_purse.limit_usd;
    END IF;
    WITH fresh AS (
        INSERT INTO fleet.intent (run, key, round, slice, epoch, session, at, why, ticket, worker, input_tokens, output_tokens, usd)
        SELECT a_run, key, round, a_slice, a_epoch, a_session, a_at, why, a_ticket, a_worker, input_tokens, output_tokens, usd
        FROM jsonb_to_recordset(a_calls) AS item (
            key text, round integer, why text, input_tokens bigint, output_tokens bigint, usd double precision
        ) WHERE key <> ALL (over) ORDER BY key ON CONFLICT DO NOTHING
        RETURNING input_tokens, output_tokens, usd
    )
    INSERT INTO fleet.account AS known SELECT a_run, a_slice, count(*), sum(input_tokens), sum(output_tokens),
        CASE WHEN count(*) = count(usd) THEN sum(usd) END, 0, 0, 0, 0 FROM fresh HAVING count(*) > 0
    ON CONFLICT (run, slice) DO UPDATE SET held_calls = known.held_calls + excluded.held_calls,
        held_input_tokens = known.held_input_tokens + excluded.held_input_tokens,
        held_output_tokens = known.held_output_tokens + excluded.held_output_tokens, held_usd = known.held_usd + excluded.held_usd;
    SELECT coalesce(array_agg(key ORDER BY key), '{}') INTO sent FROM jsonb_to_recordset(a_calls) AS item (key text, round integer)
    CROSS JOIN LATERAL (
        SELECT ticket FROM fleet.intent WHERE intent.run = a_run AND intent.key = item.key AND intent.round = item.round OFFSET 0
    ) AS intent WHERE ticket = a_ticket;
    -- Of the whole run, and only where something does not fit: then its worker must know whether waiting can help. The run ends for want
    -- of budget only with the first slice that is open: the calls of an earlier one may fit.
    RETURN jsonb_build_object(
        'sent', sent, 'over', over, 'rate', v_quota.rate, 'paused_s', v_quota.paused_s, 'models', v_models,
        'is_idle', cardinality(over) > 0 AND (SELECT held_calls = 0 FROM fleet.read_account(a_run)),
        'is_first', cardinality(over) > 0
            AND NOT EXISTS (SELECT FROM fleet.lease WHERE run = a_run AND slice < a_slice AND NOT is_done AND NOT is_parked)
    );
END $$;

-- Outcomes. Each is kept once; one that is there already is an answer sent again by a worker, or came too late.

CREATE FUNCTION fleet.settle(a_run text, a_worker text, a_outcomes jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    fresh text[];
    late text[] := '{}';
    uncounted text[] := '{}';
BEGIN
    -- Each statement sees what was committed before it: the loss that an answer came after may be a moment old.
    WITH added AS (
        INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, failure, worker, document)
        SELECT a_run, key, round, false, true, failure, a_worker, document
        FROM jsonb_to_recordset(a_outcomes) AS item (key text, round integer, failure text, document text)
        ORDER BY key, round ON CONFLICT DO NOTHING RETURNING key, round
    )
    SELECT coalesce(array_agg(key || ':' || round), '{}') INTO fresh FROM added;
    IF cardinality(fresh) < jsonb_array_length(a_outcomes) THEN
        WITH added AS (
            INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, failure, worker, document)
            -- It counts until the coordinator has closed the session of the call, which may have written the loss down.
            SELECT a_run, key, round, true, NOT EXISTS (
                SELECT FROM fleet.event WHERE event.run = a_run AND state = 'closed' AND event.session >= intent.session
            ) AND NOT EXISTS (
                SELECT FROM fleet.intent AS later WHERE later.run = a_run AND later.key = item.key AND later.round > item.round
            ), NULL, a_worker, document
            FROM jsonb_to_recordset(a_outcomes) AS item (key text, round integer, failure text, document text)
            JOIN fleet.intent USING (key, round) WHERE intent.run = a_run AND failure IS NULL AND key || ':' || round <> ALL (fresh)
            AND EXISTS (
                SELECT FROM fleet.outcome AS lost WHERE lost.run = a_run AND lost.key = item.key AND lost.round = item.round
                AND lost.failure = 'lost-in-flight'
            ) ORDER BY key, round ON CONFLICT DO NOTHING RETURNING key || ':' || round AS name, is_counted
        )
        SELECT coalesce(array_agg(name), '{}'), coalesce(array_agg(name) FILTER (WHERE NOT is_counted), '{}') INTO late, uncounted FROM added;
    END IF;
    WITH change AS MATERIALIZED (
        SELECT intent.slice, intent.session, item.failure, name = ANY (late) AS is_late, name <> ALL (uncounted) AS is_counted, item.calls,
            item.input_tokens, item.output_tokens, item.usd, intent.input_tokens AS held_input, intent.output_tokens AS held_output,
            intent.usd AS held_usd
        FROM (
            SELECT DISTINCT ON (key, round) *, key || ':' || round AS name FROM jsonb_to_recordset(a_outcomes) AS item (
                key text, round integer, failure text, calls bigint, input_tokens bigint, output_tokens bigint, usd double precision
            ) ORDER BY key, round
        ) AS item CROSS JOIN LATERAL (
            SELECT * FROM fleet.intent WHERE intent.run = a_run AND intent.key = item.key AND intent.round = item.round OFFSET 0
        ) AS intent WHERE name = ANY (fresh || late)
    ), counted AS (
        INSERT INTO fleet.tally AS known SELECT a_run, session, slice, coalesce(failure, ''), is_late, is_counted, count(*) FROM change
        GROUP BY 2, 3, 4, 5, 6 ORDER BY 2, 3, 4, 5, 6
        ON CONFLICT (run, session, slice, failure, is_late, is_counted) DO UPDATE SET outcomes = known.outcomes + excluded.outcomes
    )
    -- The loss before a late answer was charged at its worst case, and holds nothing any more.
    INSERT INTO fleet.account AS known SELECT a_run, slice, -count(*) FILTER (WHERE NOT is_late),
        -coalesce(sum(held_input) FILTER (WHERE NOT is_late), 0), -coalesce(sum(held_output) FILTER (WHERE NOT is_late), 0),
        CASE WHEN count(*) = count(held_usd) THEN -coalesce(sum(held_usd) FILTER (WHERE NOT is_late), 0) END,
        sum(calls) - count(*) FILTER (WHERE is_late),
        sum(input_tokens) - coalesce(sum(held_input) FILTER (WHERE is_late), 0),
        sum(output_tokens) - coalesce(sum(held_output) FILTER (WHERE is_late), 0),
        CASE WHEN count(*) = count(usd) AND count(*) = count(held_usd) THEN sum(usd) - coalesce(sum(held_usd) FILTER (WHERE is_late), 0) END
    FROM change GROUP BY slice ORDER BY slice
    ON CONFLICT (run, slice) DO UPDATE SET held_calls = known.held_calls + excluded.held_calls,
        held_input_tokens = known.held_input_tokens + excluded.held_input_tokens,
        held_output_tokens = known.held_output_tokens + excluded.held_output_tokens,
        -- Sums of fractions need not come back to zero.
        held_usd = CASE WHEN known.held_calls + excluded.held_calls = 0 THEN 0 ELSE known.held_usd + excluded.held_usd END,
        spent_calls = known.spent_calls + excluded.spent_calls, spent_input_tokens = known.spent_input_tokens + excluded.spent_input_tokens,
        spent_output_tokens = known.spent_output_tokens + excluded.spent_output_tokens, spent_usd = known.spent_usd + excluded.spent_usd;
    INSERT INTO fleet.model SELECT DISTINCT a_run, requested, returned
    FROM jsonb_to_recordset(a_outcomes) AS item (requested text, returned text)
    WHERE returned IS NOT NULL AND NOT EXISTS (
        SELECT FROM fleet.model WHERE model.run = a_run AND model.requested = item.requested AND model.returned = item.returned
    ) ON CONFLICT DO NOTHING;
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_array(requested, returned) ORDER BY requested, returned), '[]')
            FROM fleet.model WHERE run = a_run);
END $$;

-- Times at which a worker may send, for one second at most. They are `spacing_s` apart, so no second holds more than the rate. Two
-- hundredths are left for the moments that pass between a grant and its use.

CREATE FUNCTION fleet.grant_slots(a_endpoint text, a_key text, a_wanted integer) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_quota fleet.quota;
    moment timestamptz;
    v_count integer;
BEGIN
    SELECT * INTO v_quota FROM fleet.quota WHERE endpoint = a_endpoint AND key = a_key FOR UPDATE;
    moment := clock_timestamp();
    IF v_quota.rate IS NULL THEN
        RETURN jsonb_build_object('count', NULL, 'wait_s', greatest(0, extract(epoch FROM v_quota.paused_until - moment)::float8));
    END IF;
    v_quota.next_at := greatest(v_quota.next_at, v_quota.paused_until, moment);
    v_count := CASE WHEN v_quota.next_at > moment + interval '1 second' THEN 0 ELSE least(a_wanted, greatest(1, floor(v_quota.rate)::integer)) END;
    UPDATE fleet.quota SET next_at = v_quota.next_at + v_count * (interval '1 second' / (0.98 * v_quota.rate))
    WHERE endpoint = a_endpoint AND key = a_key;
    RETURN jsonb_build_object('count', v_count, 'wait_s', extract(epoch FROM v_quota.next_at - moment)::float8, 'spacing_s', 1 / (0.98 * v_quota.rate));
END $$;

-- The result of a piece. The first one stays; returns false for another one, which is noted. In the same transaction the worker says
-- what it does next, so that the messages of a worker that dies name the piece that it died of.

CREATE FUNCTION fleet.keep_piece(
    a_name text, a_worker text, a_facts text, a_variant text, a_failed boolean, a_result bytea, a_message text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_digest text := encode(sha256(a_result), 'hex');
    v_known text;
    v_variant text;
BEGIN
    -- A result that a crash of the server takes is made again: it need not wait for the disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE fleet.worker SET message = a_message WHERE worker = a_worker;
    SELECT digest, variant INTO STRICT v_known, v_variant FROM fleet.piece WHERE name = a_name FOR UPDATE;
    IF v_known IS NOT NULL AND v_known <> v_digest AND v_variant = a_variant THEN
        INSERT INTO fleet.contradiction (name, digest, worker, facts) VALUES (a_name, v_digest, a_worker, a_facts) ON CONFLICT DO NOTHING;
        RETURN false;
    END IF;
    UPDATE fleet.piece SET result = a_result, is_failure = a_failed, digest = v_digest, worker = a_worker, facts = a_facts,
        variant = a_variant, made_at = clock_timestamp() WHERE name = a_name AND result IS NULL;
    RETURN true;
END $$;

CREATE FUNCTION fleet.check_piece() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.name, NEW.kind, NEW.equipment) IS DISTINCT FROM (OLD.name, OLD.kind, OLD.equipment)
        OR (OLD.digest IS NOT NULL AND NEW.digest IS DISTINCT FROM OLD.digest AND (OLD.result IS NOT NULL OR NEW.variant = OLD.variant))
        OR (NEW.result IS NOT NULL AND NEW.digest IS DISTINCT FROM encode(sha256(NEW.result), 'hex')) THEN
        RAISE EXCEPTION 'the result of piece % is another one', NEW.name USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER check_piece BEFORE UPDATE ON fleet.piece FOR EACH ROW EXECUTE FUNCTION fleet.check_piece();

-- Whether the slice has a piece without a result, or a call without an outcome.
CREATE FUNCTION fleet.is_slice_open(a_run text, a_slice integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
            SELECT FROM fleet.call WHERE run = a_run AND slice = a_slice AND fleet.is_open(run, key) AND NOT EXISTS (
                SELECT FROM fleet.unwanted WHERE unwanted.run = call.run AND unwanted.key = call.key
                AND unwanted.session = (SELECT max(session) FROM fleet.session WHERE session.run = a_run)
            )
        )
        OR EXISTS (SELECT FROM fleet.run_piece JOIN fleet.piece USING (name) WHERE run = a_run AND slice = a_slice AND result IS NULL)
$$;

-- Inputs and results that no open run needs any more.
CREATE FUNCTION fleet.clear_pieces(a_run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- A coordinator that adds a run at this moment comes before, and is seen here, or after, and brings the inputs again.
    LOCK TABLE fleet.run_piece IN SHARE ROW EXCLUSIVE MODE;
    UPDATE fleet.piece SET inputs = NULL, result = NULL WHERE name IN (SELECT name FROM fleet.run_piece WHERE run = a_run)
        AND NOT EXISTS (
            SELECT FROM fleet.run_piece AS other WHERE other.name = piece.name AND other.run <> a_run
            AND fleet.read_state(other.run) IN ('running', 'paused')
        );
END $$;
