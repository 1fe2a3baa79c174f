CREATE TABLE content (
	sha256 BLOB NOT NULL,
	data BLOB NOT NULL,
	CONSTRAINT pk_content PRIMARY KEY (sha256),
	CONSTRAINT ck_content_sha256_32_bytes CHECK (length(sha256) = 32)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE log (
	id INTEGER NOT NULL,
	origin TEXT NOT NULL,
	vkey TEXT,
	CONSTRAINT pk_log PRIMARY KEY (id),
	CONSTRAINT uq_log_origin UNIQUE (origin)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE entry (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	kind TEXT NOT NULL,
	actor TEXT NOT NULL,
	at INTEGER NOT NULL,
	leaf BLOB NOT NULL,
	CONSTRAINT pk_entry PRIMARY KEY (log, seq),
	CONSTRAINT ck_entry_kind CHECK (kind = 'audit' OR kind = 'audit_withdrawal' OR kind = 'authority' OR kind = 'card' OR kind = 'claim_event' OR kind = 'claim_relation' OR kind = 'claim_revision' OR kind = 'deviation' OR kind = 'equivocation' OR kind = 'erasure' OR kind = 'evidence' OR kind = 'exploration' OR kind = 'finding' OR kind = 'forecast' OR kind = 'forecast_score' OR kind = 'key_event' OR kind = 'lock' OR kind = 'log_import' OR kind = 'model_endpoint' OR kind = 'model_event' OR kind = 'model_version' OR kind = 'monitor' OR kind = 'monitor_end' OR kind = 'monitor_incident' OR kind = 'monitor_window' OR kind = 'objection' OR kind = 'objection_event' OR kind = 'omission' OR kind = 'passage_match' OR kind = 'publication' OR kind = 'restriction' OR kind = 'result' OR kind = 'reveal' OR kind = 'run' OR kind = 'run_end' OR kind = 'run_start' OR kind = 'spec_version' OR kind = 'staleness_review' OR kind = 'survey' OR kind = 'time_anchor' OR kind = 'witnessing'),
	CONSTRAINT ck_entry_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT fk_entry_log FOREIGN KEY(log) REFERENCES log (id)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE authority (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	code TEXT NOT NULL,
	name TEXT NOT NULL,
	role TEXT NOT NULL,
	CONSTRAINT pk_authority PRIMARY KEY (log, seq),
	CONSTRAINT ck_authority_role CHECK (role = 'lab' OR role = 'institute' OR role = 'regulator' OR role = 'auditor'),
	CONSTRAINT uq_authority_log_code UNIQUE (log, code),
	CONSTRAINT fk_authority_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE body (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	json TEXT NOT NULL,
	CONSTRAINT pk_body PRIMARY KEY (log, seq),
	CONSTRAINT fk_body_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE checkpoint (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	root BLOB NOT NULL,
	note TEXT NOT NULL,
	at INTEGER NOT NULL,
	CONSTRAINT pk_checkpoint PRIMARY KEY (log, seq),
	CONSTRAINT ck_checkpoint_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_checkpoint_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE equivocation (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	origin TEXT NOT NULL,
	CONSTRAINT pk_equivocation PRIMARY KEY (log, seq),
	CONSTRAINT fk_equivocation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_equivocation_log_origin ON equivocation (log, origin)

CREATE TABLE erasure (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	erased INTEGER NOT NULL,
	leaf BLOB NOT NULL,
	CONSTRAINT pk_erasure PRIMARY KEY (log, seq),
	CONSTRAINT ck_erasure_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT ck_erasure_erased_before CHECK (erased < seq),
	CONSTRAINT uq_erasure_log_erased UNIQUE (log, erased),
	CONSTRAINT fk_erasure_erased_entry FOREIGN KEY(log, erased) REFERENCES entry (log, seq),
	CONSTRAINT fk_erasure_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE log_import (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	origin TEXT NOT NULL,
	size INTEGER NOT NULL,
	root BLOB NOT NULL,
	CONSTRAINT pk_log_import PRIMARY KEY (log, seq),
	CONSTRAINT ck_log_import_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_log_import_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_log_import_log_origin ON log_import (log, origin)

CREATE TABLE model_version (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_model_version_predecessor ON model_version (log, predecessor_developer, predecessor_name, predecessor_version)

CREATE TABLE node (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	level INTEGER NOT NULL,
	hash BLOB NOT NULL,
	CONSTRAINT pk_node PRIMARY KEY (log, seq, level),
	CONSTRAINT ck_node_level_of_sixteens CHECK (level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	CONSTRAINT ck_node_hash_32_bytes CHECK (length(hash) = 32),
	CONSTRAINT fk_node_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE signature (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	"key" BLOB NOT NULL,
	value BLOB NOT NULL,
	CONSTRAINT pk_signature PRIMARY KEY (log, seq),
	CONSTRAINT ck_signature_key_32_bytes CHECK (length(key) = 32),
	CONSTRAINT ck_signature_value_64_bytes CHECK (length(value) = 64),
	CONSTRAINT fk_signature_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE time_anchor (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	size INTEGER NOT NULL,
	root BLOB NOT NULL,
	CONSTRAINT pk_time_anchor PRIMARY KEY (log, seq),
	CONSTRAINT ck_time_anchor_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT ck_time_anchor_stamped_before_recorded CHECK (size < seq),
	CONSTRAINT fk_time_anchor_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_time_anchor_log_size ON time_anchor (log, size)

CREATE TABLE witnessing (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	origin TEXT NOT NULL,
	size INTEGER NOT NULL,
	root BLOB NOT NULL,
	CONSTRAINT pk_witnessing PRIMARY KEY (log, seq),
	CONSTRAINT ck_witnessing_root_32_bytes CHECK (length(root) = 32),
	CONSTRAINT fk_witnessing_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_witnessing_log_origin ON witnessing (log, origin)

CREATE TABLE cosignature (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	line TEXT NOT NULL,
	at INTEGER NOT NULL,
	CONSTRAINT pk_cosignature PRIMARY KEY (log, seq, line),
	CONSTRAINT fk_cosignature_seq_checkpoint FOREIGN KEY(log, seq) REFERENCES checkpoint (log, seq),
	CONSTRAINT fk_cosignature_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE identifier (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	authority TEXT NOT NULL,
	year INTEGER NOT NULL,
	number INTEGER NOT NULL,
	CONSTRAINT pk_identifier PRIMARY KEY (log, id),
	CONSTRAINT ck_identifier_kind CHECK (kind = 'CLM' OR kind = 'AUD' OR kind = 'CRD' OR kind = 'CTX' OR kind = 'PRP' OR kind = 'SCF' OR kind = 'CUE' OR kind = 'MTH' OR kind = 'CON' OR kind = 'MON'),
	CONSTRAINT ck_identifier_number_from_1 CHECK (number >= 1),
	CONSTRAINT ck_identifier_id_agrees CHECK (substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'),
	CONSTRAINT uq_identifier_log_kind_authority_year_number UNIQUE (log, kind, authority, year, number),
	CONSTRAINT fk_identifier_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_identifier_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE key_event (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	authority TEXT NOT NULL,
	event TEXT NOT NULL,
	"key" BLOB NOT NULL,
	algorithm TEXT NOT NULL,
	purpose TEXT NOT NULL,
	replaces BLOB,
	has_reason INTEGER NOT NULL,
	CONSTRAINT pk_key_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_key_event_event CHECK (event = 'add' OR event = 'rotate' OR event = 'revoke'),
	CONSTRAINT ck_key_event_algorithm CHECK (algorithm = 'ed25519' OR algorithm = 'ml-dsa-44' OR algorithm = 'ecdsa-p256'),
	CONSTRAINT ck_key_event_purpose CHECK (purpose = 'log' OR purpose = 'document' OR purpose = 'statement'),
	CONSTRAINT ck_key_event_key_32_bytes CHECK (length(key) = 32),
	CONSTRAINT ck_key_event_replaces_32_bytes CHECK (length(replaces) = 32),
	CONSTRAINT ck_key_event_rotate_names_replaced CHECK ((event = 'rotate') = (replaces IS NOT NULL)),
	CONSTRAINT ck_key_event_reason_given CHECK (event = 'add' OR has_reason = 1),
	CONSTRAINT uq_key_event_log_key_event UNIQUE (log, "key", event),
	CONSTRAINT fk_key_event_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_key_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE model_endpoint (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_model_endpoint_endpoint ON model_endpoint (log, endpoint)

CREATE INDEX ix_model_endpoint_log_developer_name_version ON model_endpoint (log, developer, name, version)

CREATE TABLE model_event (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	developer TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	event TEXT NOT NULL,
	predecessor_developer TEXT,
	predecessor_name TEXT,
	predecessor_version TEXT,
	descent TEXT,
	has_reason INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_model_event_log_developer_name_version ON model_event (log, developer, name, version)

CREATE INDEX ix_model_event_predecessor ON model_event (log, predecessor_developer, predecessor_name, predecessor_version)

CREATE TABLE card_revision (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	card TEXT NOT NULL,
	revision INTEGER NOT NULL,
	title TEXT NOT NULL,
	publisher TEXT NOT NULL,
	media_type TEXT NOT NULL,
	document BLOB NOT NULL,
	text BLOB NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE TABLE claim_event (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	claim TEXT NOT NULL,
	event TEXT NOT NULL,
	successor TEXT,
	has_reason INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_claim_event_log_claim ON claim_event (log, claim)

CREATE INDEX ix_claim_event_log_successor ON claim_event (log, successor)

CREATE TABLE claim_relation (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_claim_relation_log_other ON claim_relation (log, other)

CREATE TABLE spec (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE TABLE omission (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	card TEXT NOT NULL,
	revision INTEGER NOT NULL,
	start INTEGER NOT NULL,
	stop INTEGER NOT NULL,
	CONSTRAINT pk_omission PRIMARY KEY (log, seq),
	CONSTRAINT ck_omission_stop_after_start CHECK (start >= 0 AND stop > start),
	CONSTRAINT uq_omission_log_card_revision_start_stop UNIQUE (log, card, revision, start, stop),
	CONSTRAINT fk_omission_revision_card_revision FOREIGN KEY(log, card, revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT fk_omission_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE spec_version (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	spec TEXT NOT NULL,
	kind TEXT NOT NULL,
	version INTEGER NOT NULL,
	body TEXT,
	commitment BLOB,
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
 WITHOUT ROWID,
 STRICT

CREATE TABLE survey (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	card TEXT NOT NULL,
	revision INTEGER NOT NULL,
	engine TEXT NOT NULL,
	CONSTRAINT pk_survey PRIMARY KEY (log, seq),
	CONSTRAINT fk_survey_revision_card_revision FOREIGN KEY(log, card, revision) REFERENCES card_revision (log, card, revision),
	CONSTRAINT fk_survey_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_survey_log_card_revision ON survey (log, card, revision)

CREATE TABLE claim_revision (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	natural_key BLOB NOT NULL,
	quote_status TEXT NOT NULL,
	form TEXT NOT NULL,
	relation TEXT,
	theta REAL,
	direction TEXT NOT NULL,
	developer TEXT NOT NULL,
	model TEXT NOT NULL,
	model_version TEXT NOT NULL,
	card TEXT,
	card_revision INTEGER,
	property TEXT NOT NULL,
	property_version INTEGER NOT NULL,
	property_kind TEXT NOT NULL,
	scoring TEXT,
	scoring_version INTEGER,
	scoring_kind TEXT,
	test_context TEXT,
	test_context_version INTEGER,
	test_context_kind TEXT,
	has_why INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_claim_revision_log_card_card_revision ON claim_revision (log, card, card_revision)

CREATE INDEX ix_claim_revision_log_model_model_version ON claim_revision (log, model, model_version)

CREATE INDEX ix_claim_revision_log_natural_key ON claim_revision (log, natural_key)

CREATE INDEX ix_claim_revision_log_property ON claim_revision (log, property)

CREATE INDEX ix_claim_revision_unplaced ON claim_revision (log, property, card) WHERE (card IS NULL OR quote_status <> 'verbatim')

CREATE TABLE reveal (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	spec TEXT NOT NULL,
	version INTEGER NOT NULL,
	CONSTRAINT pk_reveal PRIMARY KEY (log, seq),
	CONSTRAINT uq_reveal_log_spec_version UNIQUE (log, spec, version),
	CONSTRAINT fk_reveal_version_spec_version FOREIGN KEY(log, spec, version) REFERENCES spec_version (log, spec, version),
	CONSTRAINT fk_reveal_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE audit (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_audit_log_claim ON audit (log, claim)

CREATE TABLE audited_phrase (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	quote INTEGER NOT NULL,
	phrase INTEGER NOT NULL,
	CONSTRAINT pk_audited_phrase PRIMARY KEY (log, quote, phrase),
	CONSTRAINT fk_audited_phrase_quote_claim_revision FOREIGN KEY(log, quote) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_audited_phrase_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_audited_phrase_log_phrase_seq_quote ON audited_phrase (log, phrase, seq, quote)

CREATE INDEX ix_audited_phrase_log_seq ON audited_phrase (log, seq)

CREATE TABLE claim_context (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	position INTEGER NOT NULL,
	context TEXT NOT NULL,
	context_version INTEGER NOT NULL,
	context_kind TEXT NOT NULL,
	CONSTRAINT pk_claim_context PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_claim_context_context_is_deploy_context CHECK (context_kind = 'deploy_context'),
	CONSTRAINT ck_claim_context_context_whole CHECK ((context IS NULL) = (context_version IS NULL)),
	CONSTRAINT ck_claim_context_context_typed CHECK ((context IS NULL) = (context_kind IS NULL)),
	CONSTRAINT fk_claim_context_context_kind_spec_version FOREIGN KEY(log, context, context_version, context_kind) REFERENCES spec_version (log, spec, version, kind),
	CONSTRAINT fk_claim_context_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_context_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE claim_origin (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	origin TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	entry INTEGER NOT NULL,
	leaf BLOB NOT NULL,
	CONSTRAINT pk_claim_origin PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_origin_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_claim_origin_leaf_32_bytes CHECK (length(leaf) = 32),
	CONSTRAINT ck_claim_origin_from_1 CHECK (revision >= 1 AND entry >= 1),
	CONSTRAINT fk_claim_origin_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_origin_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_claim_origin_log_origin_claim ON claim_origin (log, origin, claim)

CREATE TABLE claim_place (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	card TEXT NOT NULL,
	card_revision INTEGER NOT NULL,
	size INTEGER NOT NULL,
	start INTEGER NOT NULL,
	stop INTEGER NOT NULL,
	CONSTRAINT pk_claim_place PRIMARY KEY (log, seq),
	CONSTRAINT ck_claim_place_stop_after_start CHECK (start >= 0 AND stop > start),
	CONSTRAINT fk_claim_place_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_claim_place_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_claim_place_log_card_card_revision_size_start ON claim_place (log, card, card_revision, size, start)

CREATE TABLE claim_text (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	quote TEXT NOT NULL,
	note TEXT,
	CONSTRAINT pk_claim_text PRIMARY KEY (log, seq),
	CONSTRAINT fk_claim_text_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq),
	CONSTRAINT fk_claim_text_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE monitor (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	authority TEXT NOT NULL,
	at INTEGER NOT NULL,
	theta REAL NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_monitor_log_claim ON monitor (log, claim)

CREATE TABLE objection (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	objection TEXT NOT NULL,
	claim TEXT,
	revision INTEGER,
	spec TEXT,
	version INTEGER,
	contested_by TEXT NOT NULL,
	rival TEXT,
	rival_version INTEGER,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_objection_log_claim ON objection (log, claim)

CREATE INDEX ix_objection_log_rival ON objection (log, rival)

CREATE INDEX ix_objection_log_spec ON objection (log, spec)

CREATE TABLE passage_match (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	card TEXT NOT NULL,
	card_revision INTEGER NOT NULL,
	match_result TEXT NOT NULL,
	alarm INTEGER NOT NULL,
	start INTEGER,
	stop INTEGER,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_passage_match_log_card_card_revision ON passage_match (log, card, card_revision)

CREATE TABLE staleness_review (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	verdict TEXT NOT NULL,
	CONSTRAINT pk_staleness_review PRIMARY KEY (log, seq),
	CONSTRAINT ck_staleness_review_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'),
	CONSTRAINT ck_staleness_review_verdict CHECK (verdict = 'confirmed' OR verdict = 'dismissed'),
	CONSTRAINT fk_staleness_review_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision),
	CONSTRAINT fk_staleness_review_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_staleness_review_log_claim ON staleness_review (log, claim)

CREATE TABLE asked_name (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	position INTEGER NOT NULL,
	audit TEXT NOT NULL,
	name TEXT NOT NULL,
	CONSTRAINT pk_asked_name PRIMARY KEY (log, seq, position),
	CONSTRAINT fk_asked_name_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_asked_name_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_asked_name_log_audit ON asked_name (log, audit)

CREATE TABLE audit_rival (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	objection TEXT NOT NULL,
	CONSTRAINT pk_audit_rival PRIMARY KEY (log, seq),
	CONSTRAINT ck_audit_rival_objection_begins CHECK (substr(objection, 1, 4) = 'CON-'),
	CONSTRAINT fk_audit_rival_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_audit_rival_objection_objection FOREIGN KEY(log, objection) REFERENCES objection (log, objection),
	CONSTRAINT fk_audit_rival_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_audit_rival_log_audit ON audit_rival (log, audit)

CREATE INDEX ix_audit_rival_log_objection ON audit_rival (log, objection)

CREATE TABLE audit_withdrawal (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	CONSTRAINT pk_audit_withdrawal PRIMARY KEY (log, seq),
	CONSTRAINT uq_audit_withdrawal_log_audit UNIQUE (log, audit),
	CONSTRAINT fk_audit_withdrawal_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_audit_withdrawal_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE evidence (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	layer TEXT NOT NULL,
	access TEXT NOT NULL,
	kind TEXT,
	finding REAL,
	CONSTRAINT pk_evidence PRIMARY KEY (log, seq),
	CONSTRAINT ck_evidence_layer CHECK (layer = 'behavioural' OR layer = 'verbalised' OR layer = 'latent' OR layer = 'cue_sensitivity'),
	CONSTRAINT ck_evidence_access CHECK (access = 'available' OR access = 'unavailable' OR access = 'withheld'),
	CONSTRAINT ck_evidence_kind CHECK (kind = 'observation' OR kind = 'departure' OR kind = 'perturbation' OR kind = 'risk_amplifying' OR kind = 'adverse'),
	CONSTRAINT ck_evidence_unavailable_without_finding CHECK (access = 'available' OR finding IS NULL AND kind IS NULL),
	CONSTRAINT fk_evidence_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_evidence_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_evidence_log_audit ON evidence (log, audit)

CREATE TABLE exploration (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	scores BLOB NOT NULL,
	CONSTRAINT pk_exploration PRIMARY KEY (log, seq),
	CONSTRAINT ck_exploration_scores_32_bytes CHECK (length(scores) = 32),
	CONSTRAINT fk_exploration_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_exploration_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_exploration_log_audit ON exploration (log, audit)

CREATE TABLE finding (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	what TEXT NOT NULL,
	CONSTRAINT pk_finding PRIMARY KEY (log, seq),
	CONSTRAINT ck_finding_what CHECK (what = 'naturalness' OR what = 'ablation' OR what = 'judge' OR what = 'probe' OR what = 'shift' OR what = 'control'),
	CONSTRAINT fk_finding_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision),
	CONSTRAINT fk_finding_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_finding_log_audit ON finding (log, audit)

CREATE TABLE forecast (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	audit TEXT NOT NULL,
	spec TEXT NOT NULL,
	authority TEXT NOT NULL,
	rate REAL NOT NULL,
	CONSTRAINT pk_forecast PRIMARY KEY (log, seq),
	CONSTRAINT ck_forecast_rate_is_share CHECK (rate BETWEEN 0 AND 1),
	CONSTRAINT uq_forecast_log_monitor_audit_spec UNIQUE (log, monitor, audit, spec),
	CONSTRAINT fk_forecast_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_forecast_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code),
	CONSTRAINT fk_forecast_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_forecast_log_audit ON forecast (log, audit)

CREATE INDEX ix_forecast_log_claim ON forecast (log, claim)

CREATE TABLE forecast_score (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	forecast INTEGER NOT NULL,
	observed REAL NOT NULL,
	CONSTRAINT pk_forecast_score PRIMARY KEY (log, seq),
	CONSTRAINT ck_forecast_score_observed_is_share CHECK (observed BETWEEN 0 AND 1),
	CONSTRAINT fk_forecast_score_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_forecast_score_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_forecast_score_log_claim ON forecast_score (log, claim)

CREATE INDEX ix_forecast_score_log_monitor ON forecast_score (log, monitor)

CREATE TABLE lock (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	at INTEGER NOT NULL,
	relation TEXT,
	theta REAL,
	direction TEXT NOT NULL,
	margin REAL,
	level REAL NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE TABLE monitor_end (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	CONSTRAINT pk_monitor_end PRIMARY KEY (log, seq),
	CONSTRAINT uq_monitor_end_log_monitor UNIQUE (log, monitor),
	CONSTRAINT fk_monitor_end_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_end_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_monitor_end_log_claim ON monitor_end (log, claim)

CREATE TABLE monitor_incident (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	incident TEXT NOT NULL,
	occurred INTEGER NOT NULL,
	verified INTEGER NOT NULL,
	CONSTRAINT pk_monitor_incident PRIMARY KEY (log, seq),
	CONSTRAINT ck_monitor_incident_verified_or_not CHECK (verified IN (0, 1)),
	CONSTRAINT fk_monitor_incident_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_incident_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_monitor_incident_log_claim_revision ON monitor_incident (log, claim, revision)

CREATE INDEX ix_monitor_incident_log_monitor ON monitor_incident (log, monitor)

CREATE TABLE monitor_window (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	monitor TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	number INTEGER NOT NULL,
	correction INTEGER NOT NULL,
	start INTEGER NOT NULL,
	alarm INTEGER,
	attribution TEXT,
	judge_alarm INTEGER,
	CONSTRAINT pk_monitor_window PRIMARY KEY (log, seq),
	CONSTRAINT ck_monitor_window_attribution CHECK (attribution = 'system' OR attribution = 'judge' OR attribution = 'corrected' OR attribution = 'open' OR attribution = 'unknown'),
	CONSTRAINT ck_monitor_window_counted CHECK (number >= 1 AND correction >= 0),
	CONSTRAINT ck_monitor_window_alarm_is_attributed CHECK ((alarm IS NULL) = (attribution IS NULL)),
	CONSTRAINT ck_monitor_window_alarm_is_not_ahead CHECK (alarm <= number OR correction > 0),
	CONSTRAINT uq_monitor_window_log_monitor_number_correction UNIQUE (log, monitor, number, correction),
	CONSTRAINT fk_monitor_window_revision_monitor FOREIGN KEY(log, monitor, claim, revision) REFERENCES monitor (log, monitor, claim, revision),
	CONSTRAINT fk_monitor_window_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_monitor_window_log_claim_revision ON monitor_window (log, claim, revision)

CREATE TABLE objection_event (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	objection TEXT NOT NULL,
	step TEXT NOT NULL,
	CONSTRAINT pk_objection_event PRIMARY KEY (log, seq),
	CONSTRAINT ck_objection_event_step CHECK (step = 'answered' OR step = 'upheld' OR step = 'rejected' OR step = 'escalated'),
	CONSTRAINT fk_objection_event_objection_objection FOREIGN KEY(log, objection) REFERENCES objection (log, objection),
	CONSTRAINT fk_objection_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_objection_event_log_objection ON objection_event (log, objection)

CREATE TABLE outcome_validity (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	valid_until TEXT NOT NULL,
	CONSTRAINT pk_outcome_validity PRIMARY KEY (log, seq),
	CONSTRAINT ck_outcome_validity_valid_until_is_a_day CHECK (length(valid_until) = 10),
	CONSTRAINT fk_outcome_validity_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit),
	CONSTRAINT fk_outcome_validity_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE publication (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	subject TEXT NOT NULL,
	revision INTEGER NOT NULL,
	audit TEXT,
	format TEXT NOT NULL,
	sha256 BLOB NOT NULL,
	record BLOB NOT NULL,
	template BLOB NOT NULL,
	log_size INTEGER NOT NULL,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_publication_log_audit ON publication (log, audit)

CREATE INDEX ix_publication_log_sha256 ON publication (log, sha256)

CREATE INDEX ix_publication_log_subject ON publication (log, subject)

CREATE TABLE reviewed_cause (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	position INTEGER NOT NULL,
	kind TEXT NOT NULL,
	what TEXT NOT NULL,
	CONSTRAINT pk_reviewed_cause PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_reviewed_cause_kind CHECK (kind = 'successor' OR kind = 'deprecation' OR kind = 'card' OR kind = 'spec' OR kind = 'method' OR kind = 'objection' OR kind = 'expiry' OR kind = 'monitor' OR kind = 'revision'),
	CONSTRAINT fk_reviewed_cause_seq_staleness_review FOREIGN KEY(log, seq) REFERENCES staleness_review (log, seq),
	CONSTRAINT fk_reviewed_cause_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE deviation (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	item TEXT NOT NULL,
	found INTEGER NOT NULL,
	CONSTRAINT pk_deviation PRIMARY KEY (log, seq),
	CONSTRAINT ck_deviation_item CHECK (item = 'theta' OR item = 'direction' OR item = 'margin' OR item = 'epsilon' OR item = 'level' OR item = 'interval' OR item = 'test_contexts' OR item = 'deploy_contexts' OR item = 'tasks' OR item = 'cues' OR item = 'scoring' OR item = 'model' OR item = 'budget' OR item = 'stopping_rule' OR item = 'exclusions' OR item = 'other'),
	CONSTRAINT ck_deviation_found CHECK (found IN (0, 1)),
	CONSTRAINT fk_deviation_audit_lock FOREIGN KEY(log, audit) REFERENCES lock (log, audit),
	CONSTRAINT fk_deviation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_deviation_log_audit ON deviation (log, audit)

CREATE TABLE run (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	lock INTEGER NOT NULL,
	lock_at INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	status TEXT NOT NULL,
	scores BLOB NOT NULL,
	responses INTEGER NOT NULL,
	excluded INTEGER NOT NULL,
	corpus INTEGER,
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
 WITHOUT ROWID,
 STRICT

CREATE TABLE run_start (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	lock INTEGER NOT NULL,
	run TEXT NOT NULL,
	CONSTRAINT pk_run_start PRIMARY KEY (log, seq),
	CONSTRAINT ck_run_start_lock_before_start CHECK (lock < seq),
	CONSTRAINT ck_run_start_run_32_digits CHECK (length(run) = 32),
	CONSTRAINT uq_run_start_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT uq_run_start_log_audit_run UNIQUE (log, audit, run),
	CONSTRAINT fk_run_start_lock_lock FOREIGN KEY(log, audit, lock) REFERENCES lock (log, audit, seq),
	CONSTRAINT fk_run_start_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE result (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	lock INTEGER NOT NULL,
	run INTEGER NOT NULL,
	CONSTRAINT pk_result PRIMARY KEY (log, seq),
	CONSTRAINT ck_result_lock_before_run_before_result CHECK (lock < run AND run < seq),
	CONSTRAINT uq_result_log_audit_seq UNIQUE (log, audit, seq),
	CONSTRAINT fk_result_lock_lock FOREIGN KEY(log, audit, lock) REFERENCES lock (log, audit, seq),
	CONSTRAINT fk_result_run_run FOREIGN KEY(log, audit, run) REFERENCES run (log, audit, seq),
	CONSTRAINT fk_result_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE run_end (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	audit TEXT NOT NULL,
	start INTEGER NOT NULL,
	status TEXT NOT NULL,
	calls INTEGER NOT NULL,
	CONSTRAINT pk_run_end PRIMARY KEY (log, seq),
	CONSTRAINT ck_run_end_status CHECK (status = 'completed' OR status = 'aborted' OR status = 'failed' OR status = 'imported'),
	CONSTRAINT ck_run_end_start_before_end CHECK (start < seq),
	CONSTRAINT ck_run_end_calls CHECK (calls >= 0),
	CONSTRAINT fk_run_end_start_run_start FOREIGN KEY(log, audit, start) REFERENCES run_start (log, audit, seq),
	CONSTRAINT fk_run_end_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_run_end_log_audit ON run_end (log, audit)

CREATE TABLE estimate (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	position INTEGER NOT NULL,
	spec TEXT NOT NULL,
	judge TEXT NOT NULL,
	ed REAL NOT NULL,
	low REAL,
	high REAL,
	replayed INTEGER NOT NULL,
	corpus INTEGER,
	CONSTRAINT pk_estimate PRIMARY KEY (log, seq, position),
	CONSTRAINT ck_estimate_interval_whole CHECK ((low IS NULL) = (high IS NULL)),
	CONSTRAINT ck_estimate_ed_in_interval CHECK (low <= ed AND ed <= high),
	CONSTRAINT ck_estimate_replayed_of_corpus CHECK (replayed <= corpus),
	CONSTRAINT uq_estimate_log_seq_spec_judge UNIQUE (log, seq, spec, judge),
	CONSTRAINT fk_estimate_seq_result FOREIGN KEY(log, seq) REFERENCES result (log, seq),
	CONSTRAINT fk_estimate_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TABLE restriction (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	reading INTEGER NOT NULL,
	audit TEXT NOT NULL,
	claim TEXT NOT NULL,
	revision INTEGER NOT NULL,
	form TEXT NOT NULL,
	as_form TEXT NOT NULL,
	class TEXT NOT NULL,
	standing TEXT,
	mode TEXT,
	basis TEXT NOT NULL,
	result INTEGER,
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
 WITHOUT ROWID,
 STRICT

CREATE INDEX ix_restriction_log_audit ON restriction (log, audit)

CREATE INDEX ix_restriction_log_claim_revision ON restriction (log, claim, revision)

CREATE TABLE verdict (
	log INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	reading INTEGER NOT NULL,
	verdict TEXT NOT NULL,
	standing TEXT,
	CONSTRAINT pk_verdict PRIMARY KEY (log, seq, reading),
	CONSTRAINT ck_verdict_verdict CHECK (verdict = 'holds' OR verdict = 'does_not_carry_over' OR verdict = 'contradicted' OR verdict = 'not_reproduced' OR verdict = 'observed' OR verdict = 'contradicted_in_production' OR verdict = 'in_doubt' OR verdict = 'inconclusive' OR verdict = 'not_testable'),
	CONSTRAINT ck_verdict_standing CHECK (standing = 'established' OR standing = 'conditional' OR standing = 'provisional'),
	CONSTRAINT fk_verdict_reading_restriction FOREIGN KEY(log, seq, reading) REFERENCES restriction (log, seq, reading),
	CONSTRAINT fk_verdict_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

CREATE TRIGGER content__update BEFORE UPDATE ON content BEGIN SELECT RAISE(ABORT, 'append-only: content takes no UPDATE'); END

CREATE TRIGGER content__insert BEFORE INSERT ON content BEGIN SELECT CASE WHEN (SELECT 1 FROM content WHERE sha256 = NEW.sha256) THEN RAISE(ABORT, 'append-only: content holds this sha256') END; END

CREATE TRIGGER log__update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'append-only: log takes no UPDATE'); END

CREATE TRIGGER log__delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'append-only: log takes no DELETE'); END

CREATE TRIGGER log__insert BEFORE INSERT ON log BEGIN SELECT CASE WHEN (SELECT 1 FROM log WHERE id = NEW.id) THEN RAISE(ABORT, 'append-only: log holds this id') WHEN (SELECT 1 FROM log WHERE origin = NEW.origin) THEN RAISE(ABORT, 'append-only: log holds this origin') END; END

CREATE TRIGGER entry__update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append-only: entry takes no UPDATE'); END

CREATE TRIGGER entry__delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append-only: entry takes no DELETE'); END

CREATE TRIGGER entry__insert BEFORE INSERT ON entry BEGIN SELECT CASE WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry WHERE log = NEW.log) THEN RAISE(ABORT, 'has-gap: entry.seq must follow the last one') WHEN NEW.at < (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq - 1) THEN RAISE(ABORT, 'out-of-order: entry.at must not lie before the entry that precedes it') END; END

CREATE TRIGGER authority__update BEFORE UPDATE ON authority BEGIN SELECT RAISE(ABORT, 'append-only: authority takes no UPDATE'); END

CREATE TRIGGER authority__delete BEFORE DELETE ON authority BEGIN SELECT RAISE(ABORT, 'append-only: authority takes no DELETE'); END

CREATE TRIGGER authority__insert BEFORE INSERT ON authority BEGIN SELECT CASE WHEN (SELECT 1 FROM authority WHERE code = NEW.code AND log = NEW.log) THEN RAISE(ABORT, 'append-only: authority holds this code log') WHEN (SELECT 1 FROM authority WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: authority holds this log seq') END; END

CREATE TRIGGER body__update BEFORE UPDATE ON body BEGIN SELECT RAISE(ABORT, 'append-only: body takes no UPDATE'); END

CREATE TRIGGER body__insert BEFORE INSERT ON body BEGIN SELECT CASE WHEN (SELECT 1 FROM body WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: body holds this log seq') END; END

CREATE TRIGGER checkpoint__update BEFORE UPDATE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no UPDATE'); END

CREATE TRIGGER checkpoint__delete BEFORE DELETE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no DELETE'); END

CREATE TRIGGER checkpoint__insert BEFORE INSERT ON checkpoint BEGIN SELECT CASE WHEN NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log) THEN RAISE(ABORT, 'entry-not-found: a checkpoint is of entries that are recorded') WHEN (SELECT 1 FROM checkpoint WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: checkpoint holds this log seq') END; END

CREATE TRIGGER equivocation__update BEFORE UPDATE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no UPDATE'); END

CREATE TRIGGER equivocation__delete BEFORE DELETE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no DELETE'); END

CREATE TRIGGER equivocation__insert BEFORE INSERT ON equivocation BEGIN SELECT CASE WHEN (SELECT 1 FROM equivocation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: equivocation holds this log seq') END; END

CREATE TRIGGER erasure__update BEFORE UPDATE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no UPDATE'); END

CREATE TRIGGER erasure__delete BEFORE DELETE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no DELETE'); END

CREATE TRIGGER erasure__insert BEFORE INSERT ON erasure BEGIN SELECT CASE WHEN NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased) THEN RAISE(ABORT, 'history-differs: erasure.leaf must be the leaf of the entry') WHEN (SELECT 1 FROM erasure WHERE erased = NEW.erased AND log = NEW.log) THEN RAISE(ABORT, 'append-only: erasure holds this erased log') WHEN (SELECT 1 FROM erasure WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: erasure holds this log seq') END; END

CREATE TRIGGER log_import__update BEFORE UPDATE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no UPDATE'); END

CREATE TRIGGER log_import__delete BEFORE DELETE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no DELETE'); END

CREATE TRIGGER log_import__insert BEFORE INSERT ON log_import BEGIN SELECT CASE WHEN (SELECT 1 FROM log_import WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: log_import holds this log seq') END; END

CREATE TRIGGER model_version__update BEFORE UPDATE ON model_version BEGIN SELECT RAISE(ABORT, 'append-only: model_version takes no UPDATE'); END

CREATE TRIGGER model_version__delete BEFORE DELETE ON model_version BEGIN SELECT RAISE(ABORT, 'append-only: model_version takes no DELETE'); END

CREATE TRIGGER model_version__insert BEFORE INSERT ON model_version BEGIN SELECT CASE WHEN (SELECT 1 FROM model_version WHERE developer = NEW.developer AND log = NEW.log AND name = NEW.name AND version = NEW.version) THEN RAISE(ABORT, 'append-only: model_version holds this developer log name version') WHEN (SELECT 1 FROM model_version WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_version holds this log seq') END; END

CREATE TRIGGER node__update BEFORE UPDATE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no UPDATE'); END

CREATE TRIGGER node__delete BEFORE DELETE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no DELETE'); END

CREATE TRIGGER node__insert BEFORE INSERT ON node BEGIN SELECT CASE WHEN (SELECT 1 FROM node WHERE level = NEW.level AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: node holds this level log seq') END; END

CREATE TRIGGER signature__update BEFORE UPDATE ON signature BEGIN SELECT RAISE(ABORT, 'append-only: signature takes no UPDATE'); END

CREATE TRIGGER signature__delete BEFORE DELETE ON signature BEGIN SELECT RAISE(ABORT, 'append-only: signature takes no DELETE'); END

CREATE TRIGGER signature__insert BEFORE INSERT ON signature BEGIN SELECT CASE WHEN (SELECT 1 FROM signature WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: signature holds this log seq') END; END

CREATE TRIGGER time_anchor__update BEFORE UPDATE ON time_anchor BEGIN SELECT RAISE(ABORT, 'append-only: time_anchor takes no UPDATE'); END

CREATE TRIGGER time_anchor__delete BEFORE DELETE ON time_anchor BEGIN SELECT RAISE(ABORT, 'append-only: time_anchor takes no DELETE'); END

CREATE TRIGGER time_anchor__insert BEFORE INSERT ON time_anchor BEGIN SELECT CASE WHEN (SELECT 1 FROM time_anchor WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: time_anchor holds this log seq') END; END

CREATE TRIGGER witnessing__update BEFORE UPDATE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no UPDATE'); END

CREATE TRIGGER witnessing__delete BEFORE DELETE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no DELETE'); END

CREATE TRIGGER witnessing__insert BEFORE INSERT ON witnessing BEGIN SELECT CASE WHEN (SELECT 1 FROM witnessing WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: witnessing holds this log seq') END; END

CREATE TRIGGER cosignature__update BEFORE UPDATE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no UPDATE'); END

CREATE TRIGGER cosignature__delete BEFORE DELETE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no DELETE'); END

CREATE TRIGGER cosignature__insert BEFORE INSERT ON cosignature BEGIN SELECT CASE WHEN (SELECT 1 FROM cosignature WHERE line = NEW.line AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: cosignature holds this line log seq') END; END

CREATE TRIGGER identifier__update BEFORE UPDATE ON identifier BEGIN SELECT RAISE(ABORT, 'append-only: identifier takes no UPDATE'); END

CREATE TRIGGER identifier__delete BEFORE DELETE ON identifier BEGIN SELECT RAISE(ABORT, 'append-only: identifier takes no DELETE'); END

CREATE TRIGGER identifier__insert BEFORE INSERT ON identifier BEGIN SELECT CASE WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM identifier WHERE log = NEW.log AND kind = NEW.kind AND authority = NEW.authority AND year = NEW.year) THEN RAISE(ABORT, 'has-gap: identifier.number must follow the last one') WHEN (SELECT 1 FROM identifier WHERE id = NEW.id AND log = NEW.log) THEN RAISE(ABORT, 'append-only: identifier holds this id log') END; END

CREATE TRIGGER key_event__update BEFORE UPDATE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no UPDATE'); END

CREATE TRIGGER key_event__delete BEFORE DELETE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no DELETE'); END

CREATE TRIGGER key_event__insert BEFORE INSERT ON key_event BEGIN SELECT CASE WHEN (SELECT 1 FROM key_event WHERE event = NEW.event AND key = NEW.key AND log = NEW.log) THEN RAISE(ABORT, 'append-only: key_event holds this event key log') WHEN (SELECT 1 FROM key_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: key_event holds this log seq') END; END

CREATE TRIGGER model_endpoint__update BEFORE UPDATE ON model_endpoint BEGIN SELECT RAISE(ABORT, 'append-only: model_endpoint takes no UPDATE'); END

CREATE TRIGGER model_endpoint__delete BEFORE DELETE ON model_endpoint BEGIN SELECT RAISE(ABORT, 'append-only: model_endpoint takes no DELETE'); END

CREATE TRIGGER model_endpoint__insert BEFORE INSERT ON model_endpoint BEGIN SELECT CASE WHEN (SELECT 1 FROM model_endpoint WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_endpoint holds this log seq') END; END

CREATE TRIGGER model_event__update BEFORE UPDATE ON model_event BEGIN SELECT RAISE(ABORT, 'append-only: model_event takes no UPDATE'); END

CREATE TRIGGER model_event__delete BEFORE DELETE ON model_event BEGIN SELECT RAISE(ABORT, 'append-only: model_event takes no DELETE'); END

CREATE TRIGGER model_event__insert BEFORE INSERT ON model_event BEGIN SELECT CASE WHEN (SELECT 1 FROM model_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_event holds this log seq') END; END

CREATE TRIGGER card_revision__update BEFORE UPDATE ON card_revision BEGIN SELECT RAISE(ABORT, 'append-only: card_revision takes no UPDATE'); END

CREATE TRIGGER card_revision__delete BEFORE DELETE ON card_revision BEGIN SELECT RAISE(ABORT, 'append-only: card_revision takes no DELETE'); END

CREATE TRIGGER card_revision__insert BEFORE INSERT ON card_revision BEGIN SELECT CASE WHEN NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM card_revision WHERE log = NEW.log AND card = NEW.card) THEN RAISE(ABORT, 'has-gap: card_revision.revision must follow the last one') WHEN (SELECT 1 FROM card_revision WHERE document = NEW.document AND log = NEW.log) THEN RAISE(ABORT, 'append-only: card_revision holds this document log') WHEN (SELECT 1 FROM card_revision WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: card_revision holds this log seq') END; END

CREATE TRIGGER claim_event__update BEFORE UPDATE ON claim_event BEGIN SELECT RAISE(ABORT, 'append-only: claim_event takes no UPDATE'); END

CREATE TRIGGER claim_event__delete BEFORE DELETE ON claim_event BEGIN SELECT RAISE(ABORT, 'append-only: claim_event takes no DELETE'); END

CREATE TRIGGER claim_event__insert BEFORE INSERT ON claim_event BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_event holds this log seq') END; END

CREATE TRIGGER claim_relation__update BEFORE UPDATE ON claim_relation BEGIN SELECT RAISE(ABORT, 'append-only: claim_relation takes no UPDATE'); END

CREATE TRIGGER claim_relation__delete BEFORE DELETE ON claim_relation BEGIN SELECT RAISE(ABORT, 'append-only: claim_relation takes no DELETE'); END

CREATE TRIGGER claim_relation__insert BEFORE INSERT ON claim_relation BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_relation WHERE claim = NEW.claim AND log = NEW.log AND other = NEW.other AND relation = NEW.relation) THEN RAISE(ABORT, 'append-only: claim_relation holds this claim log other relation') WHEN (SELECT 1 FROM claim_relation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_relation holds this log seq') END; END

CREATE TRIGGER spec__update BEFORE UPDATE ON spec BEGIN SELECT RAISE(ABORT, 'append-only: spec takes no UPDATE'); END

CREATE TRIGGER spec__delete BEFORE DELETE ON spec BEGIN SELECT RAISE(ABORT, 'append-only: spec takes no DELETE'); END

CREATE TRIGGER spec__insert BEFORE INSERT ON spec BEGIN SELECT CASE WHEN (SELECT 1 FROM spec WHERE kind = NEW.kind AND log = NEW.log AND owner = NEW.owner AND slug = NEW.slug) THEN RAISE(ABORT, 'append-only: spec holds this kind log owner slug') WHEN (SELECT 1 FROM spec WHERE kind = NEW.kind AND log = NEW.log AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: spec holds this kind log spec') WHEN (SELECT 1 FROM spec WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: spec holds this log seq') END; END

CREATE TRIGGER omission__update BEFORE UPDATE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no UPDATE'); END

CREATE TRIGGER omission__delete BEFORE DELETE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no DELETE'); END

CREATE TRIGGER omission__insert BEFORE INSERT ON omission BEGIN SELECT CASE WHEN (SELECT 1 FROM omission WHERE card = NEW.card AND log = NEW.log AND revision = NEW.revision AND start = NEW.start AND stop = NEW.stop) THEN RAISE(ABORT, 'append-only: omission holds this card log revision start stop') WHEN (SELECT 1 FROM omission WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: omission holds this log seq') END; END

CREATE TRIGGER spec_version__update BEFORE UPDATE ON spec_version BEGIN SELECT RAISE(ABORT, 'append-only: spec_version takes no UPDATE'); END

CREATE TRIGGER spec_version__delete BEFORE DELETE ON spec_version BEGIN SELECT RAISE(ABORT, 'append-only: spec_version takes no DELETE'); END

CREATE TRIGGER spec_version__insert BEFORE INSERT ON spec_version BEGIN SELECT CASE WHEN NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM spec_version WHERE log = NEW.log AND spec = NEW.spec) THEN RAISE(ABORT, 'has-gap: spec_version.version must follow the last one') WHEN (SELECT 1 FROM spec_version WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: spec_version holds this log seq') END; END

CREATE TRIGGER survey__update BEFORE UPDATE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no UPDATE'); END

CREATE TRIGGER survey__delete BEFORE DELETE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no DELETE'); END

CREATE TRIGGER survey__insert BEFORE INSERT ON survey BEGIN SELECT CASE WHEN (SELECT 1 FROM survey WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: survey holds this log seq') END; END

CREATE TRIGGER claim_revision__update BEFORE UPDATE ON claim_revision BEGIN SELECT RAISE(ABORT, 'append-only: claim_revision takes no UPDATE'); END

CREATE TRIGGER claim_revision__delete BEFORE DELETE ON claim_revision BEGIN SELECT RAISE(ABORT, 'append-only: claim_revision takes no DELETE'); END

CREATE TRIGGER claim_revision__insert BEFORE INSERT ON claim_revision BEGIN SELECT CASE WHEN NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim) THEN RAISE(ABORT, 'has-gap: claim_revision.revision must follow the last one') WHEN (SELECT 1 FROM claim_revision WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_revision holds this log seq') END; END

CREATE TRIGGER reveal__update BEFORE UPDATE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no UPDATE'); END

CREATE TRIGGER reveal__delete BEFORE DELETE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no DELETE'); END

CREATE TRIGGER reveal__insert BEFORE INSERT ON reveal BEGIN SELECT CASE WHEN (SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL THEN RAISE(ABORT, 'seal-not-needed: only a sealed specification is revealed') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: reveal holds this log seq') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) THEN RAISE(ABORT, 'append-only: reveal holds this log spec version') END; END

CREATE TRIGGER audit__update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append-only: audit takes no UPDATE'); END

CREATE TRIGGER audit__delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'append-only: audit takes no DELETE'); END

CREATE TRIGGER audit__insert BEFORE INSERT ON audit BEGIN SELECT CASE WHEN (SELECT 1 FROM audit WHERE audit = NEW.audit AND log = NEW.log) THEN RAISE(ABORT, 'append-only: audit holds this audit log') WHEN (SELECT 1 FROM audit WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit holds this log seq') END; END

CREATE TRIGGER audited_phrase__update BEFORE UPDATE ON audited_phrase BEGIN SELECT RAISE(ABORT, 'append-only: audited_phrase takes no UPDATE'); END

CREATE TRIGGER audited_phrase__insert BEFORE INSERT ON audited_phrase BEGIN SELECT CASE WHEN (SELECT 1 FROM audited_phrase WHERE log = NEW.log AND phrase = NEW.phrase AND quote = NEW.quote) THEN RAISE(ABORT, 'append-only: audited_phrase holds this log phrase quote') END; END

CREATE TRIGGER claim_context__update BEFORE UPDATE ON claim_context BEGIN SELECT RAISE(ABORT, 'append-only: claim_context takes no UPDATE'); END

CREATE TRIGGER claim_context__delete BEFORE DELETE ON claim_context BEGIN SELECT RAISE(ABORT, 'append-only: claim_context takes no DELETE'); END

CREATE TRIGGER claim_context__insert BEFORE INSERT ON claim_context BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_context WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_context holds this log position seq') END; END

CREATE TRIGGER claim_origin__update BEFORE UPDATE ON claim_origin BEGIN SELECT RAISE(ABORT, 'append-only: claim_origin takes no UPDATE'); END

CREATE TRIGGER claim_origin__delete BEFORE DELETE ON claim_origin BEGIN SELECT RAISE(ABORT, 'append-only: claim_origin takes no DELETE'); END

CREATE TRIGGER claim_origin__insert BEFORE INSERT ON claim_origin BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_origin WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_origin holds this log seq') END; END

CREATE TRIGGER claim_place__update BEFORE UPDATE ON claim_place BEGIN SELECT RAISE(ABORT, 'append-only: claim_place takes no UPDATE'); END

CREATE TRIGGER claim_place__delete BEFORE DELETE ON claim_place BEGIN SELECT RAISE(ABORT, 'append-only: claim_place takes no DELETE'); END

CREATE TRIGGER claim_place__insert BEFORE INSERT ON claim_place BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_place WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_place holds this log seq') END; END

CREATE TRIGGER claim_text__update BEFORE UPDATE ON claim_text BEGIN SELECT RAISE(ABORT, 'append-only: claim_text takes no UPDATE'); END

CREATE TRIGGER claim_text__insert BEFORE INSERT ON claim_text BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_text WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_text holds this log seq') END; END

CREATE TRIGGER monitor__update BEFORE UPDATE ON monitor BEGIN SELECT RAISE(ABORT, 'append-only: monitor takes no UPDATE'); END

CREATE TRIGGER monitor__delete BEFORE DELETE ON monitor BEGIN SELECT RAISE(ABORT, 'append-only: monitor takes no DELETE'); END

CREATE TRIGGER monitor__insert BEFORE INSERT ON monitor BEGIN SELECT CASE WHEN NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'not-its-time: monitor.at must be the time of its entry') WHEN (SELECT 1 FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE(ABORT, 'append-only: monitor holds this log monitor') WHEN (SELECT 1 FROM monitor WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: monitor holds this log seq') END; END

CREATE TRIGGER objection__update BEFORE UPDATE ON objection BEGIN SELECT RAISE(ABORT, 'append-only: objection takes no UPDATE'); END

CREATE TRIGGER objection__delete BEFORE DELETE ON objection BEGIN SELECT RAISE(ABORT, 'append-only: objection takes no DELETE'); END

CREATE TRIGGER objection__insert BEFORE INSERT ON objection BEGIN SELECT CASE WHEN (SELECT 1 FROM objection WHERE log = NEW.log AND objection = NEW.objection) THEN RAISE(ABORT, 'append-only: objection holds this log objection') WHEN (SELECT 1 FROM objection WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: objection holds this log seq') END; END

CREATE TRIGGER passage_match__update BEFORE UPDATE ON passage_match BEGIN SELECT RAISE(ABORT, 'append-only: passage_match takes no UPDATE'); END

CREATE TRIGGER passage_match__delete BEFORE DELETE ON passage_match BEGIN SELECT RAISE(ABORT, 'append-only: passage_match takes no DELETE'); END

CREATE TRIGGER passage_match__insert BEFORE INSERT ON passage_match BEGIN SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision) THEN RAISE(ABORT, 'wrong-document: a passage match is of a quoted passage, in another revision of the card it is quoted from') WHEN (SELECT 1 FROM passage_match WHERE card = NEW.card AND card_revision = NEW.card_revision AND claim = NEW.claim AND log = NEW.log AND revision = NEW.revision) THEN RAISE(ABORT, 'append-only: passage_match holds this card card_revision claim log revision') WHEN (SELECT 1 FROM passage_match WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: passage_match holds this log seq') END; END

CREATE TRIGGER staleness_review__update BEFORE UPDATE ON staleness_review BEGIN SELECT RAISE(ABORT, 'append-only: staleness_review takes no UPDATE'); END

CREATE TRIGGER staleness_review__delete BEFORE DELETE ON staleness_review BEGIN SELECT RAISE(ABORT, 'append-only: staleness_review takes no DELETE'); END

CREATE TRIGGER staleness_review__insert BEFORE INSERT ON staleness_review BEGIN SELECT CASE WHEN (SELECT 1 FROM staleness_review WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: staleness_review holds this log seq') END; END

CREATE TRIGGER asked_name__update BEFORE UPDATE ON asked_name BEGIN SELECT RAISE(ABORT, 'append-only: asked_name takes no UPDATE'); END

CREATE TRIGGER asked_name__delete BEFORE DELETE ON asked_name BEGIN SELECT RAISE(ABORT, 'append-only: asked_name takes no DELETE'); END

CREATE TRIGGER asked_name__insert BEFORE INSERT ON asked_name BEGIN SELECT CASE WHEN (SELECT 1 FROM asked_name WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: asked_name holds this log position seq') END; END

CREATE TRIGGER audit_rival__update BEFORE UPDATE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no UPDATE'); END

CREATE TRIGGER audit_rival__delete BEFORE DELETE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no DELETE'); END

CREATE TRIGGER audit_rival__insert BEFORE INSERT ON audit_rival BEGIN SELECT CASE WHEN (SELECT 1 FROM audit_rival WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit_rival holds this log seq') END; END

CREATE TRIGGER audit_withdrawal__update BEFORE UPDATE ON audit_withdrawal BEGIN SELECT RAISE(ABORT, 'append-only: audit_withdrawal takes no UPDATE'); END

CREATE TRIGGER audit_withdrawal__delete BEFORE DELETE ON audit_withdrawal BEGIN SELECT RAISE(ABORT, 'append-only: audit_withdrawal takes no DELETE'); END

CREATE TRIGGER audit_withdrawal__insert BEFORE INSERT ON audit_withdrawal BEGIN SELECT CASE WHEN (SELECT 1 FROM audit_withdrawal WHERE audit = NEW.audit AND log = NEW.log) THEN RAISE(ABORT, 'append-only: audit_withdrawal holds this audit log') WHEN (SELECT 1 FROM audit_withdrawal WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit_withdrawal holds this log seq') END; END

CREATE TRIGGER evidence__update BEFORE UPDATE ON evidence BEGIN SELECT RAISE(ABORT, 'append-only: evidence takes no UPDATE'); END

CREATE TRIGGER evidence__delete BEFORE DELETE ON evidence BEGIN SELECT RAISE(ABORT, 'append-only: evidence takes no DELETE'); END

CREATE TRIGGER evidence__insert BEFORE INSERT ON evidence BEGIN SELECT CASE WHEN (SELECT 1 FROM evidence WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: evidence holds this log seq') END; END

CREATE TRIGGER exploration__update BEFORE UPDATE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no UPDATE'); END

CREATE TRIGGER exploration__delete BEFORE DELETE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no DELETE'); END

CREATE TRIGGER exploration__insert BEFORE INSERT ON exploration BEGIN SELECT CASE WHEN (SELECT 1 FROM exploration WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: exploration holds this log seq') END; END

CREATE TRIGGER finding__update BEFORE UPDATE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no UPDATE'); END

CREATE TRIGGER finding__delete BEFORE DELETE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no DELETE'); END

CREATE TRIGGER finding__insert BEFORE INSERT ON finding BEGIN SELECT CASE WHEN EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq) THEN RAISE(ABORT, 'after-outcome: a finding enters an audit before its outcome') WHEN (SELECT 1 FROM finding WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: finding holds this log seq') END; END

CREATE TRIGGER forecast__update BEFORE UPDATE ON forecast BEGIN SELECT RAISE(ABORT, 'append-only: forecast takes no UPDATE'); END

CREATE TRIGGER forecast__delete BEFORE DELETE ON forecast BEGIN SELECT RAISE(ABORT, 'append-only: forecast takes no DELETE'); END

CREATE TRIGGER forecast__insert BEFORE INSERT ON forecast BEGIN SELECT CASE WHEN EXISTS (SELECT 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE(ABORT, 'forecast-too-late: forecast must come before the first window of its monitor') WHEN (SELECT 1 FROM forecast WHERE audit = NEW.audit AND log = NEW.log AND monitor = NEW.monitor AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: forecast holds this audit log monitor spec') WHEN (SELECT 1 FROM forecast WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: forecast holds this log seq') END; END

CREATE TRIGGER forecast_score__update BEFORE UPDATE ON forecast_score BEGIN SELECT RAISE(ABORT, 'append-only: forecast_score takes no UPDATE'); END

CREATE TRIGGER forecast_score__delete BEFORE DELETE ON forecast_score BEGIN SELECT RAISE(ABORT, 'append-only: forecast_score takes no DELETE'); END

CREATE TRIGGER forecast_score__insert BEFORE INSERT ON forecast_score BEGIN SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM forecast WHERE log = NEW.log AND seq = NEW.forecast AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE(ABORT, 'forecast-unknown: forecast_score.forecast must be an earlier forecast for its monitor') WHEN (SELECT 1 FROM forecast_score WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: forecast_score holds this log seq') END; END

CREATE TRIGGER lock__update BEFORE UPDATE ON lock BEGIN SELECT RAISE(ABORT, 'append-only: lock takes no UPDATE'); END

CREATE TRIGGER lock__delete BEFORE DELETE ON lock BEGIN SELECT RAISE(ABORT, 'append-only: lock takes no DELETE'); END

CREATE TRIGGER lock__insert BEFORE INSERT ON lock BEGIN SELECT CASE WHEN NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'not-its-time: lock.at must be the time of its entry') WHEN (SELECT 1 FROM lock WHERE audit = NEW.audit AND log = NEW.log) THEN RAISE(ABORT, 'append-only: lock holds this audit log') WHEN (SELECT 1 FROM lock WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: lock holds this log seq') END; END

CREATE TRIGGER monitor_end__update BEFORE UPDATE ON monitor_end BEGIN SELECT RAISE(ABORT, 'append-only: monitor_end takes no UPDATE'); END

CREATE TRIGGER monitor_end__delete BEFORE DELETE ON monitor_end BEGIN SELECT RAISE(ABORT, 'append-only: monitor_end takes no DELETE'); END

CREATE TRIGGER monitor_end__insert BEFORE INSERT ON monitor_end BEGIN SELECT CASE WHEN (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE(ABORT, 'append-only: monitor_end holds this log monitor') WHEN (SELECT 1 FROM monitor_end WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: monitor_end holds this log seq') END; END

CREATE TRIGGER monitor_incident__update BEFORE UPDATE ON monitor_incident BEGIN SELECT RAISE(ABORT, 'append-only: monitor_incident takes no UPDATE'); END

CREATE TRIGGER monitor_incident__delete BEFORE DELETE ON monitor_incident BEGIN SELECT RAISE(ABORT, 'append-only: monitor_incident takes no DELETE'); END

CREATE TRIGGER monitor_incident__insert BEFORE INSERT ON monitor_incident BEGIN SELECT CASE WHEN NEW.occurred < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE(ABORT, 'window-before-lock: monitor_incident.occurred must not be before the lock of its monitor') WHEN EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE(ABORT, 'monitor-ended: monitor_incident must not come after the end of its monitor') WHEN (SELECT 1 FROM monitor_incident WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: monitor_incident holds this log seq') END; END

CREATE TRIGGER monitor_window__update BEFORE UPDATE ON monitor_window BEGIN SELECT RAISE(ABORT, 'append-only: monitor_window takes no UPDATE'); END

CREATE TRIGGER monitor_window__delete BEFORE DELETE ON monitor_window BEGIN SELECT RAISE(ABORT, 'append-only: monitor_window takes no DELETE'); END

CREATE TRIGGER monitor_window__insert BEFORE INSERT ON monitor_window BEGIN SELECT CASE WHEN NEW.start < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE(ABORT, 'window-before-lock: monitor_window.start must not be before the lock of its monitor') WHEN NEW.correction = 0 AND NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor) THEN RAISE(ABORT, 'window-missing: monitor_window.number must follow the last one') WHEN EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq) THEN RAISE(ABORT, 'monitor-ended: monitor_window must not come after the end of its monitor') WHEN NEW.alarm IS NULL AND EXISTS (SELECT 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor AND alarm IS NOT NULL) THEN RAISE(ABORT, 'alarm-taken-back: monitor_window.alarm must stay once it was raised') WHEN (SELECT 1 FROM monitor_window WHERE correction = NEW.correction AND log = NEW.log AND monitor = NEW.monitor AND number = NEW.number) THEN RAISE(ABORT, 'append-only: monitor_window holds this correction log monitor number') WHEN (SELECT 1 FROM monitor_window WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: monitor_window holds this log seq') END; END

CREATE TRIGGER objection_event__update BEFORE UPDATE ON objection_event BEGIN SELECT RAISE(ABORT, 'append-only: objection_event takes no UPDATE'); END

CREATE TRIGGER objection_event__delete BEFORE DELETE ON objection_event BEGIN SELECT RAISE(ABORT, 'append-only: objection_event takes no DELETE'); END

CREATE TRIGGER objection_event__insert BEFORE INSERT ON objection_event BEGIN SELECT CASE WHEN (SELECT 1 FROM objection_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: objection_event holds this log seq') END; END

CREATE TRIGGER outcome_validity__update BEFORE UPDATE ON outcome_validity BEGIN SELECT RAISE(ABORT, 'append-only: outcome_validity takes no UPDATE'); END

CREATE TRIGGER outcome_validity__delete BEFORE DELETE ON outcome_validity BEGIN SELECT RAISE(ABORT, 'append-only: outcome_validity takes no DELETE'); END

CREATE TRIGGER outcome_validity__insert BEFORE INSERT ON outcome_validity BEGIN SELECT CASE WHEN (SELECT 1 FROM outcome_validity WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: outcome_validity holds this log seq') END; END

CREATE TRIGGER publication__update BEFORE UPDATE ON publication BEGIN SELECT RAISE(ABORT, 'append-only: publication takes no UPDATE'); END

CREATE TRIGGER publication__delete BEFORE DELETE ON publication BEGIN SELECT RAISE(ABORT, 'append-only: publication takes no DELETE'); END

CREATE TRIGGER publication__insert BEFORE INSERT ON publication BEGIN SELECT CASE WHEN (SELECT 1 FROM publication WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: publication holds this log seq') END; END

CREATE TRIGGER reviewed_cause__update BEFORE UPDATE ON reviewed_cause BEGIN SELECT RAISE(ABORT, 'append-only: reviewed_cause takes no UPDATE'); END

CREATE TRIGGER reviewed_cause__delete BEFORE DELETE ON reviewed_cause BEGIN SELECT RAISE(ABORT, 'append-only: reviewed_cause takes no DELETE'); END

CREATE TRIGGER reviewed_cause__insert BEFORE INSERT ON reviewed_cause BEGIN SELECT CASE WHEN (SELECT 1 FROM reviewed_cause WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: reviewed_cause holds this log position seq') END; END

CREATE TRIGGER deviation__update BEFORE UPDATE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no UPDATE'); END

CREATE TRIGGER deviation__delete BEFORE DELETE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no DELETE'); END

CREATE TRIGGER deviation__insert BEFORE INSERT ON deviation BEGIN SELECT CASE WHEN (SELECT 1 FROM deviation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: deviation holds this log seq') END; END

CREATE TRIGGER run__update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'append-only: run takes no UPDATE'); END

CREATE TRIGGER run__delete BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'append-only: run takes no DELETE'); END

CREATE TRIGGER run__insert BEFORE INSERT ON run BEGIN SELECT CASE WHEN (SELECT 1 FROM run WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run holds this log seq') END; END

CREATE TRIGGER run_start__update BEFORE UPDATE ON run_start BEGIN SELECT RAISE(ABORT, 'append-only: run_start takes no UPDATE'); END

CREATE TRIGGER run_start__delete BEFORE DELETE ON run_start BEGIN SELECT RAISE(ABORT, 'append-only: run_start takes no DELETE'); END

CREATE TRIGGER run_start__insert BEFORE INSERT ON run_start BEGIN SELECT CASE WHEN (SELECT 1 FROM run_start WHERE audit = NEW.audit AND log = NEW.log AND run = NEW.run) THEN RAISE(ABORT, 'append-only: run_start holds this audit log run') WHEN (SELECT 1 FROM run_start WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run_start holds this log seq') END; END

CREATE TRIGGER result__update BEFORE UPDATE ON result BEGIN SELECT RAISE(ABORT, 'append-only: result takes no UPDATE'); END

CREATE TRIGGER result__delete BEFORE DELETE ON result BEGIN SELECT RAISE(ABORT, 'append-only: result takes no DELETE'); END

CREATE TRIGGER result__insert BEFORE INSERT ON result BEGIN SELECT CASE WHEN (SELECT 1 FROM result WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: result holds this log seq') END; END

CREATE TRIGGER run_end__update BEFORE UPDATE ON run_end BEGIN SELECT RAISE(ABORT, 'append-only: run_end takes no UPDATE'); END

CREATE TRIGGER run_end__delete BEFORE DELETE ON run_end BEGIN SELECT RAISE(ABORT, 'append-only: run_end takes no DELETE'); END

CREATE TRIGGER run_end__insert BEFORE INSERT ON run_end BEGIN SELECT CASE WHEN (SELECT 1 FROM run_end WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run_end holds this log seq') END; END

CREATE TRIGGER estimate__update BEFORE UPDATE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no UPDATE'); END

CREATE TRIGGER estimate__delete BEFORE DELETE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no DELETE'); END

CREATE TRIGGER estimate__insert BEFORE INSERT ON estimate BEGIN SELECT CASE WHEN (SELECT 1 FROM estimate WHERE judge = NEW.judge AND log = NEW.log AND seq = NEW.seq AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: estimate holds this judge log seq spec') WHEN (SELECT 1 FROM estimate WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: estimate holds this log position seq') END; END

CREATE TRIGGER restriction__update BEFORE UPDATE ON restriction BEGIN SELECT RAISE(ABORT, 'append-only: restriction takes no UPDATE'); END

CREATE TRIGGER restriction__delete BEFORE DELETE ON restriction BEGIN SELECT RAISE(ABORT, 'append-only: restriction takes no DELETE'); END

CREATE TRIGGER restriction__insert BEFORE INSERT ON restriction BEGIN SELECT CASE WHEN NEW.form <> (SELECT form FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision) THEN RAISE(ABORT, 'verdict-inconsistent: restriction.form must be the form of the claim revision') WHEN (SELECT 1 FROM restriction WHERE log = NEW.log AND reading = NEW.reading AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: restriction holds this log reading seq') END; END

CREATE TRIGGER verdict__update BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT, 'append-only: verdict takes no UPDATE'); END

CREATE TRIGGER verdict__delete BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT, 'append-only: verdict takes no DELETE'); END

CREATE TRIGGER verdict__insert BEFORE INSERT ON verdict BEGIN SELECT CASE WHEN (SELECT 1 FROM verdict WHERE log = NEW.log AND reading = NEW.reading AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: verdict holds this log reading seq') END; END

ANALYZE log

DELETE FROM sqlite_stat1

INSERT INTO sqlite_stat1 (tbl, idx, stat)
SELECT made.name, CASE known.origin WHEN 'pk' THEN made.name ELSE known.name END, size.n || ' ' || (
    SELECT group_concat(CASE WHEN known."unique" AND part.seqno = (SELECT max(seqno) FROM pragma_index_info(known.name)) THEN 1
        WHEN part.seqno = 0 THEN size.n WHEN part.name IN ('property', 'model', 'model_version') THEN 10000 ELSE 10 END, ' ')
    FROM pragma_index_info(known.name) AS part)
FROM sqlite_master AS made
JOIN pragma_index_list(made.name) AS known
JOIN (SELECT name, CASE WHEN name IN ('entry', 'body', 'identifier', 'claim_revision', 'claim_text', 'claim_place', 'claim_context')
    THEN 1000000 ELSE 1000 END AS n FROM sqlite_master) AS size ON size.name = made.name
WHERE made.type = 'table'

ANALYZE sqlite_schema

