-- The schema `fleet`: runs of calls, and of pieces of pure work, that many machines work on. `caveat fleet init` creates it.
--
-- A queue engine hands out work and decides nothing. What must happen once is a unique row here: the row of `intent` is
-- committed before its request is sent, and the database refuses a second one.

CREATE SCHEMA fleet;

CREATE TABLE fleet.meta (name text PRIMARY KEY, value text NOT NULL);

-- `kind` is that of its work: `replay`, or that of its pieces.
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
-- `before` counts the rounds that the run folder had made before the run came to the fleet.
CREATE TABLE fleet.call (
    run text NOT NULL REFERENCES fleet.runs, key text NOT NULL, request text NOT NULL REFERENCES fleet.request, index integer NOT NULL,
    position integer NOT NULL, slice integer NOT NULL, before integer NOT NULL, PRIMARY KEY (run, key)
);
CREATE INDEX call_slice ON fleet.call (run, slice, position);

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
    PRIMARY KEY (run, key, round), FOREIGN KEY (run, key) REFERENCES fleet.call
);
CREATE INDEX intent_slice ON fleet.intent (run, slice);
-- `is_late`: it came after the call had been given up as lost in flight, and was kept because it was paid for.
CREATE TABLE fleet.outcome (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text NOT NULL, key text NOT NULL, round integer NOT NULL,
    is_late boolean NOT NULL, is_counted boolean NOT NULL, failure text, worker text, document text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run, key, round, is_late), FOREIGN KEY (run, key, round) REFERENCES fleet.intent
);
CREATE INDEX outcome_count ON fleet.outcome (run, is_counted, failure, is_late);
CREATE TABLE fleet.model (
    run text NOT NULL REFERENCES fleet.runs, requested text NOT NULL, returned text NOT NULL, PRIMARY KEY (run, requested, returned)
);

-- What a run may spend, has set aside for calls under way, and has spent. NULL: no limit, or an unknown price.
CREATE TABLE fleet.purse (
    run text PRIMARY KEY REFERENCES fleet.runs,
    limit_calls bigint, limit_input_tokens bigint, limit_output_tokens bigint, limit_usd double precision,
    held_calls bigint NOT NULL DEFAULT 0, held_input_tokens bigint NOT NULL DEFAULT 0, held_output_tokens bigint NOT NULL DEFAULT 0,
    held_usd double precision DEFAULT 0,
    spent_calls bigint NOT NULL DEFAULT 0, spent_input_tokens bigint NOT NULL DEFAULT 0, spent_output_tokens bigint NOT NULL DEFAULT 0,
    spent_usd double precision DEFAULT 0
);
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
-- Pure work, named by its inputs. Doing it twice is harmless; two results for one name are a contradiction. When no open run needs a
-- piece, inputs and result are removed; the digest stays, and is compared with that of the next time.
CREATE TABLE fleet.piece (
    name text PRIMARY KEY, kind text NOT NULL, equipment text NOT NULL, inputs bytea, result bytea, is_failure boolean, digest text,
    worker text, facts text, made_at timestamptz, at timestamptz NOT NULL DEFAULT clock_timestamp()
);
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
    FOREACH name IN ARRAY ARRAY['runs', 'document', 'session', 'event', 'text', 'request', 'cell', 'call', 'intent', 'outcome', 'model',
                                'contradiction', 'ignored'] LOOP
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

CREATE FUNCTION fleet.check_intent() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before record;
BEGIN
    PERFORM 1 FROM fleet.lease
    WHERE run = NEW.run AND slice = NEW.slice AND epoch = NEW.epoch AND until > clock_timestamp() AND NOT is_done FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'slice % of % is not leased under epoch %', NEW.slice, NEW.run, NEW.epoch USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM 1 FROM fleet.call WHERE run = NEW.run AND key = NEW.key AND slice = NEW.slice;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'call % is not in slice % of %', NEW.key, NEW.slice, NEW.run USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.round = 1 AND NEW.why IS NULL THEN
        RETURN NEW;
    END IF;
    SELECT * INTO before FROM fleet.find_failure(NEW.run, NEW.key, NEW.round - 1);
    IF before.is_there AND before.failure IS NOT NULL AND NEW.why = (CASE
        WHEN before.failure = 'lost-in-flight' THEN 'repeat-lost'
        WHEN before.failure = ANY (string_to_array((SELECT value FROM fleet.meta WHERE name = 'unsent'), ',')) THEN 'unsent'
        ELSE 'retry-failed'
    END) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'call % may not be sent in round % because of %', NEW.key, NEW.round, coalesce(NEW.why, 'nothing')
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER check_intent BEFORE INSERT ON fleet.intent FOR EACH ROW EXECUTE FUNCTION fleet.check_intent();

CREATE FUNCTION fleet.check_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.is_late AND (NEW.failure IS NOT NULL OR NOT EXISTS (
        SELECT FROM fleet.outcome WHERE run = NEW.run AND key = NEW.key AND round = NEW.round AND failure = 'lost-in-flight'
    )) THEN
        RAISE EXCEPTION 'only an answer to a call that was lost in flight is late' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER check_outcome BEFORE INSERT ON fleet.outcome FOR EACH ROW EXECUTE FUNCTION fleet.check_outcome();

CREATE FUNCTION fleet.read_state(a_run text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT state FROM fleet.event WHERE run = a_run ORDER BY id DESC LIMIT 1
$$;

-- The sending transaction: the lease is still the worker's, the budget holds the worst case, and the intents are new. What it
-- returns as `sent` may be sent, and nothing else. Repeated with the same ticket it returns the same: a worker whose connection
-- broke during COMMIT asks again.

CREATE FUNCTION fleet.send(
    a_run text, a_session integer, a_slice integer, a_epoch integer, a_worker text, a_ticket uuid, a_at text,
    a_endpoint text, a_key text, a_calls jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    item record;
    v_purse fleet.purse;
    sent text[] := '{}';
    over text[] := '{}';
    v_state text := fleet.read_state(a_run);
    v_quota record;
BEGIN
    SELECT rate, extract(epoch FROM greatest(paused_until - clock_timestamp(), '0'))::float8 AS paused_s INTO v_quota
    FROM fleet.quota WHERE endpoint = a_endpoint AND key = a_key;
    IF v_state IS DISTINCT FROM 'running' THEN
        RETURN jsonb_build_object('refused', coalesce(v_state, 'unknown'));
    END IF;
    -- A take-over updates this row, and so waits until this transaction has ended.
    PERFORM 1 FROM fleet.lease
    WHERE run = a_run AND slice = a_slice AND epoch = a_epoch AND until > clock_timestamp() AND NOT is_done FOR SHARE;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('refused', 'lease');
    END IF;
    SELECT * INTO v_purse FROM fleet.purse WHERE run = a_run FOR UPDATE;
    FOR item IN SELECT * FROM jsonb_to_recordset(a_calls) AS (
        key text, round integer, why text, input_tokens bigint, output_tokens bigint, usd double precision
    ) ORDER BY 1 LOOP
        PERFORM 1 FROM fleet.intent WHERE run = a_run AND key = item.key AND round = item.round AND ticket = a_ticket;
        IF FOUND THEN
            sent := sent || item.key;
            CONTINUE;
        END IF;
        IF v_purse.spent_calls + v_purse.held_calls + 1 > v_purse.limit_calls
            OR v_purse.spent_input_tokens + v_purse.held_input_tokens + item.input_tokens > v_purse.limit_input_tokens
            OR v_purse.spent_output_tokens + v_purse.held_output_tokens + item.output_tokens > v_purse.limit_output_tokens
            OR v_purse.spent_usd + v_purse.held_usd + item.usd > v_purse.limit_usd THEN
            over := over || item.key;
            CONTINUE;
        END IF;
        INSERT INTO fleet.intent (run, key, round, slice, epoch, session, at, why, ticket, worker, input_tokens, output_tokens, usd)
        VALUES (a_run, item.key, item.round, a_slice, a_epoch, a_session, a_at, item.why, a_ticket, a_worker, item.input_tokens,
                item.output_tokens, item.usd)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            sent := sent || item.key;
            v_purse.held_calls := v_purse.held_calls + 1;
            v_purse.held_input_tokens := v_purse.held_input_tokens + item.input_tokens;
            v_purse.held_output_tokens := v_purse.held_output_tokens + item.output_tokens;
            v_purse.held_usd := v_purse.held_usd + item.usd;
        END IF;
    END LOOP;
    UPDATE fleet.purse SET held_calls = v_purse.held_calls, held_input_tokens = v_purse.held_input_tokens,
        held_output_tokens = v_purse.held_output_tokens, held_usd = v_purse.held_usd WHERE run = a_run;
    RETURN jsonb_build_object('sent', sent, 'over', over, 'is_idle', v_purse.held_calls = 0, 'rate', v_quota.rate, 'paused_s', v_quota.paused_s);
END $$;

-- Outcomes. Each is kept once; one that is there already is an answer sent again by a worker, or came too late.

CREATE FUNCTION fleet.settle(a_run text, a_worker text, a_outcomes jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    item record;
    v_intent fleet.intent;
    is_new boolean;
    v_late boolean;
BEGIN
    FOR item IN SELECT * FROM jsonb_to_recordset(a_outcomes) AS (
        key text, round integer, failure text, requested text, returned text, document text, calls integer, input_tokens bigint,
        output_tokens bigint, usd double precision
    ) ORDER BY 1, 2 LOOP
        SELECT * INTO STRICT v_intent FROM fleet.intent WHERE run = a_run AND key = item.key AND round = item.round;
        v_late := false;
        INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, failure, worker, document)
        VALUES (a_run, item.key, item.round, false, true, item.failure, a_worker, item.document) ON CONFLICT DO NOTHING;
        is_new := FOUND;
        IF NOT is_new AND item.failure IS NULL AND EXISTS (
            SELECT FROM fleet.outcome WHERE run = a_run AND key = item.key AND round = item.round AND failure = 'lost-in-flight'
        ) THEN
            INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, failure, worker, document)
            -- It counts until the coordinator has closed the session of the call, which may have written the loss down.
            VALUES (a_run, item.key, item.round, true, NOT EXISTS (
                SELECT FROM fleet.event WHERE run = a_run AND state = 'closed' AND session >= v_intent.session
            ) AND NOT EXISTS (
                SELECT FROM fleet.intent WHERE run = a_run AND key = item.key AND round > item.round
            ), NULL, a_worker, item.document) ON CONFLICT DO NOTHING;
            v_late := FOUND;
        END IF;
        IF is_new OR v_late THEN
            -- The loss before a late answer was charged at its worst case.
            UPDATE fleet.purse SET
                held_calls = held_calls - is_new::integer,
                held_input_tokens = held_input_tokens - is_new::integer * v_intent.input_tokens,
                held_output_tokens = held_output_tokens - is_new::integer * v_intent.output_tokens,
                held_usd = CASE WHEN held_calls - is_new::integer = 0 THEN 0 ELSE held_usd - is_new::integer * v_intent.usd END,
                spent_calls = spent_calls + item.calls - v_late::integer,
                spent_input_tokens = spent_input_tokens + item.input_tokens - v_late::integer * v_intent.input_tokens,
                spent_output_tokens = spent_output_tokens + item.output_tokens - v_late::integer * v_intent.output_tokens,
                spent_usd = spent_usd + item.usd - v_late::integer * v_intent.usd
            WHERE run = a_run;
        END IF;
        IF item.returned IS NOT NULL THEN
            INSERT INTO fleet.model VALUES (a_run, item.requested, item.returned) ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
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

CREATE FUNCTION fleet.keep_piece(a_name text, a_worker text, a_facts text, a_failed boolean, a_result bytea, a_message text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_digest text := encode(sha256(a_result), 'hex');
    v_known text;
BEGIN
    -- A result that a crash of the server takes is made again: it need not wait for the disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE fleet.worker SET message = a_message WHERE worker = a_worker;
    SELECT digest INTO STRICT v_known FROM fleet.piece WHERE name = a_name FOR UPDATE;
    IF v_known IS NOT NULL AND v_known <> v_digest THEN
        INSERT INTO fleet.contradiction (name, digest, worker, facts) VALUES (a_name, v_digest, a_worker, a_facts) ON CONFLICT DO NOTHING;
        RETURN false;
    END IF;
    UPDATE fleet.piece SET result = a_result, is_failure = a_failed, digest = v_digest, worker = a_worker, facts = a_facts,
        made_at = clock_timestamp() WHERE name = a_name AND result IS NULL;
    RETURN true;
END $$;

CREATE FUNCTION fleet.check_piece() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.name, NEW.kind, NEW.equipment) IS DISTINCT FROM (OLD.name, OLD.kind, OLD.equipment)
        OR (OLD.digest IS NOT NULL AND NEW.digest IS DISTINCT FROM OLD.digest)
        OR (NEW.result IS NOT NULL AND NEW.digest IS DISTINCT FROM encode(sha256(NEW.result), 'hex')) THEN
        RAISE EXCEPTION 'the result of piece % is another one', NEW.name USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER check_piece BEFORE UPDATE ON fleet.piece FOR EACH ROW EXECUTE FUNCTION fleet.check_piece();

-- Whether the slice has a piece without a result, or a call without an outcome.
CREATE FUNCTION fleet.is_slice_open(a_run text, a_slice integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM fleet.call WHERE run = a_run AND slice = a_slice AND fleet.is_open(run, key))
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
