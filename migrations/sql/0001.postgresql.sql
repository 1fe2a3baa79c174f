CREATE TABLE content (
	sha256 BYTEA NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT pk_content PRIMARY KEY (sha256),
	CONSTRAINT ck_content_sha256_32_bytes CHECK (length(sha256) = 32)
)

CREATE TABLE log (
	id BIGINT NOT NULL,
	origin TEXT NOT NULL,
	vkey TEXT,
	CONSTRAINT pk_log PRIMARY KEY (id),
	CONSTRAINT uq_log_origin UNIQUE (origin)
)

CREATE TABLE entry (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	kind TEXT NOT NULL,
	actor TEXT NOT NULL,
	at BIGINT NOT NULL,
	leaf BYTEA NOT NULL,
	CONSTRAINT pk_entry PRIMARY KEY (log, seq),
	CONSTRAINT ck_entry_kind CHECK (kind = 'audit' OR kind = 'audit_withdrawal' OR kind = 'authority' OR kind = 'card' OR kind = 'claim_event' OR kind = 'claim_relation' OR kind = 'claim_revision' OR kind = 'deviation' OR kind = 'equivocation' OR kind = 'erasure' OR kind = 'evidence' OR kind = 'exploration' OR kind = 'finding' OR kind = 'forecast' OR kind = 'forecast_score' OR kind = 'key_event' OR kind = 'lock' OR kind = 'log_import' OR kind = 'model_endpoint' OR kind = 'model_event' OR kind = 'model_version' OR kind = 'monitor' OR kind = 'monitor_end' OR kind = 'monitor_incident' OR kind = 'monitor_window' OR kind = 'objection' OR kind = 'objection_event' OR kind = 'omission' OR kind = 'passage_match' OR kind = 'publication' OR kind = 'restriction' OR kind = 'result' OR kind = 'reveal' OR kind = 'run' OR kind = 'run_end' OR kind = 'run_start' OR kind = 'spec_version' OR kind = 'staleness_review' OR kind = 'survey' OR kind = 'time_anchor' OR kind = 'witnessing'),
	CONSTRAINT ck_entry_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT fk_entry_log FOREIGN KEY(log) REFERENCES log (id)
)

CREATE TABLE authority (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	code TEXT NOT NULL,
	name TEXT NOT NULL,
	role TEXT NOT NULL,
	CONSTRAINT pk_authority PRIMARY KEY (log, seq),
	CONSTRAINT ck_authority_role CHECK (role = 'lab' OR role = 'institute' OR role = 'regulator' OR role = 'auditor'),
	CONSTRAINT uq_authority_log_code UNIQUE (log, code),
	CONSTRAINT fk_authority_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE body (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	json TEXT NOT NULL,
	CONSTRAINT pk_body PRIMARY KEY (log, seq),
	CONSTRAINT fk_body_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE checkpoint (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	root BYTEA NOT NULL,
	note TEXT NOT NULL,
	at BIGINT NOT NULL,
	CONSTRAINT pk_checkpoint PRIMARY KEY (log, seq),
	CONSTRAINT ck_checkpoint_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_checkpoint_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE equivocation (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	origin TEXT NOT NULL,
	CONSTRAINT pk_equivocation PRIMARY KEY (log, seq),
	CONSTRAINT fk_equivocation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_equivocation_log_origin ON equivocation (log, origin)

CREATE TABLE erasure (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	erased BIGINT NOT NULL,
	leaf BYTEA NOT NULL,
	CONSTRAINT pk_erasure PRIMARY KEY (log, seq),
	CONSTRAINT ck_erasure_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT ck_erasure_erased_before CHECK (erased < seq),
	CONSTRAINT uq_erasure_log_erased UNIQUE (log, erased),
	CONSTRAINT fk_erasure_erased_entry FOREIGN KEY(log, erased) REFERENCES entry (log, seq),
	CONSTRAINT fk_erasure_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE log_import (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	origin TEXT NOT NULL,
	size BIGINT NOT NULL,
	root BYTEA NOT NULL,
	CONSTRAINT pk_log_import PRIMARY KEY (log, seq),
	CONSTRAINT ck_log_import_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_log_import_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_log_import_log_origin ON log_import (log, origin)

CREATE TABLE model_version (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	developer TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	predecessor_developer TEXT,
	predecessor_name TEXT,
	predecessor_version TEXT,
	CONSTRAINT pk_model_version PRIMARY KEY (log, seq),
	CONSTRAINT ck_model_version_predecessor_whole CHECK ((predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)),
	CONSTRAINT uq_model_version_log_developer_name_version UNIQUE (log, developer, name, version),
	CONSTRAINT fk_model_version_predecessor_version_model_version FOREIGN KEY(log, predecessor_developer, predecessor_name, predecessor_version) REFERENCES model_version (log, developer, name, version),
	CONSTRAINT fk_model_version_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_model_version_predecessor ON model_version (log, predecessor_developer, predecessor_name, predecessor_version)

CREATE TABLE node (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	level BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	CONSTRAINT pk_node PRIMARY KEY (log, seq, level),
	CONSTRAINT ck_node_level_of_sixteens CHECK (level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	CONSTRAINT ck_node_hash_32_bytes CHECK (length(hash) = 32),
	CONSTRAINT fk_node_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE signature (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	key BYTEA NOT NULL,
	value BYTEA NOT NULL,
	CONSTRAINT pk_signature PRIMARY KEY (log, seq),
	CONSTRAINT ck_signature_key_32_bytes CHECK (length(key) = 32),
	CONSTRAINT ck_signature_value_64_bytes CHECK (length(value) = 64),
	CONSTRAINT fk_signature_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE time_anchor (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	size BIGINT NOT NULL,
	root BYTEA NOT NULL,
	CONSTRAINT pk_time_anchor PRIMARY KEY (log, seq),
	CONSTRAINT ck_time_anchor_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT ck_time_anchor_stamped_before_recorded CHECK (size < seq),
	CONSTRAINT fk_time_anchor_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_time_anchor_log_size ON time_anchor (log, size)

CREATE TABLE witnessing (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	origin TEXT NOT NULL,
	size BIGINT NOT NULL,
	root BYTEA NOT NULL,
	CONSTRAINT pk_witnessing PRIMARY KEY (log, seq),
	CONSTRAINT ck_witnessing_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_witnessing_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_witnessing_log_origin ON witnessing (log, origin)

CREATE TABLE cosignature (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	line TEXT NOT NULL,
	at BIGINT NOT NULL,
	CONSTRAINT pk_cosignature PRIMARY KEY (log, seq, line),
	CONSTRAINT fk_cosignature_seq_checkpoint FOREIGN KEY(log, seq) REFERENCES checkpoint (log, seq),
	CONSTRAINT fk_cosignature_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE identifier (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	authority TEXT NOT NULL,
	year BIGINT NOT NULL,
	number BIGINT NOT NULL,
	CONSTRAINT pk_identifier PRIMARY KEY (log, id),
	CONSTRAINT ck_identifier_kind CHECK (kind = 'CLM' OR kind = 'AUD' OR kind = 'CRD' OR kind = 'CTX' OR kind = 'PRP' OR kind = 'SCF' OR kind = 'CUE' OR kind = 'MTH' OR kind = 'CON' OR kind = 'MON'),
	CONSTRAINT ck_identifier_number_from_1 CHECK (number >= 1),
	CONSTRAINT ck_identifier_id_agrees CHECK (substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'),
	CONSTRAINT uq_identifier_log_kind_authority_year_number UNIQUE (log, kind, authority, year, number),
	CONSTRAINT fk_identifier_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_identifier_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE key_event (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	authority TEXT NOT NULL,
	event TEXT NOT NULL,
	key BYTEA NOT NULL,
	algorithm TEXT NOT NULL,
	purpose TEXT NOT NULL,
	replaces BYTEA,
	has_reason BIGINT NOT NULL,
	CONSTRAINT pk_key_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_key_event_event CHECK (event = 'add' OR event = 'rotate' OR event = 'revoke'),
	CONSTRAINT ck_key_event_algorithm CHECK (algorithm = 'ed25519' OR algorithm = 'ml-dsa-44' OR algorithm = 'ecdsa-p256'),
	CONSTRAINT ck_key_event_purpose CHECK (purpose = 'log' OR purpose = 'document' OR purpose = 'statement'),
	CONSTRAINT ck_key_event_key_32_bytes CHECK (length(key) = 32),
	CONSTRAINT ck_key_event_replaces_32_bytes CHECK (length(replaces) = 32),
	CONSTRAINT ck_key_event_rotate_names_replaced CHECK ((event = 'rotate') = (replaces IS NOT NULL)),
	CONSTRAINT ck_key_event_reason_given CHECK (event = 'add' OR has_reason = 1),
	CONSTRAINT uq_key_event_log_key_event UNIQUE (log, key, event),
	CONSTRAINT fk_key_event_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_key_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE model_endpoint (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	developer TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	event TEXT NOT NULL,
	endpoint TEXT NOT NULL,
	actor TEXT NOT NULL,
	CONSTRAINT pk_model_endpoint PRIMARY KEY (log, seq),
	CONSTRAINT ck_model_endpoint_event CHECK (event = 'state' OR event = 'retract'),
	CONSTRAINT ck_model_endpoint_endpoint_given CHECK (endpoint <> ''),
	CONSTRAINT fk_model_endpoint_version_model_version FOREIGN KEY(log, developer, name, version) REFERENCES model_version (log, developer, name, version),
	CONSTRAINT fk_model_endpoint_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_model_endpoint_endpoint ON model_endpoint (log, endpoint)

CREATE INDEX ix_model_endpoint_log_developer_name_version ON model_endpoint (log, developer, name, version)

CREATE TABLE model_event (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	developer TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	event TEXT NOT NULL,
	predecessor_developer TEXT,
	predecessor_name TEXT,
	predecessor_version TEXT,
	descent TEXT,
	has_reason BIGINT NOT NULL,
	CONSTRAINT pk_model_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_model_event_event CHECK (event = 'follow' OR event = 'unfollow' OR event = 'deprecate' OR event = 'reinstate'),
	CONSTRAINT ck_model_event_descent CHECK (descent = 'successor' OR descent = 'snapshot' OR descent = 'fine_tune'),
	CONSTRAINT ck_model_event_predecessor_whole CHECK ((predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)),
	CONSTRAINT ck_model_event_link_names_predecessor CHECK ((event IN ('follow', 'unfollow')) = (predecessor_name IS NOT NULL)),
	CONSTRAINT ck_model_event_follow_names_descent CHECK ((event = 'follow') = (descent IS NOT NULL)),
	CONSTRAINT ck_model_event_reason_given CHECK (event = 'follow' OR has_reason = 1),
	CONSTRAINT ck_model_event_another_predecessor CHECK (NOT (developer = coalesce(predecessor_developer, '') AND name = coalesce(predecessor_name, '') AND version = coalesce(predecessor_version, ''))),
	CONSTRAINT fk_model_event_version_model_version FOREIGN KEY(log, developer, name, version) REFERENCES model_version (log, developer, name, version),
	CONSTRAINT fk_model_event_predecessor_version_model_version FOREIGN KEY(log, predecessor_developer, predecessor_name, predecessor_version) REFERENCES model_version (log, developer, name, version),
	CONSTRAINT fk_model_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_model_event_log_developer_name_version ON model_event (log, developer, name, version)

CREATE INDEX ix_model_event_predecessor ON model_event (log, predecessor_developer, predecessor_name, predecessor_version)

CREATE TABLE card_revision (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	card TEXT NOT NULL,
	revision BIGINT NOT NULL,
	title TEXT NOT NULL,
	publisher TEXT NOT NULL,
	media_type TEXT NOT NULL,
	document BYTEA NOT NULL,
	text BYTEA NOT NULL,
	why TEXT,
	CONSTRAINT pk_card_revision PRIMARY KEY (log, seq),
	CONSTRAINT ck_card_revision_card_begins CHECK (substr(card, 1, 4) = 'CRD-'),
	CONSTRAINT ck_card_revision_media_type CHECK (media_type = 'application/pdf' OR media_type = 'text/html' OR media_type = 'text/markdown' OR media_type = 'text/plain'),
	CONSTRAINT ck_card_revision_document_32_bytes CHECK (length(document) = 32),
	CONSTRAINT ck_card_revision_text_32_bytes CHECK (length(text) = 32),
	CONSTRAINT ck_card_revision_why_from_2 CHECK (revision = 1 OR length(trim(why)) > 0 AND why IS NOT NULL),
	CONSTRAINT uq_card_revision_log_card_revision UNIQUE (log, card, revision),
	CONSTRAINT uq_card_revision_log_document UNIQUE (log, document),
	CONSTRAINT fk_card_revision_card_identifier FOREIGN KEY(log, card) REFERENCES identifier (log, id),
	CONSTRAINT fk_card_revision_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE claim_event (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	event TEXT NOT NULL,
	successor TEXT,
	has_reason BIGINT NOT NULL,
	CONSTRAINT pk_claim_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_event_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_event_event CHECK (event = 'reserve' OR event = 'publish' OR event = 'supersede' OR event = 'withdraw' OR event = 'reject'),
	CONSTRAINT ck_claim_event_supersede_names_successor CHECK ((event = 'supersede') = (successor IS NOT NULL)),
	CONSTRAINT ck_claim_event_another_successor CHECK (successor <> claim),
	CONSTRAINT ck_claim_event_reason_given CHECK (event IN ('reserve', 'publish') OR has_reason = 1),
	CONSTRAINT fk_claim_event_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id),
	CONSTRAINT fk_claim_event_successor_identifier FOREIGN KEY(log, successor) REFERENCES identifier (log, id),
	CONSTRAINT fk_claim_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_claim_event_log_claim ON claim_event (log, claim)

CREATE INDEX ix_claim_event_log_successor ON claim_event (log, successor)

CREATE TABLE claim_relation (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	relation TEXT NOT NULL,
	other TEXT NOT NULL,
	CONSTRAINT pk_claim_relation PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_relation_relation CHECK (relation = 'alias' OR relation = 'related' OR relation = 'splits' OR relation = 'merges' OR relation = 'restates'),
	CONSTRAINT ck_claim_relation_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_relation_other_begins CHECK (substr(other, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_relation_another_claim CHECK (claim <> other),
	CONSTRAINT uq_claim_relation_log_claim_relation_other UNIQUE (log, claim, relation, other),
	CONSTRAINT fk_claim_relation_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id),
	CONSTRAINT fk_claim_relation_other_identifier FOREIGN KEY(log, other) REFERENCES identifier (log, id),
	CONSTRAINT fk_claim_relation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_claim_relation_log_other ON claim_relation (log, other)

CREATE TABLE spec (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	spec TEXT NOT NULL,
	kind TEXT NOT NULL,
	slug TEXT NOT NULL,
	owner TEXT NOT NULL,
	CONSTRAINT pk_spec PRIMARY KEY (log, seq),
	CONSTRAINT ck_spec_kind CHECK (kind = 'property' OR kind = 'scoring' OR kind = 'test_context' OR kind = 'deploy_context' OR kind = 'cue_inventory' OR kind = 'method'),
	CONSTRAINT uq_spec_log_spec_kind UNIQUE (log, spec, kind),
	CONSTRAINT uq_spec_log_owner_kind_slug UNIQUE (log, owner, kind, slug),
	CONSTRAINT fk_spec_spec_identifier FOREIGN KEY(log, spec) REFERENCES identifier (log, id),
	CONSTRAINT fk_spec_owner_authority FOREIGN KEY(log, owner) REFERENCES authority (log, code),
	CONSTRAINT fk_spec_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE omission (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	card TEXT NOT NULL,
	revision BIGINT NOT NULL,
	start BIGINT NOT NULL,
	stop BIGINT NOT NULL,
	CONSTRAINT pk_omission PRIMARY KEY (log, seq),
	CONSTRAINT ck_omission_stop_after_start CHECK (start >= 0 AND stop > start),
	CONSTRAINT uq_omission_log_card_revision_start_stop UNIQUE (log, card, revision, start, stop),
	CONSTRAINT fk_omission_revision_card_revision FOREIGN KEY(log, card, revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT fk_omission_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE spec_version (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	spec TEXT NOT NULL,
	kind TEXT NOT NULL,
	version BIGINT NOT NULL,
	body TEXT,
	commitment BYTEA,
	why TEXT,
	CONSTRAINT pk_spec_version PRIMARY KEY (log, seq),
	CONSTRAINT ck_spec_version_commitment_32_bytes CHECK (length(commitment) = 32),
	CONSTRAINT ck_spec_version_sealed_xor_body CHECK ((body IS NULL) <> (commitment IS NULL)),
	CONSTRAINT ck_spec_version_why_from_2 CHECK (version = 1 OR length(trim(why)) > 0 AND why IS NOT NULL),
	CONSTRAINT uq_spec_version_log_spec_version UNIQUE (log, spec, version),
	CONSTRAINT uq_spec_version_log_spec_version_kind UNIQUE (log, spec, version, kind),
	CONSTRAINT fk_spec_version_kind_spec FOREIGN KEY(log, spec, kind) REFERENCES spec (log, spec, kind),
	CONSTRAINT fk_spec_version_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE survey (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	card TEXT NOT NULL,
	revision BIGINT NOT NULL,
	engine TEXT NOT NULL,
	CONSTRAINT pk_survey PRIMARY KEY (log, seq),
	CONSTRAINT fk_survey_revision_card_revision FOREIGN KEY(log, card, revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT fk_survey_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_survey_log_card_revision ON survey (log, card, revision)

CREATE TABLE claim_revision (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	natural_key BYTEA NOT NULL,
	quote_status TEXT NOT NULL,
	form TEXT NOT NULL,
	relation TEXT,
	theta DOUBLE PRECISION,
	direction TEXT NOT NULL,
	developer TEXT NOT NULL,
	model TEXT NOT NULL,
	model_version TEXT NOT NULL,
	card TEXT,
	card_revision BIGINT,
	property TEXT NOT NULL,
	property_version BIGINT NOT NULL,
	property_kind TEXT NOT NULL,
	scoring TEXT,
	scoring_version BIGINT,
	scoring_kind TEXT,
	test_context TEXT,
	test_context_version BIGINT,
	test_context_kind TEXT,
	has_why BIGINT NOT NULL,
	CONSTRAINT pk_claim_revision PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_revision_revision_from_1 CHECK (revision >= 1),
	CONSTRAINT ck_claim_revision_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_revision_natural_key_32_bytes CHECK (length(natural_key) = 32),
	CONSTRAINT ck_claim_revision_quote_status CHECK (quote_status = 'verbatim' OR quote_status = 'paraphrase'),
	CONSTRAINT ck_claim_revision_form CHECK (form = 'existence' OR form = 'upper_bound' OR form = 'lower_bound' OR form = 'prevalence' OR form = 'threshold'),
	CONSTRAINT ck_claim_revision_relation CHECK (relation = '<=' OR relation = '>='),
	CONSTRAINT ck_claim_revision_direction CHECK (direction = 'higher_is_safer' OR direction = 'lower_is_safer' OR direction = 'not_safety'),
	CONSTRAINT ck_claim_revision_relation_agrees CHECK (CASE form WHEN 'threshold' THEN relation IS NOT NULL WHEN 'upper_bound' THEN relation IS NOT NULL AND relation = '<=' WHEN 'lower_bound' THEN relation IS NOT NULL AND relation = '>=' ELSE relation IS NULL END),
	CONSTRAINT ck_claim_revision_theta_agrees CHECK (theta IS NULL OR relation IS NOT NULL),
	CONSTRAINT ck_claim_revision_why_from_2 CHECK (revision = 1 OR has_why = 1),
	CONSTRAINT ck_claim_revision_card_whole CHECK ((card IS NULL) = (card_revision IS NULL)),
	CONSTRAINT uq_claim_revision_log_claim_revision UNIQUE (log, claim, revision),
	CONSTRAINT fk_claim_revision_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id),
	CONSTRAINT fk_claim_revision_card_revision_card_revision FOREIGN KEY(log, card, card_revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT ck_claim_revision_property_is_property CHECK (property_kind = 'property'),
	CONSTRAINT ck_claim_revision_property_whole CHECK ((property IS NULL) = (property_version IS NULL)),
	CONSTRAINT ck_claim_revision_property_typed CHECK ((property IS NULL) = (property_kind IS NULL)),
	CONSTRAINT fk_claim_revision_property_kind_spec_version FOREIGN KEY(log, property, property_version, property_kind) REFERENCES spec_version (log, spec, version, kind),
	CONSTRAINT ck_claim_revision_scoring_is_scoring CHECK (scoring_kind = 'scoring'),
	CONSTRAINT ck_claim_revision_scoring_whole CHECK ((scoring IS NULL) = (scoring_version IS NULL)),
	CONSTRAINT ck_claim_revision_scoring_typed CHECK ((scoring IS NULL) = (scoring_kind IS NULL)),
	CONSTRAINT fk_claim_revision_scoring_kind_spec_version FOREIGN KEY(log, scoring, scoring_version, scoring_kind) REFERENCES spec_version (log, spec, version, kind),
	CONSTRAINT ck_claim_revision_test_context_is_test_context CHECK (test_context_kind = 'test_context'),
	CONSTRAINT ck_claim_revision_test_context_whole CHECK ((test_context IS NULL) = (test_context_version IS NULL)),
	CONSTRAINT ck_claim_revision_test_context_typed CHECK ((test_context IS NULL) = (test_context_kind IS NULL)),
	CONSTRAINT fk_claim_revision_test_context_kind_spec_version FOREIGN KEY(log, test_context, test_context_version, test_context_kind) REFERENCES spec_version (log, spec, version, kind),
	CONSTRAINT fk_claim_revision_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_claim_revision_log_card_card_revision ON claim_revision (log, card, card_revision)

CREATE INDEX ix_claim_revision_log_model_model_version ON claim_revision (log, model, model_version)

CREATE INDEX ix_claim_revision_log_natural_key ON claim_revision (log, natural_key)

CREATE INDEX ix_claim_revision_log_property ON claim_revision (log, property)

CREATE INDEX ix_claim_revision_unplaced ON claim_revision (log, property, card) WHERE (card IS NULL OR quote_status <> 'verbatim')

CREATE TABLE reveal (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	spec TEXT NOT NULL,
	version BIGINT NOT NULL,
	CONSTRAINT pk_reveal PRIMARY KEY (log, seq),
	CONSTRAINT uq_reveal_log_spec_version UNIQUE (log, spec, version),
	CONSTRAINT fk_reveal_version_spec_version FOREIGN KEY(log, spec, version) REFERENCES spec_version (log, spec, version),
	CONSTRAINT fk_reveal_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE audit (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	auditor TEXT NOT NULL,
	independence TEXT NOT NULL,
	CONSTRAINT pk_audit PRIMARY KEY (log, seq),
	CONSTRAINT ck_audit_audit_begins CHECK (substr(audit, 1, 4) = 'AUD-'),
	CONSTRAINT ck_audit_independence CHECK (independence = 'self' OR independence = 'commissioned' OR independence = 'third_party'),
	CONSTRAINT uq_audit_log_audit UNIQUE (log, audit),
	CONSTRAINT uq_audit_log_audit_claim_revision UNIQUE (log, audit, claim, revision),
	CONSTRAINT fk_audit_audit_identifier FOREIGN KEY(log, audit) REFERENCES identifier (log, id),
	CONSTRAINT fk_audit_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_audit_auditor_authority FOREIGN KEY(log, auditor) REFERENCES authority (log, code),
	CONSTRAINT fk_audit_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_audit_log_claim ON audit (log, claim)

CREATE TABLE audited_phrase (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	quote BIGINT NOT NULL,
	phrase BIGINT NOT NULL,
	CONSTRAINT pk_audited_phrase PRIMARY KEY (log, quote, phrase),
	CONSTRAINT fk_audited_phrase_quote_claim_revision FOREIGN KEY(log, quote) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_audited_phrase_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_audited_phrase_log_phrase_seq_quote ON audited_phrase (log, phrase, seq, quote)

CREATE INDEX ix_audited_phrase_log_seq ON audited_phrase (log, seq)

CREATE TABLE claim_context (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	position BIGINT NOT NULL,
	context TEXT NOT NULL,
	context_version BIGINT NOT NULL,
	context_kind TEXT NOT NULL,
	CONSTRAINT pk_claim_context PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_claim_context_context_is_deploy_context CHECK (context_kind = 'deploy_context'),
	CONSTRAINT ck_claim_context_context_whole CHECK ((context IS NULL) = (context_version IS NULL)),
	CONSTRAINT ck_claim_context_context_typed CHECK ((context IS NULL) = (context_kind IS NULL)),
	CONSTRAINT fk_claim_context_context_kind_spec_version FOREIGN KEY(log, context, context_version, context_kind) REFERENCES spec_version (log, spec, version, kind),
	CONSTRAINT fk_claim_context_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_context_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE claim_origin (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	origin TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	entry BIGINT NOT NULL,
	leaf BYTEA NOT NULL,
	CONSTRAINT pk_claim_origin PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_origin_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_origin_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT ck_claim_origin_from_1 CHECK (revision >= 1 AND entry >= 1),
	CONSTRAINT fk_claim_origin_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_origin_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_claim_origin_log_origin_claim ON claim_origin (log, origin, claim)

CREATE TABLE claim_place (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	card TEXT NOT NULL,
	card_revision BIGINT NOT NULL,
	size BIGINT NOT NULL,
	start BIGINT NOT NULL,
	stop BIGINT NOT NULL,
	CONSTRAINT pk_claim_place PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_place_stop_after_start CHECK (start >= 0 AND stop > start),
	CONSTRAINT fk_claim_place_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_claim_place_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_claim_place_log_card_card_revision_size_start ON claim_place (log, card, card_revision, size, start)

CREATE TABLE claim_text (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	quote TEXT NOT NULL,
	note TEXT,
	CONSTRAINT pk_claim_text PRIMARY KEY (log, seq),
	CONSTRAINT fk_claim_text_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_text_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE monitor (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	authority TEXT NOT NULL,
	at BIGINT NOT NULL,
	theta DOUBLE PRECISION NOT NULL,
	scoring TEXT,
	CONSTRAINT pk_monitor PRIMARY KEY (log, seq),
	CONSTRAINT ck_monitor_monitor_begins CHECK (substr(monitor, 1, 4) = 'MON-'),
	CONSTRAINT uq_monitor_log_monitor UNIQUE (log, monitor),
	CONSTRAINT uq_monitor_log_monitor_claim_revision UNIQUE (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_monitor_identifier FOREIGN KEY(log, monitor) REFERENCES identifier (log, id),
	CONSTRAINT fk_monitor_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_monitor_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_monitor_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_monitor_log_claim ON monitor (log, claim)

CREATE TABLE objection (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	objection TEXT NOT NULL,
	claim TEXT,
	revision BIGINT,
	spec TEXT,
	version BIGINT,
	contested_by TEXT NOT NULL,
	rival TEXT,
	rival_version BIGINT,
	CONSTRAINT pk_objection PRIMARY KEY (log, seq),
	CONSTRAINT ck_objection_objection_begins CHECK (substr(objection, 1, 4) = 'CON-'),
	CONSTRAINT ck_objection_one_target CHECK ((claim IS NULL) <> (spec IS NULL)),
	CONSTRAINT ck_objection_target_whole CHECK ((claim IS NULL) = (revision IS NULL) AND (spec IS NULL) = (version IS NULL)),
	CONSTRAINT ck_objection_rival_whole CHECK ((rival IS NULL) = (rival_version IS NULL)),
	CONSTRAINT uq_objection_log_objection UNIQUE (log, objection),
	CONSTRAINT fk_objection_objection_identifier FOREIGN KEY(log, objection) REFERENCES identifier (log, id),
	CONSTRAINT fk_objection_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_objection_version_spec_version FOREIGN KEY(log, spec, version) REFERENCES spec_version (log, spec, version),
	CONSTRAINT fk_objection_rival_version_spec_version FOREIGN KEY(log, rival, rival_version) REFERENCES spec_version (log, spec, version),
	CONSTRAINT fk_objection_contested_by_authority FOREIGN KEY(log, contested_by) REFERENCES authority (log, code),
	CONSTRAINT fk_objection_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_objection_log_claim ON objection (log, claim)

CREATE INDEX ix_objection_log_rival ON objection (log, rival)

CREATE INDEX ix_objection_log_spec ON objection (log, spec)

CREATE TABLE passage_match (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	card TEXT NOT NULL,
	card_revision BIGINT NOT NULL,
	match_result TEXT NOT NULL,
	alarm BIGINT NOT NULL,
	start BIGINT,
	stop BIGINT,
	CONSTRAINT pk_passage_match PRIMARY KEY (log, seq),
	CONSTRAINT ck_passage_match_match_result CHECK (match_result = 'unchanged' OR match_result = 'moved' OR match_result = 'reworded' OR match_result = 'gone'),
	CONSTRAINT ck_passage_match_alarm_agrees CHECK (CASE match_result WHEN 'gone' THEN alarm = 1 WHEN 'reworded' THEN alarm IN (0, 1) ELSE alarm = 0 END),
	CONSTRAINT ck_passage_match_placed_unless_gone CHECK ((match_result = 'gone') = (start IS NULL) AND (start IS NULL) = (stop IS NULL)),
	CONSTRAINT ck_passage_match_stop_after_start CHECK (start >= 0 AND stop > start),
	CONSTRAINT uq_passage_match_log_claim_revision_card_card_revision UNIQUE (log, claim, revision, card, card_revision),
	CONSTRAINT fk_passage_match_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_passage_match_card_revision_card_revision FOREIGN KEY(log, card, card_revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT fk_passage_match_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_passage_match_log_card_card_revision ON passage_match (log, card, card_revision)

CREATE TABLE staleness_review (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	verdict TEXT NOT NULL,
	CONSTRAINT pk_staleness_review PRIMARY KEY (log, seq),
	CONSTRAINT ck_staleness_review_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_staleness_review_verdict CHECK (verdict = 'confirmed' OR verdict = 'dismissed'),
	CONSTRAINT fk_staleness_review_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_staleness_review_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_staleness_review_log_claim ON staleness_review (log, claim)

CREATE TABLE asked_name (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	position BIGINT NOT NULL,
	audit TEXT NOT NULL,
	name TEXT NOT NULL,
	CONSTRAINT pk_asked_name PRIMARY KEY (log, seq, position),
	CONSTRAINT fk_asked_name_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_asked_name_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_asked_name_log_audit ON asked_name (log, audit)

CREATE TABLE audit_rival (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	objection TEXT NOT NULL,
	CONSTRAINT pk_audit_rival PRIMARY KEY (log, seq),
	CONSTRAINT ck_audit_rival_objection_begins CHECK (substr(objection, 1, 4) = 'CON-'),
	CONSTRAINT fk_audit_rival_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_audit_rival_objection_objection FOREIGN KEY(log, objection) REFERENCES objection (log, objection),
	CONSTRAINT fk_audit_rival_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_audit_rival_log_audit ON audit_rival (log, audit)

CREATE INDEX ix_audit_rival_log_objection ON audit_rival (log, objection)

CREATE TABLE audit_withdrawal (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	CONSTRAINT pk_audit_withdrawal PRIMARY KEY (log, seq),
	CONSTRAINT uq_audit_withdrawal_log_audit UNIQUE (log, audit),
	CONSTRAINT fk_audit_withdrawal_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_audit_withdrawal_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE evidence (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	layer TEXT NOT NULL,
	access TEXT NOT NULL,
	kind TEXT,
	finding DOUBLE PRECISION,
	CONSTRAINT pk_evidence PRIMARY KEY (log, seq),
	CONSTRAINT ck_evidence_layer CHECK (layer = 'behavioural' OR layer = 'verbalised' OR layer = 'latent' OR layer = 'cue_sensitivity'),
	CONSTRAINT ck_evidence_access CHECK (access = 'available' OR access = 'unavailable' OR access = 'withheld'),
	CONSTRAINT ck_evidence_kind CHECK (kind = 'observation' OR kind = 'departure' OR kind = 'perturbation' OR kind = 'risk_amplifying' OR kind = 'adverse'),
	CONSTRAINT ck_evidence_unavailable_without_finding CHECK (access = 'available' OR finding IS NULL AND kind IS NULL),
	CONSTRAINT fk_evidence_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_evidence_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_evidence_log_audit ON evidence (log, audit)

CREATE TABLE exploration (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	scores BYTEA NOT NULL,
	CONSTRAINT pk_exploration PRIMARY KEY (log, seq),
	CONSTRAINT ck_exploration_scores_32_bytes CHECK (length(scores) = 32),
	CONSTRAINT fk_exploration_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_exploration_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_exploration_log_audit ON exploration (log, audit)

CREATE TABLE finding (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	what TEXT NOT NULL,
	CONSTRAINT pk_finding PRIMARY KEY (log, seq),
	CONSTRAINT ck_finding_what CHECK (what = 'naturalness' OR what = 'ablation' OR what = 'judge' OR what = 'probe' OR what = 'shift' OR what = 'control'),
	CONSTRAINT fk_finding_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_finding_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_finding_log_audit ON finding (log, audit)

CREATE TABLE forecast (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	audit TEXT NOT NULL,
	spec TEXT NOT NULL,
	authority TEXT NOT NULL,
	rate DOUBLE PRECISION NOT NULL,
	CONSTRAINT pk_forecast PRIMARY KEY (log, seq),
	CONSTRAINT ck_forecast_rate_is_share CHECK (rate BETWEEN 0 AND 1),
	CONSTRAINT uq_forecast_log_monitor_audit_spec UNIQUE (log, monitor, audit, spec),
	CONSTRAINT fk_forecast_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_forecast_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_forecast_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_forecast_log_audit ON forecast (log, audit)

CREATE INDEX ix_forecast_log_claim ON forecast (log, claim)

CREATE TABLE forecast_score (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	forecast BIGINT NOT NULL,
	observed DOUBLE PRECISION NOT NULL,
	CONSTRAINT pk_forecast_score PRIMARY KEY (log, seq),
	CONSTRAINT ck_forecast_score_observed_is_share CHECK (observed BETWEEN 0 AND 1),
	CONSTRAINT fk_forecast_score_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_forecast_score_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_forecast_score_log_claim ON forecast_score (log, claim)

CREATE INDEX ix_forecast_score_log_monitor ON forecast_score (log, monitor)

CREATE TABLE lock (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	at BIGINT NOT NULL,
	relation TEXT,
	theta DOUBLE PRECISION,
	direction TEXT NOT NULL,
	margin DOUBLE PRECISION,
	level DOUBLE PRECISION NOT NULL,
	CONSTRAINT pk_lock PRIMARY KEY (log, seq),
	CONSTRAINT ck_lock_relation CHECK (relation = '<=' OR relation = '>='),
	CONSTRAINT ck_lock_direction CHECK (direction = 'higher_is_safer' OR direction = 'lower_is_safer' OR direction = 'not_safety'),
	CONSTRAINT ck_lock_theta_agrees CHECK (theta IS NULL OR relation IS NOT NULL),
	CONSTRAINT ck_lock_level CHECK (level >= 0.5 AND level < 1),
	CONSTRAINT ck_lock_margin CHECK (margin > 0),
	CONSTRAINT uq_lock_log_audit UNIQUE (log, audit),
	CONSTRAINT uq_lock_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT uq_lock_log_audit_seq_at UNIQUE (log, audit, seq, at),
	CONSTRAINT fk_lock_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_lock_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE monitor_end (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	CONSTRAINT pk_monitor_end PRIMARY KEY (log, seq),
	CONSTRAINT uq_monitor_end_log_monitor UNIQUE (log, monitor),
	CONSTRAINT fk_monitor_end_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_end_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_monitor_end_log_claim ON monitor_end (log, claim)

CREATE TABLE monitor_incident (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	incident TEXT NOT NULL,
	occurred BIGINT NOT NULL,
	verified BIGINT NOT NULL,
	CONSTRAINT pk_monitor_incident PRIMARY KEY (log, seq),
	CONSTRAINT ck_monitor_incident_verified_or_not CHECK (verified IN (0, 1)),
	CONSTRAINT fk_monitor_incident_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_incident_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_monitor_incident_log_claim_revision ON monitor_incident (log, claim, revision)

CREATE INDEX ix_monitor_incident_log_monitor ON monitor_incident (log, monitor)

CREATE TABLE monitor_window (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	number BIGINT NOT NULL,
	correction BIGINT NOT NULL,
	start BIGINT NOT NULL,
	alarm BIGINT,
	attribution TEXT,
	judge_alarm BIGINT,
	CONSTRAINT pk_monitor_window PRIMARY KEY (log, seq),
	CONSTRAINT ck_monitor_window_attribution CHECK (attribution = 'system' OR attribution = 'judge' OR attribution = 'corrected' OR attribution = 'open' OR attribution = 'unknown'),
	CONSTRAINT ck_monitor_window_counted CHECK (number >= 1 AND correction >= 0),
	CONSTRAINT ck_monitor_window_alarm_is_attributed CHECK ((alarm IS NULL) = (attribution IS NULL)),
	CONSTRAINT ck_monitor_window_alarm_is_not_ahead CHECK (alarm <= number OR correction > 0),
	CONSTRAINT uq_monitor_window_log_monitor_number_correction UNIQUE (log, monitor, number, correction),
	CONSTRAINT fk_monitor_window_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_window_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_monitor_window_log_claim_revision ON monitor_window (log, claim, revision)

CREATE TABLE objection_event (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	objection TEXT NOT NULL,
	step TEXT NOT NULL,
	CONSTRAINT pk_objection_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_objection_event_step CHECK (step = 'answered' OR step = 'upheld' OR step = 'rejected' OR step = 'escalated'),
	CONSTRAINT fk_objection_event_objection_objection FOREIGN KEY(log, objection) REFERENCES objection (log, objection),
	CONSTRAINT fk_objection_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_objection_event_log_objection ON objection_event (log, objection)

CREATE TABLE outcome_validity (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	valid_until TEXT NOT NULL,
	CONSTRAINT pk_outcome_validity PRIMARY KEY (log, seq),
	CONSTRAINT ck_outcome_validity_valid_until_is_a_day CHECK (length(valid_until) = 10),
	CONSTRAINT fk_outcome_validity_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_outcome_validity_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE publication (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	subject TEXT NOT NULL,
	revision BIGINT NOT NULL,
	audit TEXT,
	format TEXT NOT NULL,
	sha256 BYTEA NOT NULL,
	record BYTEA NOT NULL,
	template BYTEA NOT NULL,
	log_size BIGINT NOT NULL,
	CONSTRAINT pk_publication PRIMARY KEY (log, seq),
	CONSTRAINT ck_publication_format CHECK (format = 'pdf' OR format = 'html' OR format = 'json'),
	CONSTRAINT ck_publication_sha256_32_bytes CHECK (length(sha256) = 32),
	CONSTRAINT ck_publication_record_32_bytes CHECK (length(record) = 32),
	CONSTRAINT ck_publication_template_32_bytes CHECK (length(template) = 32),
	CONSTRAINT ck_publication_made_before_recorded CHECK (log_size < seq),
	CONSTRAINT fk_publication_subject_identifier FOREIGN KEY(log, subject) REFERENCES identifier (log, id),
	CONSTRAINT fk_publication_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_publication_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_publication_log_audit ON publication (log, audit)

CREATE INDEX ix_publication_log_sha256 ON publication (log, sha256)

CREATE INDEX ix_publication_log_subject ON publication (log, subject)

CREATE TABLE reviewed_cause (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	position BIGINT NOT NULL,
	kind TEXT NOT NULL,
	what TEXT NOT NULL,
	CONSTRAINT pk_reviewed_cause PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_reviewed_cause_kind CHECK (kind = 'successor' OR kind = 'deprecation' OR kind = 'card' OR kind = 'spec' OR kind = 'method' OR kind = 'objection' OR kind = 'expiry' OR kind = 'monitor' OR kind = 'revision'),
	CONSTRAINT fk_reviewed_cause_seq_staleness_review FOREIGN KEY(log, seq) REFERENCES staleness_review (log, seq),
	CONSTRAINT fk_reviewed_cause_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE deviation (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	item TEXT NOT NULL,
	found BIGINT NOT NULL,
	CONSTRAINT pk_deviation PRIMARY KEY (log, seq),
	CONSTRAINT ck_deviation_item CHECK (item = 'theta' OR item = 'direction' OR item = 'margin' OR item = 'epsilon' OR item = 'level' OR item = 'interval' OR item = 'test_contexts' OR item = 'deploy_contexts' OR item = 'tasks' OR item = 'cues' OR item = 'scoring' OR item = 'model' OR item = 'budget' OR item = 'stopping_rule' OR item = 'exclusions' OR item = 'other'),
	CONSTRAINT ck_deviation_found CHECK (found IN (0, 1)),
	CONSTRAINT fk_deviation_audit_lock FOREIGN KEY(log, audit) REFERENCES lock (log, audit),
	CONSTRAINT fk_deviation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_deviation_log_audit ON deviation (log, audit)

CREATE TABLE run (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	lock BIGINT NOT NULL,
	lock_at BIGINT NOT NULL,
	started_at BIGINT NOT NULL,
	status TEXT NOT NULL,
	scores BYTEA NOT NULL,
	responses BIGINT NOT NULL,
	excluded BIGINT NOT NULL,
	corpus BIGINT,
	CONSTRAINT pk_run PRIMARY KEY (log, seq),
	CONSTRAINT ck_run_status CHECK (status = 'completed' OR status = 'aborted' OR status = 'failed'),
	CONSTRAINT ck_run_scores_32_bytes CHECK (length(scores) = 32),
	CONSTRAINT ck_run_lock_before_run CHECK (lock < seq),
	CONSTRAINT ck_run_started_after_lock CHECK (started_at >= lock_at),
	CONSTRAINT ck_run_counts CHECK (responses >= 0 AND excluded >= 0),
	CONSTRAINT uq_run_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT fk_run_lock_at_lock FOREIGN KEY(log, audit, lock, lock_at) REFERENCES lock (log, audit, seq, at),
	CONSTRAINT fk_run_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE run_start (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	lock BIGINT NOT NULL,
	run TEXT NOT NULL,
	CONSTRAINT pk_run_start PRIMARY KEY (log, seq),
	CONSTRAINT ck_run_start_lock_before_start CHECK (lock < seq),
	CONSTRAINT ck_run_start_run_32_digits CHECK (length(run) = 32),
	CONSTRAINT uq_run_start_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT uq_run_start_log_audit_run UNIQUE (log, audit, run),
	CONSTRAINT fk_run_start_lock_lock FOREIGN KEY(log, audit, lock) REFERENCES lock (log, audit, seq),
	CONSTRAINT fk_run_start_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE result (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	lock BIGINT NOT NULL,
	run BIGINT NOT NULL,
	CONSTRAINT pk_result PRIMARY KEY (log, seq),
	CONSTRAINT ck_result_lock_before_run_before_result CHECK (lock < run AND run < seq),
	CONSTRAINT uq_result_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT fk_result_lock_lock FOREIGN KEY(log, audit, lock) REFERENCES lock (log, audit, seq),
	CONSTRAINT fk_result_run_run FOREIGN KEY(log, audit, run) REFERENCES run (log, audit, seq),
	CONSTRAINT fk_result_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE run_end (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	audit TEXT NOT NULL,
	start BIGINT NOT NULL,
	status TEXT NOT NULL,
	calls BIGINT NOT NULL,
	CONSTRAINT pk_run_end PRIMARY KEY (log, seq),
	CONSTRAINT ck_run_end_status CHECK (status = 'completed' OR status = 'aborted' OR status = 'failed' OR status = 'imported'),
	CONSTRAINT ck_run_end_start_before_end CHECK (start < seq),
	CONSTRAINT ck_run_end_calls CHECK (calls >= 0),
	CONSTRAINT fk_run_end_start_run_start FOREIGN KEY(log, audit, start) REFERENCES run_start (log, audit, seq),
	CONSTRAINT fk_run_end_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_run_end_log_audit ON run_end (log, audit)

CREATE TABLE estimate (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	position BIGINT NOT NULL,
	spec TEXT NOT NULL,
	judge TEXT NOT NULL,
	ed DOUBLE PRECISION NOT NULL,
	low DOUBLE PRECISION,
	high DOUBLE PRECISION,
	replayed BIGINT NOT NULL,
	corpus BIGINT,
	CONSTRAINT pk_estimate PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_estimate_interval_whole CHECK ((low IS NULL) = (high IS NULL)),
	CONSTRAINT ck_estimate_ed_in_interval CHECK (low <= ed AND ed <= high),
	CONSTRAINT ck_estimate_replayed_of_corpus CHECK (replayed <= corpus),
	CONSTRAINT uq_estimate_log_seq_spec_judge UNIQUE (log, seq, spec, judge),
	CONSTRAINT fk_estimate_seq_result FOREIGN KEY(log, seq) REFERENCES result (log, seq),
	CONSTRAINT fk_estimate_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE TABLE restriction (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	reading BIGINT NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision BIGINT NOT NULL,
	form TEXT NOT NULL,
	as_form TEXT NOT NULL,
	class TEXT NOT NULL,
	standing TEXT,
	mode TEXT,
	basis TEXT NOT NULL,
	result BIGINT,
	resolves TEXT,
	CONSTRAINT pk_restriction PRIMARY KEY (log, seq, reading),
	CONSTRAINT ck_restriction_form CHECK (form = 'existence' OR form = 'upper_bound' OR form = 'lower_bound' OR form = 'prevalence' OR form = 'threshold'),
	CONSTRAINT ck_restriction_as_form CHECK (as_form = 'existence' OR as_form = 'upper_bound' OR as_form = 'lower_bound' OR as_form = 'prevalence' OR as_form = 'threshold'),
	CONSTRAINT ck_restriction_class CHECK (class = 'stable' OR class = 'degraded' OR class = 'inverted' OR class = 'undetermined'),
	CONSTRAINT ck_restriction_standing CHECK (standing = 'established' OR standing = 'candidate' OR standing = 'structural_risk' OR standing = 'direction_verified' OR standing = 'observed_condition' OR standing = 'conditional' OR standing = 'provisional'),
	CONSTRAINT ck_restriction_mode CHECK (mode = 'technical' OR mode = 'ontological' OR mode = 'noisy'),
	CONSTRAINT ck_restriction_basis CHECK (basis = 'replay' OR basis = 'reported' OR basis = 'none'),
	CONSTRAINT ck_restriction_primary_in_own_form CHECK (reading > 0 OR form = as_form),
	CONSTRAINT ck_restriction_inverted_needs_threshold CHECK (class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')),
	CONSTRAINT ck_restriction_established_inversion_needs_replay CHECK (NOT (class = 'inverted' AND coalesce(standing, '') = 'established') OR basis = 'replay' AND result IS NOT NULL),
	CONSTRAINT ck_restriction_replay_names_result CHECK (basis <> 'replay' OR result IS NOT NULL),
	CONSTRAINT ck_restriction_undetermined_has_mode CHECK ((class = 'undetermined') = (mode IS NOT NULL)),
	CONSTRAINT ck_restriction_undetermined_resolves CHECK ((class = 'undetermined') = (coalesce(length(trim(resolves)), 0) > 0)),
	CONSTRAINT fk_restriction_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_restriction_result_result FOREIGN KEY(log, audit, result) REFERENCES result (log, audit, seq),
	CONSTRAINT fk_restriction_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE INDEX ix_restriction_log_audit ON restriction (log, audit)

CREATE INDEX ix_restriction_log_claim_revision ON restriction (log, claim, revision)

CREATE TABLE verdict (
	log BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	reading BIGINT NOT NULL,
	verdict TEXT NOT NULL,
	standing TEXT,
	CONSTRAINT pk_verdict PRIMARY KEY (log, seq, reading),
	CONSTRAINT ck_verdict_verdict CHECK (verdict = 'holds' OR verdict = 'does_not_carry_over' OR verdict = 'contradicted' OR verdict = 'not_reproduced' OR verdict = 'observed' OR verdict = 'contradicted_in_production' OR verdict = 'in_doubt' OR verdict = 'inconclusive' OR verdict = 'not_testable'),
	CONSTRAINT ck_verdict_standing CHECK (standing = 'established' OR standing = 'conditional' OR standing = 'provisional'),
	CONSTRAINT fk_verdict_reading_restriction FOREIGN KEY(log, seq, reading) REFERENCES restriction (log, seq, reading),
	CONSTRAINT fk_verdict_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)

CREATE FUNCTION caveat_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING MESSAGE = 'append-only: ' || TG_TABLE_NAME || ' takes no ' || TG_OP, ERRCODE = '23000'; END $$

CREATE TRIGGER content__change BEFORE UPDATE ON content FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER content__truncate BEFORE TRUNCATE ON content FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER log__change BEFORE UPDATE OR DELETE ON log FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER log__truncate BEFORE TRUNCATE ON log FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER entry__change BEFORE UPDATE OR DELETE ON entry FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER entry__truncate BEFORE TRUNCATE ON entry FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_entry_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry WHERE log = NEW.log) THEN RAISE EXCEPTION 'has-gap: entry.seq must follow the last one' USING ERRCODE = '23000'; END IF; IF NEW.at < (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq - 1) THEN RAISE EXCEPTION 'out-of-order: entry.at must not lie before the entry that precedes it' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER entry__insert BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION caveat_entry_insert()

CREATE TRIGGER authority__change BEFORE UPDATE OR DELETE ON authority FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER authority__truncate BEFORE TRUNCATE ON authority FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER body__change BEFORE UPDATE ON body FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER body__truncate BEFORE TRUNCATE ON body FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER checkpoint__change BEFORE UPDATE OR DELETE ON checkpoint FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER checkpoint__truncate BEFORE TRUNCATE ON checkpoint FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_checkpoint_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log) THEN RAISE EXCEPTION 'entry-not-found: a checkpoint is of entries that are recorded' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER checkpoint__insert BEFORE INSERT ON checkpoint FOR EACH ROW EXECUTE FUNCTION caveat_checkpoint_insert()

CREATE TRIGGER equivocation__change BEFORE UPDATE OR DELETE ON equivocation FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER equivocation__truncate BEFORE TRUNCATE ON equivocation FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER erasure__change BEFORE UPDATE OR DELETE ON erasure FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER erasure__truncate BEFORE TRUNCATE ON erasure FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_erasure_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased) THEN RAISE EXCEPTION 'history-differs: erasure.leaf must be the leaf of the entry' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER erasure__insert BEFORE INSERT ON erasure FOR EACH ROW EXECUTE FUNCTION caveat_erasure_insert()

CREATE TRIGGER log_import__change BEFORE UPDATE OR DELETE ON log_import FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER log_import__truncate BEFORE TRUNCATE ON log_import FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_version__change BEFORE UPDATE OR DELETE ON model_version FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_version__truncate BEFORE TRUNCATE ON model_version FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER node__change BEFORE UPDATE OR DELETE ON node FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER node__truncate BEFORE TRUNCATE ON node FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER signature__change BEFORE UPDATE OR DELETE ON signature FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER signature__truncate BEFORE TRUNCATE ON signature FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER time_anchor__change BEFORE UPDATE OR DELETE ON time_anchor FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER time_anchor__truncate BEFORE TRUNCATE ON time_anchor FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER witnessing__change BEFORE UPDATE OR DELETE ON witnessing FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER witnessing__truncate BEFORE TRUNCATE ON witnessing FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER cosignature__change BEFORE UPDATE OR DELETE ON cosignature FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER cosignature__truncate BEFORE TRUNCATE ON cosignature FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER identifier__change BEFORE UPDATE OR DELETE ON identifier FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER identifier__truncate BEFORE TRUNCATE ON identifier FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_identifier_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM identifier WHERE log = NEW.log AND kind = NEW.kind AND authority = NEW.authority AND year = NEW.year) THEN RAISE EXCEPTION 'has-gap: identifier.number must follow the last one' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER identifier__insert BEFORE INSERT ON identifier FOR EACH ROW EXECUTE FUNCTION caveat_identifier_insert()

CREATE TRIGGER key_event__change BEFORE UPDATE OR DELETE ON key_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER key_event__truncate BEFORE TRUNCATE ON key_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_endpoint__change BEFORE UPDATE OR DELETE ON model_endpoint FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_endpoint__truncate BEFORE TRUNCATE ON model_endpoint FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_event__change BEFORE UPDATE OR DELETE ON model_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER model_event__truncate BEFORE TRUNCATE ON model_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER card_revision__change BEFORE UPDATE OR DELETE ON card_revision FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER card_revision__truncate BEFORE TRUNCATE ON card_revision FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_card_revision_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM card_revision WHERE log = NEW.log AND card = NEW.card) THEN RAISE EXCEPTION 'has-gap: card_revision.revision must follow the last one' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER card_revision__insert BEFORE INSERT ON card_revision FOR EACH ROW EXECUTE FUNCTION caveat_card_revision_insert()

CREATE TRIGGER claim_event__change BEFORE UPDATE OR DELETE ON claim_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_event__truncate BEFORE TRUNCATE ON claim_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_relation__change BEFORE UPDATE OR DELETE ON claim_relation FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_relation__truncate BEFORE TRUNCATE ON claim_relation FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER spec__change BEFORE UPDATE OR DELETE ON spec FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER spec__truncate BEFORE TRUNCATE ON spec FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER omission__change BEFORE UPDATE OR DELETE ON omission FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER omission__truncate BEFORE TRUNCATE ON omission FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER spec_version__change BEFORE UPDATE OR DELETE ON spec_version FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER spec_version__truncate BEFORE TRUNCATE ON spec_version FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_spec_version_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM spec_version WHERE log = NEW.log AND spec = NEW.spec) THEN RAISE EXCEPTION 'has-gap: spec_version.version must follow the last one' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER spec_version__insert BEFORE INSERT ON spec_version FOR EACH ROW EXECUTE FUNCTION caveat_spec_version_insert()

CREATE TRIGGER survey__change BEFORE UPDATE OR DELETE ON survey FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER survey__truncate BEFORE TRUNCATE ON survey FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_revision__change BEFORE UPDATE OR DELETE ON claim_revision FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_revision__truncate BEFORE TRUNCATE ON claim_revision FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_claim_revision_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim) THEN RAISE EXCEPTION 'has-gap: claim_revision.revision must follow the last one' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER claim_revision__insert BEFORE INSERT ON claim_revision FOR EACH ROW EXECUTE FUNCTION caveat_claim_revision_insert()

CREATE TRIGGER reveal__change BEFORE UPDATE OR DELETE ON reveal FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER reveal__truncate BEFORE TRUNCATE ON reveal FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_reveal_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF (SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL THEN RAISE EXCEPTION 'seal-not-needed: only a sealed specification is revealed' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER reveal__insert BEFORE INSERT ON reveal FOR EACH ROW EXECUTE FUNCTION caveat_reveal_insert()

CREATE TRIGGER audit__change BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audit__truncate BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audited_phrase__change BEFORE UPDATE ON audited_phrase FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audited_phrase__truncate BEFORE TRUNCATE ON audited_phrase FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_context__change BEFORE UPDATE OR DELETE ON claim_context FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_context__truncate BEFORE TRUNCATE ON claim_context FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_origin__change BEFORE UPDATE OR DELETE ON claim_origin FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_origin__truncate BEFORE TRUNCATE ON claim_origin FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_place__change BEFORE UPDATE OR DELETE ON claim_place FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_place__truncate BEFORE TRUNCATE ON claim_place FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_text__change BEFORE UPDATE ON claim_text FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER claim_text__truncate BEFORE TRUNCATE ON claim_text FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor__change BEFORE UPDATE OR DELETE ON monitor FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor__truncate BEFORE TRUNCATE ON monitor FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_monitor_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE EXCEPTION 'not-its-time: monitor.at must be the time of its entry' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER monitor__insert BEFORE INSERT ON monitor FOR EACH ROW EXECUTE FUNCTION caveat_monitor_insert()

CREATE TRIGGER objection__change BEFORE UPDATE OR DELETE ON objection FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER objection__truncate BEFORE TRUNCATE ON objection FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER passage_match__change BEFORE UPDATE OR DELETE ON passage_match FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER passage_match__truncate BEFORE TRUNCATE ON passage_match FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_passage_match_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision) THEN RAISE EXCEPTION 'wrong-document: a passage match is of a quoted passage, in another revision of the card it is quoted from' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER passage_match__insert BEFORE INSERT ON passage_match FOR EACH ROW EXECUTE FUNCTION caveat_passage_match_insert()

CREATE TRIGGER staleness_review__change BEFORE UPDATE OR DELETE ON staleness_review FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER staleness_review__truncate BEFORE TRUNCATE ON staleness_review FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER asked_name__change BEFORE UPDATE OR DELETE ON asked_name FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER asked_name__truncate BEFORE TRUNCATE ON asked_name FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audit_rival__change BEFORE UPDATE OR DELETE ON audit_rival FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audit_rival__truncate BEFORE TRUNCATE ON audit_rival FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audit_withdrawal__change BEFORE UPDATE OR DELETE ON audit_withdrawal FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER audit_withdrawal__truncate BEFORE TRUNCATE ON audit_withdrawal FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER evidence__change BEFORE UPDATE OR DELETE ON evidence FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER evidence__truncate BEFORE TRUNCATE ON evidence FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER exploration__change BEFORE UPDATE OR DELETE ON exploration FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER exploration__truncate BEFORE TRUNCATE ON exploration FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER finding__change BEFORE UPDATE OR DELETE ON finding FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER finding__truncate BEFORE TRUNCATE ON finding FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_finding_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq) THEN RAISE EXCEPTION 'after-outcome: a finding enters an audit before its outcome' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER finding__insert BEFORE INSERT ON finding FOR EACH ROW EXECUTE FUNCTION caveat_finding_insert()

CREATE TRIGGER forecast__change BEFORE UPDATE OR DELETE ON forecast FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER forecast__truncate BEFORE TRUNCATE ON forecast FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_forecast_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE EXCEPTION 'forecast-too-late: forecast must come before the first window of its monitor' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER forecast__insert BEFORE INSERT ON forecast FOR EACH ROW EXECUTE FUNCTION caveat_forecast_insert()

CREATE TRIGGER forecast_score__change BEFORE UPDATE OR DELETE ON forecast_score FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER forecast_score__truncate BEFORE TRUNCATE ON forecast_score FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_forecast_score_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT EXISTS (SELECT 1 FROM forecast WHERE log = NEW.log AND seq = NEW.forecast AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE EXCEPTION 'forecast-unknown: forecast_score.forecast must be an earlier forecast for its monitor' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER forecast_score__insert BEFORE INSERT ON forecast_score FOR EACH ROW EXECUTE FUNCTION caveat_forecast_score_insert()

CREATE TRIGGER lock__change BEFORE UPDATE OR DELETE ON lock FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER lock__truncate BEFORE TRUNCATE ON lock FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_lock_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE EXCEPTION 'not-its-time: lock.at must be the time of its entry' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER lock__insert BEFORE INSERT ON lock FOR EACH ROW EXECUTE FUNCTION caveat_lock_insert()

CREATE TRIGGER monitor_end__change BEFORE UPDATE OR DELETE ON monitor_end FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor_end__truncate BEFORE TRUNCATE ON monitor_end FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor_incident__change BEFORE UPDATE OR DELETE ON monitor_incident FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor_incident__truncate BEFORE TRUNCATE ON monitor_incident FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_monitor_incident_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.occurred < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE EXCEPTION 'window-before-lock: monitor_incident.occurred must not be before the lock of its monitor' USING ERRCODE = '23000'; END IF; IF EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE EXCEPTION 'monitor-ended: monitor_incident must not come after the end of its monitor' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER monitor_incident__insert BEFORE INSERT ON monitor_incident FOR EACH ROW EXECUTE FUNCTION caveat_monitor_incident_insert()

CREATE TRIGGER monitor_window__change BEFORE UPDATE OR DELETE ON monitor_window FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER monitor_window__truncate BEFORE TRUNCATE ON monitor_window FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_monitor_window_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.start < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE EXCEPTION 'window-before-lock: monitor_window.start must not be before the lock of its monitor' USING ERRCODE = '23000'; END IF; IF NEW.correction = 0 AND NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE EXCEPTION 'window-missing: monitor_window.number must follow the last one' USING ERRCODE = '23000'; END IF; IF EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE EXCEPTION 'monitor-ended: monitor_window must not come after the end of its monitor' USING ERRCODE = '23000'; END IF; IF NEW.alarm IS NULL AND EXISTS (SELECT 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor AND alarm IS NOT NULL) THEN RAISE EXCEPTION 'alarm-taken-back: monitor_window.alarm must stay once it was raised' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER monitor_window__insert BEFORE INSERT ON monitor_window FOR EACH ROW EXECUTE FUNCTION caveat_monitor_window_insert()

CREATE TRIGGER objection_event__change BEFORE UPDATE OR DELETE ON objection_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER objection_event__truncate BEFORE TRUNCATE ON objection_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER outcome_validity__change BEFORE UPDATE OR DELETE ON outcome_validity FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER outcome_validity__truncate BEFORE TRUNCATE ON outcome_validity FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER publication__change BEFORE UPDATE OR DELETE ON publication FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER publication__truncate BEFORE TRUNCATE ON publication FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER reviewed_cause__change BEFORE UPDATE OR DELETE ON reviewed_cause FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER reviewed_cause__truncate BEFORE TRUNCATE ON reviewed_cause FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER deviation__change BEFORE UPDATE OR DELETE ON deviation FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER deviation__truncate BEFORE TRUNCATE ON deviation FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run__change BEFORE UPDATE OR DELETE ON run FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run__truncate BEFORE TRUNCATE ON run FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run_start__change BEFORE UPDATE OR DELETE ON run_start FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run_start__truncate BEFORE TRUNCATE ON run_start FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER result__change BEFORE UPDATE OR DELETE ON result FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER result__truncate BEFORE TRUNCATE ON result FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run_end__change BEFORE UPDATE OR DELETE ON run_end FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER run_end__truncate BEFORE TRUNCATE ON run_end FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER estimate__change BEFORE UPDATE OR DELETE ON estimate FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER estimate__truncate BEFORE TRUNCATE ON estimate FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER restriction__change BEFORE UPDATE OR DELETE ON restriction FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER restriction__truncate BEFORE TRUNCATE ON restriction FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

CREATE FUNCTION caveat_restriction_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.form <> (SELECT form FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision) THEN RAISE EXCEPTION 'verdict-inconsistent: restriction.form must be the form of the claim revision' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$

CREATE TRIGGER restriction__insert BEFORE INSERT ON restriction FOR EACH ROW EXECUTE FUNCTION caveat_restriction_insert()

CREATE TRIGGER verdict__change BEFORE UPDATE OR DELETE ON verdict FOR EACH ROW EXECUTE FUNCTION caveat_append_only()

CREATE TRIGGER verdict__truncate BEFORE TRUNCATE ON verdict FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()

