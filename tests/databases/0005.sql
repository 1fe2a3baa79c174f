-- A registry at revision 0005, with key events, checkpoints, an erased text, subtrees and the log of another registry. Never changed.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0005');
CREATE TABLE audit (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	audit TEXT NOT NULL, 
	claim TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	auditor TEXT NOT NULL, 
	independence TEXT NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (log, seq), 
	CONSTRAINT ck_audit_independence CHECK (independence IN ('self', 'commissioned', 'third_party')), 
	CONSTRAINT ck_audit_audit_begins CHECK (substr(audit, 1, 4) = 'AUD-'), 
	CONSTRAINT fk_audit_audit_identifier FOREIGN KEY(log, audit) REFERENCES identifier (log, id), 
	CONSTRAINT fk_audit_auditor_authority FOREIGN KEY(log, auditor) REFERENCES authority (log, code), 
	CONSTRAINT fk_audit_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision), 
	CONSTRAINT fk_audit_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_audit_log_audit_claim_revision UNIQUE (log, audit, claim, revision), 
	CONSTRAINT uq_audit_log_audit UNIQUE (log, audit)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "audit" VALUES(1,5,'AUD-LAB-2026-0001-1','CLM-LAB-2026-0001-E',1,'LAB','self');
CREATE TABLE audit_rival (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	audit TEXT NOT NULL, 
	contestation TEXT NOT NULL, 
	CONSTRAINT pk_audit_rival PRIMARY KEY (log, seq), 
	CONSTRAINT ck_audit_rival_contestation_begins CHECK (substr(contestation, 1, 4) = 'CON-'), 
	CONSTRAINT fk_audit_rival_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit), 
	CONSTRAINT fk_audit_rival_contestation_contestation FOREIGN KEY(log, contestation) REFERENCES contestation (log, contestation), 
	CONSTRAINT fk_audit_rival_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE authority (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	code TEXT NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_authority PRIMARY KEY (log, seq), 
	CONSTRAINT ck_authority_role CHECK (role IN ('lab', 'institute', 'regulator', 'auditor')), 
	CONSTRAINT fk_authority_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_authority_log_code UNIQUE (log, code)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "authority" VALUES(1,1,'LAB','The LAB','lab');
INSERT INTO "authority" VALUES(1,17,'LAB0','The LAB0','lab');
INSERT INTO "authority" VALUES(1,18,'LAB1','The LAB1','lab');
INSERT INTO "authority" VALUES(1,19,'LAB2','The LAB2','lab');
INSERT INTO "authority" VALUES(1,20,'LAB3','The LAB3','lab');
INSERT INTO "authority" VALUES(2,1,'LAB','The LAB','lab');
CREATE TABLE body (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	json TEXT NOT NULL, 
	CONSTRAINT pk_body PRIMARY KEY (log, seq), 
	CONSTRAINT fk_body_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "body" VALUES(1,1,'{"actor":"LAB","at":"2026-03-01T12:00:00Z","kind":"authority","payload":{"code":"LAB","name":"The LAB","role":"lab"},"salt":"00000000000000000000000000000001","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,2,'{"actor":"LAB","at":"2026-03-01T12:00:02Z","kind":"spec_version","payload":{"body":{"class":"compliance_refusal","description":null,"direction":"higher_is_safer","name":"refusal rate","range":[0,1],"suppressible":false},"commitment":null,"kind":"property","owner":"LAB","slug":"refusal","spec":"PRP-LAB-2026-0001-X","version":1,"why":null},"salt":"00000000000000000000000000000002","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,3,'{"actor":"LAB","at":"2026-03-01T12:00:04Z","kind":"claim_revision","payload":{"anchor":null,"card":null,"claim":"CLM-LAB-2026-0001-E","deploy_contexts":[],"deployment":null,"direction":"higher_is_safer","elicitation":null,"evaluation":null,"form":"prevalence","grader":null,"model":{"developer":"Example","name":"m","version":"1"},"note":null,"property":"PRP-LAB-2026-0001-X@1","quote":"Words.","quote_status":"paraphrase","relation":null,"reported":null,"revision":1,"scoring":null,"source":null,"test_context":null,"theta":null,"why":null},"salt":"00000000000000000000000000000003","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,4,'{"actor":"LAB","at":"2026-03-01T12:00:05Z","kind":"claim_revision","payload":{"anchor":null,"card":null,"claim":"CLM-LAB-2026-0001-E","deploy_contexts":[],"deployment":null,"direction":"higher_is_safer","elicitation":null,"evaluation":null,"form":"prevalence","grader":null,"model":{"developer":"Example","name":"m","version":"1"},"note":null,"property":"PRP-LAB-2026-0001-X@1","quote":"Better words.","quote_status":"paraphrase","relation":null,"reported":null,"revision":2,"scoring":null,"source":null,"test_context":null,"theta":null,"why":"It was misquoted."},"salt":"00000000000000000000000000000004","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,5,'{"actor":"LAB","at":"2026-03-01T12:00:07Z","kind":"audit","payload":{"audit":"AUD-LAB-2026-0001-1","auditor":"LAB","claim":"CLM-LAB-2026-0001-E@1","contestation":null,"deployment":{"defensible":true,"description":null,"infeasible":null},"independence":"self","note":null,"plan":{"contexts":"random","epsilon":null,"interval":"closed_form","level":0.95,"margin":null,"random_subset":false,"replicates":10000,"seed":0,"tasks":null},"question":null,"scoring":{"invariant":null}},"salt":"00000000000000000000000000000005","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,6,'{"actor":"LAB","at":"2026-03-01T12:00:08Z","kind":"lock","payload":{"audit":"AUD-LAB-2026-0001-1","budget":null,"claim":"CLM-LAB-2026-0001-E@1","cues":[],"deploy":[],"deploy_specs":["default"],"direction":"higher_is_safer","exclusion_rules":null,"model":null,"note":null,"plan":{"contexts":"random","epsilon":0.01,"interval":"closed_form","level":0.95,"margin":0.05,"random_subset":false,"replicates":10000,"seed":0,"tasks":null},"relation":null,"replay":null,"replay_parts":null,"scoring":null,"stopping_rule":null,"tasks":null,"test":null,"theta":null},"salt":"00000000000000000000000000000006","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,8,'{"actor":"LAB","at":"2026-03-01T12:00:11Z","kind":"spec_version","payload":{"body":null,"commitment":"5782ffdb8b584deb0e0565947bbc3b34d80f371194f58005bf1beae3200619ac","kind":"deploy_context","owner":"LAB","slug":"hidden","spec":"CTX-LAB-2026-0001-0","version":1,"why":null},"salt":"00000000000000000000000000000008","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,9,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"key_event","payload":{"algorithm":"ed25519","certificate":null,"event":"add","key":"b67790253be056211da8638bfa2841b9170af8da0adaf1ea8630d80648f51ee1","purpose":"log","reason":null,"replaces":null,"untrusted_from":null,"vkey":"caveat/00000000000000000000000000000001+23ca4b8e+AdSY0ayqVYGSgOg7P5NyEL9hlCpoLJiwmCmmB4uwQVQZ"},"salt":"00000000000000000000000000000009","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,10,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"log_import","payload":{"bundle":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","checkpoint":"other.example/log\n5\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n\n— other.example/log D1Ws1H87Cu1dNRdG4Sc3N4gOsrpVleZrvwxTExeNMDfmtJo//fNqySOO7G8Op722cq8Dfv4jmkNB3g81bzV+VWScugk=\n","origin":"other.example/log","root":"abababababababababababababababababababababababababababababababab","size":5,"vkey":"other.example/log+0f55acd4+AetzMje2476S790wIp9DcED9TV/XKXHxs2hvcjUOYkbi"},"salt":"0000000000000000000000000000000a","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,11,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"witnessing","payload":{"note":"other.example/log\n5\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n\n— other.example/log D1Ws1H87Cu1dNRdG4Sc3N4gOsrpVleZrvwxTExeNMDfmtJo//fNqySOO7G8Op722cq8Dfv4jmkNB3g81bzV+VWScugk=\n","origin":"other.example/log","root":"abababababababababababababababababababababababababababababababab","size":5,"vkey":"other.example/log+0f55acd4+AetzMje2476S790wIp9DcED9TV/XKXHxs2hvcjUOYkbi"},"salt":"0000000000000000000000000000000b","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,12,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"equivocation","payload":{"finding":"two roots of one size","first":"other.example/log\n5\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n\n— other.example/log D1Ws1H87Cu1dNRdG4Sc3N4gOsrpVleZrvwxTExeNMDfmtJo//fNqySOO7G8Op722cq8Dfv4jmkNB3g81bzV+VWScugk=\n","origin":"other.example/log","proof":null,"second":"other.example/log\n5\nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc0=\n\n— other.example/log D1Ws1AEDnzy3X33H3lITE/705j1AtcVKOaWBS+T8zj1x5xiugBRFrpn9RJPHOkeYmr9IauKwIEEGla93UecFzRdIFg0=\n","vkey":"other.example/log+0f55acd4+AetzMje2476S790wIp9DcED9TV/XKXHxs2hvcjUOYkbi"},"salt":"0000000000000000000000000000000c","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,13,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"reveal","payload":{"opening":{"body":{"blocks":null,"construction":null,"contexts":[],"description":"nobody may see it yet","edits":[],"name":"hidden"},"salt":"abababababababababababababababababababababababababababababababab","spec":"CTX-LAB-2026-0001-0@1","spec_kind":"deploy_context"},"why":null},"salt":"0000000000000000000000000000000d","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,14,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"deviation","payload":{"audit":"AUD-LAB-2026-0001-1","done":"2","found":false,"item":"budget","planned":"1","reason":"It ran out."},"salt":"0000000000000000000000000000000e","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,15,'{"actor":"LAB","at":"2026-03-01T12:00:12Z","kind":"exploration","payload":{"audit":"AUD-LAB-2026-0001-1","claim":"CLM-LAB-2026-0001-E@1","differs":[],"estimate":{"contexts":"random","epsilon":0.01,"interval":"closed_form","level":0.95,"margin":0.05,"range":[0,1],"replicates":0,"schema":"caveat/estimate/1","seed":0,"specs":[{"bootstrap":null,"detectable_floor":null,"ed":{"high":0.15,"low":0.05,"method":"clustered","reason":null,"value":0.1},"ed_under_exclusions":{"high":0.1,"low":0.1},"equivalence":{"equivalent":false,"p":0.4},"judge":null,"minimum_detectable_ed":0.1,"n":{"contexts_deploy":5,"contexts_test":5,"effective_tasks":null,"excluded_deploy":0,"excluded_test":0,"responses_deploy":100,"responses_test":100,"tasks":20},"ned":{"reason":null,"value":0.3},"p_ed":null,"phi_deploy":{"high":0.85,"low":0.7,"reason":null,"value":0.8},"phi_test":{"high":0.95,"low":0.8,"reason":null,"value":0.9},"pointwise":null,"pooled_ed":null,"regression":null,"sequence":null,"sigma_pool":0.3,"spec":"default","undefined":null,"variance":null}],"warnings":[]},"question":"And at night?","scores":"abababababababababababababababababababababababababababababababab","source":"a.csv"},"salt":"0000000000000000000000000000000f","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,16,'{"actor":"LAB","at":"2026-03-01T12:00:13Z","kind":"erasure","payload":{"erased":7,"leaf":"d83139d448f2107bb37eff18053ee3ac1394a83c7bd3c71747bd2276eb2b0ecb","why":"It named a person."},"salt":"00000000000000000000000000000010","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,17,'{"actor":"LAB","at":"2026-03-01T12:00:15Z","kind":"authority","payload":{"code":"LAB0","name":"The LAB0","role":"lab"},"salt":"00000000000000000000000000000011","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,18,'{"actor":"LAB","at":"2026-03-01T12:00:16Z","kind":"authority","payload":{"code":"LAB1","name":"The LAB1","role":"lab"},"salt":"00000000000000000000000000000012","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,19,'{"actor":"LAB","at":"2026-03-01T12:00:17Z","kind":"authority","payload":{"code":"LAB2","name":"The LAB2","role":"lab"},"salt":"00000000000000000000000000000013","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(1,20,'{"actor":"LAB","at":"2026-03-01T12:00:18Z","kind":"authority","payload":{"code":"LAB3","name":"The LAB3","role":"lab"},"salt":"00000000000000000000000000000014","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(2,1,'{"actor":"LAB","at":"2026-03-01T12:00:00Z","kind":"authority","payload":{"code":"LAB","name":"The LAB","role":"lab"},"salt":"00000000000000000000000000000001","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(2,2,'{"actor":"LAB","at":"2026-03-01T12:00:02Z","kind":"spec_version","payload":{"body":{"class":"compliance_refusal","description":null,"direction":"higher_is_safer","name":"refusal rate","range":[0,1],"suppressible":false},"commitment":null,"kind":"property","owner":"LAB","slug":"refusal","spec":"PRP-LAB-2026-0001-X","version":1,"why":null},"salt":"00000000000000000000000000000002","schema":"caveat/statement/1"}');
INSERT INTO "body" VALUES(2,3,'{"actor":"LAB","at":"2026-03-01T12:00:04Z","kind":"claim_revision","payload":{"anchor":null,"card":null,"claim":"CLM-LAB-2026-0001-E","deploy_contexts":[],"deployment":null,"direction":"higher_is_safer","elicitation":null,"evaluation":null,"form":"prevalence","grader":null,"model":{"developer":"Example","name":"m","version":"1"},"note":null,"property":"PRP-LAB-2026-0001-X@1","quote":"Their words.","quote_status":"paraphrase","relation":null,"reported":null,"revision":1,"scoring":null,"source":null,"test_context":null,"theta":null,"why":null},"salt":"00000000000000000000000000000003","schema":"caveat/statement/1"}');
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
	CONSTRAINT ck_card_revision_media_type CHECK (media_type IN ('application/pdf', 'text/html', 'text/markdown', 'text/plain')), 
	CONSTRAINT ck_card_revision_card_begins CHECK (substr(card, 1, 4) = 'CRD-'), 
	CONSTRAINT ck_card_revision_document_32_bytes CHECK (length(document) = 32), 
	CONSTRAINT ck_card_revision_text_32_bytes CHECK (length(text) = 32), 
	CONSTRAINT ck_card_revision_why_from_2 CHECK (revision = 1 OR length(trim(why)) > 0 AND why IS NOT NULL), 
	CONSTRAINT fk_card_revision_card_identifier FOREIGN KEY(log, card) REFERENCES identifier (log, id), 
	CONSTRAINT fk_card_revision_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_card_revision_log_card_revision UNIQUE (log, card, revision), 
	CONSTRAINT uq_card_revision_log_document UNIQUE (log, document)
)
 WITHOUT ROWID,
 STRICT

;
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

;
INSERT INTO "checkpoint" VALUES(1,16,X'4CBB402CBF981B11AF60C3AD9FD80CA450452918CA9D866406736B8164CF4632','caveat/00000000000000000000000000000001
16
TLtALL+YGxGvYMOtn9gMpFBFKRjKnYZkBnNrgWTPRjI=

— caveat/00000000000000000000000000000001 I8pLji1Y5+uxQjhy8tuvu12jN0k84eLfuXNinDE4KyWGr8IZwyV1qGb1yybBy2gSDkM/vH/h1b8epeIBihYuKIgNrQ8=
',1772366414);
INSERT INTO "checkpoint" VALUES(1,20,X'AC0243EC68806593ADC23B79FF3BBB31DE6A7B92B5845291D483CB305D69CCB6','caveat/00000000000000000000000000000001
20
rAJD7GiAZZOtwjt5/zu7Md5qe5K1hFKR1IPLMF1pzLY=

— caveat/00000000000000000000000000000001 I8pLjs7w500SBlBcXohIHuFVRdjK1ouevTgZ++5iqQroxadyJ/gFp2CRDHrIY5h+yYMy6FbKs+Mqpm0nsK0j5lV2bAU=
',1772366419);
CREATE TABLE claim_context (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	context TEXT NOT NULL, 
	context_version INTEGER NOT NULL, 
	context_kind TEXT NOT NULL, 
	CONSTRAINT pk_claim_context PRIMARY KEY (log, seq, position), 
	CONSTRAINT ck_claim_context_context_is_deploy_context CHECK (context_kind = 'deploy_context'), 
	CONSTRAINT ck_claim_context_context_typed CHECK ((context IS NULL) = (context_kind IS NULL)), 
	CONSTRAINT ck_claim_context_context_whole CHECK ((context IS NULL) = (context_version IS NULL)), 
	CONSTRAINT fk_claim_context_context_kind_spec_version FOREIGN KEY(log, context, context_version, context_kind) REFERENCES spec_version (log, spec, version, kind), 
	CONSTRAINT fk_claim_context_seq_claim_revision FOREIGN KEY(log, seq) REFERENCES claim_revision (log, seq), 
	CONSTRAINT fk_claim_context_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE claim_event (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	event TEXT NOT NULL, 
	successor TEXT, 
	has_reason INTEGER NOT NULL, 
	CONSTRAINT pk_claim_event PRIMARY KEY (log, seq), 
	CONSTRAINT ck_claim_event_supersede_names_successor CHECK ((event = 'supersede') = (successor IS NOT NULL)), 
	CONSTRAINT ck_claim_event_reason_given CHECK (event IN ('reserve', 'publish') OR has_reason = 1), 
	CONSTRAINT ck_claim_event_event CHECK (event IN ('reserve', 'publish', 'supersede', 'withdraw', 'reject')), 
	CONSTRAINT ck_claim_event_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'), 
	CONSTRAINT ck_claim_event_another_successor CHECK (successor <> claim), 
	CONSTRAINT fk_claim_event_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id), 
	CONSTRAINT fk_claim_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_claim_event_successor_identifier FOREIGN KEY(log, successor) REFERENCES identifier (log, id)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE claim_relation (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	relation TEXT NOT NULL, 
	other TEXT NOT NULL, 
	CONSTRAINT pk_claim_relation PRIMARY KEY (log, seq), 
	CONSTRAINT ck_claim_relation_relation CHECK (relation IN ('alias', 'related', 'splits', 'merges', 'restates')), 
	CONSTRAINT ck_claim_relation_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'), 
	CONSTRAINT ck_claim_relation_other_begins CHECK (substr(other, 1, 4) = 'CLM-'), 
	CONSTRAINT ck_claim_relation_another_claim CHECK (claim <> other), 
	CONSTRAINT fk_claim_relation_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id), 
	CONSTRAINT fk_claim_relation_other_identifier FOREIGN KEY(log, other) REFERENCES identifier (log, id), 
	CONSTRAINT fk_claim_relation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_claim_relation_log_claim_relation_other UNIQUE (log, claim, relation, other)
)
 WITHOUT ROWID,
 STRICT

;
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
	CONSTRAINT ck_claim_revision_relation_agrees CHECK (CASE form WHEN 'threshold' THEN relation IS NOT NULL WHEN 'upper_bound' THEN relation IS NOT NULL AND relation = '<=' WHEN 'lower_bound' THEN relation IS NOT NULL AND relation = '>=' ELSE relation IS NULL END), 
	CONSTRAINT ck_claim_revision_direction CHECK (direction IN ('higher_is_safer', 'lower_is_safer', 'not_safety')), 
	CONSTRAINT ck_claim_revision_form CHECK (form IN ('existence', 'upper_bound', 'lower_bound', 'prevalence', 'threshold')), 
	CONSTRAINT ck_claim_revision_property_is_property CHECK (property_kind = 'property'), 
	CONSTRAINT ck_claim_revision_quote_status CHECK (quote_status IN ('verbatim', 'paraphrase')), 
	CONSTRAINT ck_claim_revision_relation CHECK (relation IN ('<=', '>=')), 
	CONSTRAINT ck_claim_revision_scoring_is_scoring CHECK (scoring_kind = 'scoring'), 
	CONSTRAINT ck_claim_revision_claim_begins CHECK (substr(claim, 1, 4) = 'CLM-'), 
	CONSTRAINT ck_claim_revision_test_context_is_test_context CHECK (test_context_kind = 'test_context'), 
	CONSTRAINT ck_claim_revision_card_whole CHECK ((card IS NULL) = (card_revision IS NULL)), 
	CONSTRAINT ck_claim_revision_property_typed CHECK ((property IS NULL) = (property_kind IS NULL)), 
	CONSTRAINT ck_claim_revision_property_whole CHECK ((property IS NULL) = (property_version IS NULL)), 
	CONSTRAINT ck_claim_revision_scoring_typed CHECK ((scoring IS NULL) = (scoring_kind IS NULL)), 
	CONSTRAINT ck_claim_revision_scoring_whole CHECK ((scoring IS NULL) = (scoring_version IS NULL)), 
	CONSTRAINT ck_claim_revision_test_context_typed CHECK ((test_context IS NULL) = (test_context_kind IS NULL)), 
	CONSTRAINT ck_claim_revision_test_context_whole CHECK ((test_context IS NULL) = (test_context_version IS NULL)), 
	CONSTRAINT ck_claim_revision_natural_key_32_bytes CHECK (length(natural_key) = 32), 
	CONSTRAINT ck_claim_revision_why_from_2 CHECK (revision = 1 OR has_why = 1), 
	CONSTRAINT ck_claim_revision_revision_from_1 CHECK (revision >= 1), 
	CONSTRAINT ck_claim_revision_theta_agrees CHECK (theta IS NULL OR relation IS NOT NULL), 
	CONSTRAINT fk_claim_revision_card_revision_card_revision FOREIGN KEY(log, card, card_revision) REFERENCES card_revision (log, card, revision), 
	CONSTRAINT fk_claim_revision_claim_identifier FOREIGN KEY(log, claim) REFERENCES identifier (log, id), 
	CONSTRAINT fk_claim_revision_property_kind_spec_version FOREIGN KEY(log, property, property_version, property_kind) REFERENCES spec_version (log, spec, version, kind), 
	CONSTRAINT fk_claim_revision_scoring_kind_spec_version FOREIGN KEY(log, scoring, scoring_version, scoring_kind) REFERENCES spec_version (log, spec, version, kind), 
	CONSTRAINT fk_claim_revision_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_claim_revision_test_context_kind_spec_version FOREIGN KEY(log, test_context, test_context_version, test_context_kind) REFERENCES spec_version (log, spec, version, kind), 
	CONSTRAINT uq_claim_revision_log_claim_revision UNIQUE (log, claim, revision)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "claim_revision" VALUES(1,3,'CLM-LAB-2026-0001-E',1,X'168FEF2CE3B9F872FDE65BCD3EF1F7A55AE7CA8ACDAFC72531C1A468C76A9512','paraphrase','prevalence',NULL,NULL,'higher_is_safer','Example','m','1',NULL,NULL,'PRP-LAB-2026-0001-X',1,'property',NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "claim_revision" VALUES(1,4,'CLM-LAB-2026-0001-E',2,X'E7C7A6BCD2B7BED868A22D4D7AFA54CA53857E39DE0EC4E346AEB9992404F285','paraphrase','prevalence',NULL,NULL,'higher_is_safer','Example','m','1',NULL,NULL,'PRP-LAB-2026-0001-X',1,'property',NULL,NULL,NULL,NULL,NULL,NULL,1);
INSERT INTO "claim_revision" VALUES(2,3,'CLM-LAB-2026-0001-E',1,X'16808B3746A726F9F77837CC4B375CE3454EBAB93E6D005549E978D9AC2741EE','paraphrase','prevalence',NULL,NULL,'higher_is_safer','Example','m','1',NULL,NULL,'PRP-LAB-2026-0001-X',1,'property',NULL,NULL,NULL,NULL,NULL,NULL,0);
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

;
INSERT INTO "claim_text" VALUES(1,3,'Words.',NULL);
INSERT INTO "claim_text" VALUES(1,4,'Better words.',NULL);
INSERT INTO "claim_text" VALUES(2,3,'Their words.',NULL);
CREATE TABLE content (
	sha256 BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_content PRIMARY KEY (sha256), 
	CONSTRAINT ck_content_sha256_32_bytes CHECK (length(sha256) = 32)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE contestation (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	contestation TEXT NOT NULL, 
	claim TEXT, 
	revision INTEGER, 
	spec TEXT, 
	version INTEGER, 
	contested_by TEXT NOT NULL, 
	rival TEXT, 
	rival_version INTEGER, 
	CONSTRAINT pk_contestation PRIMARY KEY (log, seq), 
	CONSTRAINT ck_contestation_contestation_begins CHECK (substr(contestation, 1, 4) = 'CON-'), 
	CONSTRAINT ck_contestation_one_target CHECK ((claim IS NULL) <> (spec IS NULL)), 
	CONSTRAINT ck_contestation_target_whole CHECK ((claim IS NULL) = (revision IS NULL) AND (spec IS NULL) = (version IS NULL)), 
	CONSTRAINT ck_contestation_rival_whole CHECK ((rival IS NULL) = (rival_version IS NULL)), 
	CONSTRAINT fk_contestation_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision), 
	CONSTRAINT fk_contestation_contestation_identifier FOREIGN KEY(log, contestation) REFERENCES identifier (log, id), 
	CONSTRAINT fk_contestation_contested_by_authority FOREIGN KEY(log, contested_by) REFERENCES authority (log, code), 
	CONSTRAINT fk_contestation_rival_version_spec_version FOREIGN KEY(log, rival, rival_version) REFERENCES spec_version (log, spec, version), 
	CONSTRAINT fk_contestation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_contestation_version_spec_version FOREIGN KEY(log, spec, version) REFERENCES spec_version (log, spec, version), 
	CONSTRAINT uq_contestation_log_contestation UNIQUE (log, contestation)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE contestation_event (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	contestation TEXT NOT NULL, 
	step TEXT NOT NULL, 
	CONSTRAINT pk_contestation_event PRIMARY KEY (log, seq), 
	CONSTRAINT ck_contestation_event_step CHECK (step IN ('answered', 'upheld', 'rejected', 'escalated')), 
	CONSTRAINT fk_contestation_event_contestation_contestation FOREIGN KEY(log, contestation) REFERENCES contestation (log, contestation), 
	CONSTRAINT fk_contestation_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
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

;
INSERT INTO "cosignature" VALUES(1,16,'— witness.example cYSj/gAAAABppCtsbmg0+67JsWD2MEECR2bCBPDnVHOpw47JTqKv0aJqCR1Bn0yfvaUMGfxkddYkFQzxINDG4XrMW/qOBpL+IF07Dw==',1772366700);
CREATE TABLE deviation (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	audit TEXT NOT NULL, 
	item TEXT NOT NULL, 
	found INTEGER NOT NULL, 
	CONSTRAINT pk_deviation PRIMARY KEY (log, seq), 
	CONSTRAINT ck_deviation_item CHECK (item IN ('theta', 'direction', 'margin', 'epsilon', 'level', 'interval', 'test_contexts', 'deploy_contexts', 'tasks', 'cues', 'scoring', 'model', 'budget', 'stopping_rule', 'exclusions', 'other')), 
	CONSTRAINT ck_deviation_found CHECK (found IN (0, 1)), 
	CONSTRAINT fk_deviation_audit_lock FOREIGN KEY(log, audit) REFERENCES lock (log, audit), 
	CONSTRAINT fk_deviation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "deviation" VALUES(1,14,'AUD-LAB-2026-0001-1','budget',0);
CREATE TABLE entry (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	at INTEGER NOT NULL, 
	leaf BLOB NOT NULL, 
	CONSTRAINT pk_entry PRIMARY KEY (log, seq), 
	CONSTRAINT ck_entry_kind CHECK (kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration')), 
	CONSTRAINT ck_entry_leaf_32_bytes CHECK (length(leaf) = 32), 
	CONSTRAINT fk_entry_log FOREIGN KEY(log) REFERENCES log (id)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "entry" VALUES(1,1,'authority','LAB',1772366400,X'E2FC0D83A88E7700E0AB164148F599C7F1AFB32D5D78AA9257B8634DD3AC9C28');
INSERT INTO "entry" VALUES(1,2,'spec_version','LAB',1772366402,X'7AAC7C6B26999D7828FD4DAD8CFE7F8250B4EAA9C7F932A71BB7AA558FEF1907');
INSERT INTO "entry" VALUES(1,3,'claim_revision','LAB',1772366404,X'121B8436A03D6A1948636CC49E133385308998276FFD39FB11DC212E3028C6DA');
INSERT INTO "entry" VALUES(1,4,'claim_revision','LAB',1772366405,X'4F592BE6FC871630E07821D5DD720F8A9C297EA4E852A8ACB2D9418A68109C7F');
INSERT INTO "entry" VALUES(1,5,'audit','LAB',1772366407,X'2788841EDDDF961718FD1AEA9A4965E4AE19A90692DB8E2D5C27AC0606F3A939');
INSERT INTO "entry" VALUES(1,6,'lock','LAB',1772366408,X'6EFD22803A44D6B507C9D5F146740028CB2A0EF14DA2E76F914BE55CAF725B31');
INSERT INTO "entry" VALUES(1,7,'evidence','LAB',1772366409,X'D83139D448F2107BB37EFF18053EE3AC1394A83C7BD3C71747BD2276EB2B0ECB');
INSERT INTO "entry" VALUES(1,8,'spec_version','LAB',1772366411,X'2A812F742FA35F3D51B23BA144F0C108876C356F214A1FA68E62816A8165912B');
INSERT INTO "entry" VALUES(1,9,'key_event','LAB',1772366412,X'4CA91C3C2549B51CEBF0304056388963DC866DE789E2151FC9D09ECBF9DDC928');
INSERT INTO "entry" VALUES(1,10,'log_import','LAB',1772366412,X'52E505C83C443A3DCBAD9F6FFEB9A4AE2E0E31004E3C078FC0DCEC2BE7510FC4');
INSERT INTO "entry" VALUES(1,11,'witnessing','LAB',1772366412,X'F3362D0F5CDC37796476C93A0D48D7D8EF0E8241ED250C745458BD59A1681207');
INSERT INTO "entry" VALUES(1,12,'equivocation','LAB',1772366412,X'C233ECA5A03F975C5CEA245F40F66BABA76991D374F821CB053400B21ECA3C78');
INSERT INTO "entry" VALUES(1,13,'reveal','LAB',1772366412,X'69C08AE295F511A112656FE6607251A8FFB3E6DEACEFB2AD6B65D7C0B6A5A73F');
INSERT INTO "entry" VALUES(1,14,'deviation','LAB',1772366412,X'111B88C6919ABB50FE2DA8AF6DF1294D9E4F30A671FDB813567C100702066B6D');
INSERT INTO "entry" VALUES(1,15,'exploration','LAB',1772366412,X'959C4EA1FA76FC692969831A9FD46DA69D2891B8212B404908DF3FE2C0D77BA9');
INSERT INTO "entry" VALUES(1,16,'erasure','LAB',1772366413,X'2AD0A014CC1D49298D2F79DDCD0AB04DB2655ABCFCE3C1B0AF062E2A2D1758F1');
INSERT INTO "entry" VALUES(1,17,'authority','LAB',1772366415,X'69D0B55BEC1E5BCD748ED21BB32A8E35EDC402FB49F5F93B51F6065F80D59447');
INSERT INTO "entry" VALUES(1,18,'authority','LAB',1772366416,X'628A28C77DE8B9DAFA372AB139BD4989FFCBB8ADA9C01DE64DFED14D6371CDB1');
INSERT INTO "entry" VALUES(1,19,'authority','LAB',1772366417,X'372D320A690BCDA93B66E15CAF85DA85D21FD72E989A97F1389D48847620C663');
INSERT INTO "entry" VALUES(1,20,'authority','LAB',1772366418,X'733D101FAD4291792E2AB9852BBC14AA5408A3003C30610BDDCCFC5DE6180F62');
INSERT INTO "entry" VALUES(2,1,'authority','LAB',1772366400,X'E2FC0D83A88E7700E0AB164148F599C7F1AFB32D5D78AA9257B8634DD3AC9C28');
INSERT INTO "entry" VALUES(2,2,'spec_version','LAB',1772366402,X'7AAC7C6B26999D7828FD4DAD8CFE7F8250B4EAA9C7F932A71BB7AA558FEF1907');
INSERT INTO "entry" VALUES(2,3,'claim_revision','LAB',1772366404,X'7687F4EA28BAB497A7A83DE68EC8CDB883C32C616E58A6208F9C554CD2DA25B5');
CREATE TABLE equivocation (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	origin TEXT NOT NULL, 
	CONSTRAINT pk_equivocation PRIMARY KEY (log, seq), 
	CONSTRAINT fk_equivocation_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "equivocation" VALUES(1,12,'other.example/log');
CREATE TABLE erasure (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	erased INTEGER NOT NULL, 
	leaf BLOB NOT NULL, 
	CONSTRAINT pk_erasure PRIMARY KEY (log, seq), 
	CONSTRAINT ck_erasure_erased_before CHECK (erased < seq), 
	CONSTRAINT ck_erasure_leaf_32_bytes CHECK (length(leaf) = 32), 
	CONSTRAINT fk_erasure_erased_entry FOREIGN KEY(log, erased) REFERENCES entry (log, seq), 
	CONSTRAINT fk_erasure_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_erasure_log_erased UNIQUE (log, erased)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "erasure" VALUES(1,16,7,X'D83139D448F2107BB37EFF18053EE3AC1394A83C7BD3C71747BD2276EB2B0ECB');
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
	CONSTRAINT fk_estimate_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_estimate_seq_result FOREIGN KEY(log, seq) REFERENCES result (log, seq), 
	CONSTRAINT uq_estimate_log_seq_spec_judge UNIQUE (log, seq, spec, judge)
)
 WITHOUT ROWID,
 STRICT

;
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
	CONSTRAINT ck_evidence_unavailable_without_finding CHECK (access = 'available' OR finding IS NULL AND kind IS NULL), 
	CONSTRAINT ck_evidence_access CHECK (access IN ('available', 'unavailable', 'withheld')), 
	CONSTRAINT ck_evidence_kind CHECK (kind IN ('observation', 'departure', 'perturbation', 'risk_amplifying', 'adverse')), 
	CONSTRAINT ck_evidence_layer CHECK (layer IN ('behavioural', 'verbalised', 'latent', 'cue_sensitivity')), 
	CONSTRAINT fk_evidence_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision), 
	CONSTRAINT fk_evidence_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "evidence" VALUES(1,7,'AUD-LAB-2026-0001-1','CLM-LAB-2026-0001-E',1,'verbalised','available',NULL,NULL);
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

;
INSERT INTO "exploration" VALUES(1,15,'AUD-LAB-2026-0001-1','CLM-LAB-2026-0001-E',1,X'ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB');
CREATE TABLE finding (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	audit TEXT NOT NULL, 
	claim TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	CONSTRAINT pk_finding PRIMARY KEY (log, seq), 
	CONSTRAINT ck_finding_what CHECK (what IN ('naturalness', 'ablation', 'judge', 'probe')), 
	CONSTRAINT fk_finding_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision), 
	CONSTRAINT fk_finding_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE identifier (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	authority TEXT NOT NULL, 
	year INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	CONSTRAINT pk_identifier PRIMARY KEY (log, id), 
	CONSTRAINT ck_identifier_kind CHECK (kind IN ('CLM', 'AUD', 'CRD', 'CTX', 'PRP', 'SCF', 'CUE', 'MTH', 'CON')), 
	CONSTRAINT ck_identifier_id_agrees CHECK (substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'), 
	CONSTRAINT ck_identifier_number_from_1 CHECK (number >= 1), 
	CONSTRAINT fk_identifier_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code), 
	CONSTRAINT fk_identifier_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_identifier_log_kind_authority_year_number UNIQUE (log, kind, authority, year, number)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "identifier" VALUES(1,5,'AUD-LAB-2026-0001-1','AUD','LAB',2026,1);
INSERT INTO "identifier" VALUES(1,3,'CLM-LAB-2026-0001-E','CLM','LAB',2026,1);
INSERT INTO "identifier" VALUES(1,8,'CTX-LAB-2026-0001-0','CTX','LAB',2026,1);
INSERT INTO "identifier" VALUES(1,2,'PRP-LAB-2026-0001-X','PRP','LAB',2026,1);
INSERT INTO "identifier" VALUES(2,3,'CLM-LAB-2026-0001-E','CLM','LAB',2026,1);
INSERT INTO "identifier" VALUES(2,2,'PRP-LAB-2026-0001-X','PRP','LAB',2026,1);
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
	CONSTRAINT ck_key_event_rotate_names_replaced CHECK ((event = 'rotate') = (replaces IS NOT NULL)), 
	CONSTRAINT ck_key_event_algorithm CHECK (algorithm IN ('ed25519', 'ml-dsa-44', 'ecdsa-p256')), 
	CONSTRAINT ck_key_event_reason_given CHECK (event = 'add' OR has_reason = 1), 
	CONSTRAINT ck_key_event_event CHECK (event IN ('add', 'rotate', 'revoke')), 
	CONSTRAINT ck_key_event_purpose CHECK (purpose IN ('log', 'document')), 
	CONSTRAINT ck_key_event_key_32_bytes CHECK (length(key) = 32), 
	CONSTRAINT ck_key_event_replaces_32_bytes CHECK (length(replaces) = 32), 
	CONSTRAINT fk_key_event_authority_authority FOREIGN KEY(log, authority) REFERENCES authority (log, code), 
	CONSTRAINT fk_key_event_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_key_event_log_key_event UNIQUE (log, "key", event)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "key_event" VALUES(1,9,'LAB','add',X'B67790253BE056211DA8638BFA2841B9170AF8DA0ADAF1EA8630D80648F51EE1','ed25519','log',NULL,0);
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
	CONSTRAINT ck_lock_direction CHECK (direction IN ('higher_is_safer', 'lower_is_safer', 'not_safety')), 
	CONSTRAINT ck_lock_relation CHECK (relation IN ('<=', '>=')), 
	CONSTRAINT ck_lock_level CHECK (level >= 0.5 AND level < 1), 
	CONSTRAINT ck_lock_margin CHECK (margin > 0), 
	CONSTRAINT ck_lock_theta_agrees CHECK (theta IS NULL OR relation IS NOT NULL), 
	CONSTRAINT fk_lock_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision), 
	CONSTRAINT fk_lock_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_lock_log_audit_seq_at UNIQUE (log, audit, seq, at), 
	CONSTRAINT uq_lock_log_audit_seq UNIQUE (log, audit, seq), 
	CONSTRAINT uq_lock_log_audit UNIQUE (log, audit)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "lock" VALUES(1,6,'AUD-LAB-2026-0001-1','CLM-LAB-2026-0001-E',1,1772366408,NULL,NULL,'higher_is_safer',0.05,0.95);
CREATE TABLE log (
	id INTEGER NOT NULL, 
	origin TEXT NOT NULL, 
	vkey TEXT, 
	CONSTRAINT pk_log PRIMARY KEY (id), 
	CONSTRAINT uq_log_origin UNIQUE (origin)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "log" VALUES(1,'caveat/00000000000000000000000000000001',NULL);
INSERT INTO "log" VALUES(2,'other.example/log','other.example/log+0f55acd4+AetzMje2476S790wIp9DcED9TV/XKXHxs2hvcjUOYkbi');
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

;
INSERT INTO "log_import" VALUES(1,10,'other.example/log',5,X'ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB');
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
	CONSTRAINT fk_model_version_predecessor_version_model_version FOREIGN KEY(log, predecessor_developer, predecessor_name, predecessor_version) REFERENCES model_version (log, developer, name, version), 
	CONSTRAINT fk_model_version_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_model_version_log_developer_name_version UNIQUE (log, developer, name, version)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE node (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	level INTEGER NOT NULL, 
	hash BLOB NOT NULL, 
	CONSTRAINT pk_node PRIMARY KEY (log, seq, level), 
	CONSTRAINT ck_node_hash_32_bytes CHECK (length(hash) = 32), 
	CONSTRAINT ck_node_level_of_sixteens CHECK (level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)), 
	CONSTRAINT fk_node_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "node" VALUES(1,16,4,X'4CBB402CBF981B11AF60C3AD9FD80CA450452918CA9D866406736B8164CF4632');
CREATE TABLE omission (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	card TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	stop INTEGER NOT NULL, 
	CONSTRAINT pk_omission PRIMARY KEY (log, seq), 
	CONSTRAINT ck_omission_stop_after_start CHECK (start >= 0 AND stop > start), 
	CONSTRAINT fk_omission_revision_card_revision FOREIGN KEY(log, card, revision) REFERENCES card_revision (log, card, revision), 
	CONSTRAINT fk_omission_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_omission_log_card_revision_start_stop UNIQUE (log, card, revision, start, stop)
)
 WITHOUT ROWID,
 STRICT

;
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
	CONSTRAINT ck_publication_format CHECK (format IN ('pdf', 'html', 'json')), 
	CONSTRAINT ck_publication_record_32_bytes CHECK (length(record) = 32), 
	CONSTRAINT ck_publication_sha256_32_bytes CHECK (length(sha256) = 32), 
	CONSTRAINT ck_publication_template_32_bytes CHECK (length(template) = 32), 
	CONSTRAINT ck_publication_made_before_recorded CHECK (log_size < seq), 
	CONSTRAINT fk_publication_audit_audit FOREIGN KEY(log, audit) REFERENCES audit (log, audit), 
	CONSTRAINT fk_publication_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_publication_subject_identifier FOREIGN KEY(log, subject) REFERENCES identifier (log, id)
)
 WITHOUT ROWID,
 STRICT

;
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
	CONSTRAINT ck_restriction_undetermined_resolves CHECK ((class = 'undetermined') = (coalesce(length(trim(resolves)), 0) > 0)), 
	CONSTRAINT ck_restriction_undetermined_has_mode CHECK ((class = 'undetermined') = (mode IS NOT NULL)), 
	CONSTRAINT ck_restriction_established_inversion_needs_replay CHECK (NOT (class = 'inverted' AND coalesce(standing, '') = 'established') OR basis = 'replay' AND result IS NOT NULL), 
	CONSTRAINT ck_restriction_as_form CHECK (as_form IN ('existence', 'upper_bound', 'lower_bound', 'prevalence', 'threshold')), 
	CONSTRAINT ck_restriction_replay_names_result CHECK (basis <> 'replay' OR result IS NOT NULL), 
	CONSTRAINT ck_restriction_basis CHECK (basis IN ('replay', 'reported', 'none')), 
	CONSTRAINT ck_restriction_inverted_needs_threshold CHECK (class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')), 
	CONSTRAINT ck_restriction_class CHECK (class IN ('stable', 'degraded', 'inverted', 'undetermined')), 
	CONSTRAINT ck_restriction_form CHECK (form IN ('existence', 'upper_bound', 'lower_bound', 'prevalence', 'threshold')), 
	CONSTRAINT ck_restriction_mode CHECK (mode IN ('technical', 'ontological', 'noisy')), 
	CONSTRAINT ck_restriction_standing CHECK (standing IN ('established', 'candidate', 'structural_risk', 'direction_verified', 'observed_condition', 'conditional', 'provisional')), 
	CONSTRAINT ck_restriction_primary_in_own_form CHECK (reading > 0 OR form = as_form), 
	CONSTRAINT fk_restriction_revision_audit FOREIGN KEY(log, audit, claim, revision) REFERENCES audit (log, audit, claim, revision), 
	CONSTRAINT fk_restriction_result_result FOREIGN KEY(log, audit, result) REFERENCES result (log, audit, seq), 
	CONSTRAINT fk_restriction_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE result (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	audit TEXT NOT NULL, 
	lock INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	CONSTRAINT pk_result PRIMARY KEY (log, seq), 
	CONSTRAINT ck_result_lock_before_run_before_result CHECK (lock < run AND run < seq), 
	CONSTRAINT fk_result_lock_lock FOREIGN KEY(log, audit, lock) REFERENCES lock (log, audit, seq), 
	CONSTRAINT fk_result_run_run FOREIGN KEY(log, audit, run) REFERENCES run (log, audit, seq), 
	CONSTRAINT fk_result_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_result_log_audit_seq UNIQUE (log, audit, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE reveal (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	spec TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_reveal PRIMARY KEY (log, seq), 
	CONSTRAINT fk_reveal_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_reveal_version_spec_version FOREIGN KEY(log, spec, version) REFERENCES spec_version (log, spec, version), 
	CONSTRAINT uq_reveal_log_spec_version UNIQUE (log, spec, version)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "reveal" VALUES(1,13,'CTX-LAB-2026-0001-0',1);
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
	CONSTRAINT ck_run_status CHECK (status IN ('completed', 'aborted', 'failed')), 
	CONSTRAINT ck_run_scores_32_bytes CHECK (length(scores) = 32), 
	CONSTRAINT ck_run_lock_before_run CHECK (lock < seq), 
	CONSTRAINT ck_run_counts CHECK (responses >= 0 AND excluded >= 0), 
	CONSTRAINT ck_run_started_after_lock CHECK (started_at >= lock_at), 
	CONSTRAINT fk_run_lock_at_lock FOREIGN KEY(log, audit, lock, lock_at) REFERENCES lock (log, audit, seq, at), 
	CONSTRAINT fk_run_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_run_log_audit_seq UNIQUE (log, audit, seq)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE sighting (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	card TEXT NOT NULL, 
	card_revision INTEGER NOT NULL, 
	fate TEXT NOT NULL, 
	alarm INTEGER NOT NULL, 
	start INTEGER, 
	stop INTEGER, 
	CONSTRAINT pk_sighting PRIMARY KEY (log, seq), 
	CONSTRAINT ck_sighting_placed_unless_gone CHECK ((fate = 'gone') = (start IS NULL) AND (start IS NULL) = (stop IS NULL)), 
	CONSTRAINT ck_sighting_alarm_agrees CHECK (CASE fate WHEN 'gone' THEN alarm = 1 WHEN 'reworded' THEN alarm IN (0, 1) ELSE alarm = 0 END), 
	CONSTRAINT ck_sighting_fate CHECK (fate IN ('unchanged', 'moved', 'reworded', 'gone')), 
	CONSTRAINT ck_sighting_stop_after_start CHECK (start >= 0 AND stop > start), 
	CONSTRAINT fk_sighting_card_revision_card_revision FOREIGN KEY(log, card, card_revision) REFERENCES card_revision (log, card, revision), 
	CONSTRAINT fk_sighting_revision_claim_revision FOREIGN KEY(log, claim, revision) REFERENCES claim_revision (log, claim, revision), 
	CONSTRAINT fk_sighting_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT uq_sighting_log_claim_revision_card_card_revision UNIQUE (log, claim, revision, card, card_revision)
)
 WITHOUT ROWID,
 STRICT

;
CREATE TABLE spec (
	log INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	spec TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	slug TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	CONSTRAINT pk_spec PRIMARY KEY (log, seq), 
	CONSTRAINT ck_spec_kind CHECK (kind IN ('property', 'scoring', 'test_context', 'deploy_context', 'cue_inventory', 'method')), 
	CONSTRAINT fk_spec_owner_authority FOREIGN KEY(log, owner) REFERENCES authority (log, code), 
	CONSTRAINT fk_spec_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_spec_spec_identifier FOREIGN KEY(log, spec) REFERENCES identifier (log, id), 
	CONSTRAINT uq_spec_log_owner_kind_slug UNIQUE (log, owner, kind, slug), 
	CONSTRAINT uq_spec_log_spec_kind UNIQUE (log, spec, kind)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "spec" VALUES(1,2,'PRP-LAB-2026-0001-X','property','refusal','LAB');
INSERT INTO "spec" VALUES(1,8,'CTX-LAB-2026-0001-0','deploy_context','hidden','LAB');
INSERT INTO "spec" VALUES(2,2,'PRP-LAB-2026-0001-X','property','refusal','LAB');
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
	CONSTRAINT ck_spec_version_sealed_xor_body CHECK ((body IS NULL) <> (commitment IS NULL)), 
	CONSTRAINT ck_spec_version_commitment_32_bytes CHECK (length(commitment) = 32), 
	CONSTRAINT ck_spec_version_why_from_2 CHECK (version = 1 OR length(trim(why)) > 0 AND why IS NOT NULL), 
	CONSTRAINT fk_spec_version_seq_entry FOREIGN KEY(log, seq) REFERENCES entry (log, seq), 
	CONSTRAINT fk_spec_version_kind_spec FOREIGN KEY(log, spec, kind) REFERENCES spec (log, spec, kind), 
	CONSTRAINT uq_spec_version_log_spec_version_kind UNIQUE (log, spec, version, kind), 
	CONSTRAINT uq_spec_version_log_spec_version UNIQUE (log, spec, version)
)
 WITHOUT ROWID,
 STRICT

;
INSERT INTO "spec_version" VALUES(1,2,'PRP-LAB-2026-0001-X','property',1,'{"class":"compliance_refusal","description":null,"direction":"higher_is_safer","name":"refusal rate","range":[0,1],"suppressible":false}',NULL,NULL);
INSERT INTO "spec_version" VALUES(1,8,'CTX-LAB-2026-0001-0','deploy_context',1,NULL,X'5782FFDB8B584DEB0E0565947BBC3B34D80F371194F58005BF1BEAE3200619AC',NULL);
INSERT INTO "spec_version" VALUES(2,2,'PRP-LAB-2026-0001-X','property',1,'{"class":"compliance_refusal","description":null,"direction":"higher_is_safer","name":"refusal rate","range":[0,1],"suppressible":false}',NULL,NULL);
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

;
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

;
INSERT INTO "witnessing" VALUES(1,11,'other.example/log',5,X'ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB');
CREATE INDEX ix_model_version_predecessor ON model_version (log, predecessor_developer, predecessor_name, predecessor_version);
CREATE INDEX ix_claim_event_log_claim ON claim_event (log, claim);
CREATE INDEX ix_claim_relation_log_other ON claim_relation (log, other);
CREATE INDEX ix_claim_revision_log_natural_key ON claim_revision (log, natural_key);
CREATE INDEX ix_audit_log_claim ON audit (log, claim);
CREATE INDEX ix_contestation_log_claim ON contestation (log, claim);
CREATE INDEX ix_contestation_log_spec ON contestation (log, spec);
CREATE INDEX ix_contestation_event_log_contestation ON contestation_event (log, contestation);
CREATE INDEX ix_evidence_log_audit ON evidence (log, audit);
CREATE INDEX ix_publication_log_sha256 ON publication (log, sha256);
CREATE INDEX ix_publication_log_subject ON publication (log, subject);
CREATE INDEX ix_restriction_log_audit ON restriction (log, audit);
CREATE INDEX ix_restriction_log_claim_revision ON restriction (log, claim, revision);
CREATE TRIGGER content__update BEFORE UPDATE ON content BEGIN SELECT RAISE(ABORT, 'append-only: content takes no UPDATE'); END;
CREATE TRIGGER content__insert BEFORE INSERT ON content BEGIN SELECT CASE WHEN (SELECT 1 FROM content WHERE sha256 = NEW.sha256) THEN RAISE(ABORT, 'append-only: content holds this sha256') END; END;
CREATE TRIGGER log__update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'append-only: log takes no UPDATE'); END;
CREATE TRIGGER log__delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'append-only: log takes no DELETE'); END;
CREATE TRIGGER log__insert BEFORE INSERT ON log BEGIN SELECT CASE WHEN (SELECT 1 FROM log WHERE id = NEW.id) THEN RAISE(ABORT, 'append-only: log holds this id') WHEN (SELECT 1 FROM log WHERE origin = NEW.origin) THEN RAISE(ABORT, 'append-only: log holds this origin') END; END;
CREATE TRIGGER entry__update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append-only: entry takes no UPDATE'); END;
CREATE TRIGGER entry__delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append-only: entry takes no DELETE'); END;
CREATE TRIGGER entry__insert BEFORE INSERT ON entry BEGIN SELECT CASE WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry WHERE log = NEW.log) THEN RAISE(ABORT, 'not-gapless: entry.seq must follow the last one') WHEN NEW.at < (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq - 1) THEN RAISE(ABORT, 'out-of-order: entry.at must not lie before the entry that precedes it') END; END;
CREATE TRIGGER authority__update BEFORE UPDATE ON authority BEGIN SELECT RAISE(ABORT, 'append-only: authority takes no UPDATE'); END;
CREATE TRIGGER authority__delete BEFORE DELETE ON authority BEGIN SELECT RAISE(ABORT, 'append-only: authority takes no DELETE'); END;
CREATE TRIGGER authority__insert BEFORE INSERT ON authority BEGIN SELECT CASE WHEN (SELECT 1 FROM authority WHERE code = NEW.code AND log = NEW.log) THEN RAISE(ABORT, 'append-only: authority holds this code log') WHEN (SELECT 1 FROM authority WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: authority holds this log seq') END; END;
CREATE TRIGGER body__update BEFORE UPDATE ON body BEGIN SELECT RAISE(ABORT, 'append-only: body takes no UPDATE'); END;
CREATE TRIGGER body__insert BEFORE INSERT ON body BEGIN SELECT CASE WHEN (SELECT 1 FROM body WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: body holds this log seq') END; END;
CREATE TRIGGER model_version__update BEFORE UPDATE ON model_version BEGIN SELECT RAISE(ABORT, 'append-only: model_version takes no UPDATE'); END;
CREATE TRIGGER model_version__delete BEFORE DELETE ON model_version BEGIN SELECT RAISE(ABORT, 'append-only: model_version takes no DELETE'); END;
CREATE TRIGGER model_version__insert BEFORE INSERT ON model_version BEGIN SELECT CASE WHEN (SELECT 1 FROM model_version WHERE developer = NEW.developer AND log = NEW.log AND name = NEW.name AND version = NEW.version) THEN RAISE(ABORT, 'append-only: model_version holds this developer log name version') WHEN (SELECT 1 FROM model_version WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_version holds this log seq') END; END;
CREATE TRIGGER identifier__update BEFORE UPDATE ON identifier BEGIN SELECT RAISE(ABORT, 'append-only: identifier takes no UPDATE'); END;
CREATE TRIGGER identifier__delete BEFORE DELETE ON identifier BEGIN SELECT RAISE(ABORT, 'append-only: identifier takes no DELETE'); END;
CREATE TRIGGER identifier__insert BEFORE INSERT ON identifier BEGIN SELECT CASE WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM identifier WHERE log = NEW.log AND kind = NEW.kind AND authority = NEW.authority AND year = NEW.year) THEN RAISE(ABORT, 'not-gapless: identifier.number must follow the last one') WHEN (SELECT 1 FROM identifier WHERE id = NEW.id AND log = NEW.log) THEN RAISE(ABORT, 'append-only: identifier holds this id log') END; END;
CREATE TRIGGER card_revision__update BEFORE UPDATE ON card_revision BEGIN SELECT RAISE(ABORT, 'append-only: card_revision takes no UPDATE'); END;
CREATE TRIGGER card_revision__delete BEFORE DELETE ON card_revision BEGIN SELECT RAISE(ABORT, 'append-only: card_revision takes no DELETE'); END;
CREATE TRIGGER card_revision__insert BEFORE INSERT ON card_revision BEGIN SELECT CASE WHEN NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM card_revision WHERE log = NEW.log AND card = NEW.card) THEN RAISE(ABORT, 'not-gapless: card_revision.revision must follow the last one') WHEN (SELECT 1 FROM card_revision WHERE document = NEW.document AND log = NEW.log) THEN RAISE(ABORT, 'append-only: card_revision holds this document log') WHEN (SELECT 1 FROM card_revision WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: card_revision holds this log seq') END; END;
CREATE TRIGGER claim_event__update BEFORE UPDATE ON claim_event BEGIN SELECT RAISE(ABORT, 'append-only: claim_event takes no UPDATE'); END;
CREATE TRIGGER claim_event__delete BEFORE DELETE ON claim_event BEGIN SELECT RAISE(ABORT, 'append-only: claim_event takes no DELETE'); END;
CREATE TRIGGER claim_event__insert BEFORE INSERT ON claim_event BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_event holds this log seq') END; END;
CREATE TRIGGER claim_relation__update BEFORE UPDATE ON claim_relation BEGIN SELECT RAISE(ABORT, 'append-only: claim_relation takes no UPDATE'); END;
CREATE TRIGGER claim_relation__delete BEFORE DELETE ON claim_relation BEGIN SELECT RAISE(ABORT, 'append-only: claim_relation takes no DELETE'); END;
CREATE TRIGGER claim_relation__insert BEFORE INSERT ON claim_relation BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_relation WHERE claim = NEW.claim AND log = NEW.log AND other = NEW.other AND relation = NEW.relation) THEN RAISE(ABORT, 'append-only: claim_relation holds this claim log other relation') WHEN (SELECT 1 FROM claim_relation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_relation holds this log seq') END; END;
CREATE TRIGGER spec__update BEFORE UPDATE ON spec BEGIN SELECT RAISE(ABORT, 'append-only: spec takes no UPDATE'); END;
CREATE TRIGGER spec__delete BEFORE DELETE ON spec BEGIN SELECT RAISE(ABORT, 'append-only: spec takes no DELETE'); END;
CREATE TRIGGER spec__insert BEFORE INSERT ON spec BEGIN SELECT CASE WHEN (SELECT 1 FROM spec WHERE kind = NEW.kind AND log = NEW.log AND owner = NEW.owner AND slug = NEW.slug) THEN RAISE(ABORT, 'append-only: spec holds this kind log owner slug') WHEN (SELECT 1 FROM spec WHERE kind = NEW.kind AND log = NEW.log AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: spec holds this kind log spec') WHEN (SELECT 1 FROM spec WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: spec holds this log seq') END; END;
CREATE TRIGGER spec_version__update BEFORE UPDATE ON spec_version BEGIN SELECT RAISE(ABORT, 'append-only: spec_version takes no UPDATE'); END;
CREATE TRIGGER spec_version__delete BEFORE DELETE ON spec_version BEGIN SELECT RAISE(ABORT, 'append-only: spec_version takes no DELETE'); END;
CREATE TRIGGER spec_version__insert BEFORE INSERT ON spec_version BEGIN SELECT CASE WHEN NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM spec_version WHERE log = NEW.log AND spec = NEW.spec) THEN RAISE(ABORT, 'not-gapless: spec_version.version must follow the last one') WHEN (SELECT 1 FROM spec_version WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: spec_version holds this log seq') END; END;
CREATE TRIGGER claim_revision__update BEFORE UPDATE ON claim_revision BEGIN SELECT RAISE(ABORT, 'append-only: claim_revision takes no UPDATE'); END;
CREATE TRIGGER claim_revision__delete BEFORE DELETE ON claim_revision BEGIN SELECT RAISE(ABORT, 'append-only: claim_revision takes no DELETE'); END;
CREATE TRIGGER claim_revision__insert BEFORE INSERT ON claim_revision BEGIN SELECT CASE WHEN NEW.revision <> (SELECT coalesce(max(revision), 0) + 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim) THEN RAISE(ABORT, 'not-gapless: claim_revision.revision must follow the last one') WHEN (SELECT 1 FROM claim_revision WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_revision holds this log seq') END; END;
CREATE TRIGGER audit__update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append-only: audit takes no UPDATE'); END;
CREATE TRIGGER audit__delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'append-only: audit takes no DELETE'); END;
CREATE TRIGGER audit__insert BEFORE INSERT ON audit BEGIN SELECT CASE WHEN (SELECT 1 FROM audit WHERE audit = NEW.audit AND log = NEW.log) THEN RAISE(ABORT, 'append-only: audit holds this audit log') WHEN (SELECT 1 FROM audit WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit holds this log seq') END; END;
CREATE TRIGGER claim_context__update BEFORE UPDATE ON claim_context BEGIN SELECT RAISE(ABORT, 'append-only: claim_context takes no UPDATE'); END;
CREATE TRIGGER claim_context__delete BEFORE DELETE ON claim_context BEGIN SELECT RAISE(ABORT, 'append-only: claim_context takes no DELETE'); END;
CREATE TRIGGER claim_context__insert BEFORE INSERT ON claim_context BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_context WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_context holds this log position seq') END; END;
CREATE TRIGGER claim_text__update BEFORE UPDATE ON claim_text BEGIN SELECT RAISE(ABORT, 'append-only: claim_text takes no UPDATE'); END;
CREATE TRIGGER claim_text__insert BEFORE INSERT ON claim_text BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_text WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_text holds this log seq') END; END;
CREATE TRIGGER contestation__update BEFORE UPDATE ON contestation BEGIN SELECT RAISE(ABORT, 'append-only: contestation takes no UPDATE'); END;
CREATE TRIGGER contestation__delete BEFORE DELETE ON contestation BEGIN SELECT RAISE(ABORT, 'append-only: contestation takes no DELETE'); END;
CREATE TRIGGER contestation__insert BEFORE INSERT ON contestation BEGIN SELECT CASE WHEN (SELECT 1 FROM contestation WHERE contestation = NEW.contestation AND log = NEW.log) THEN RAISE(ABORT, 'append-only: contestation holds this contestation log') WHEN (SELECT 1 FROM contestation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: contestation holds this log seq') END; END;
CREATE TRIGGER contestation_event__update BEFORE UPDATE ON contestation_event BEGIN SELECT RAISE(ABORT, 'append-only: contestation_event takes no UPDATE'); END;
CREATE TRIGGER contestation_event__delete BEFORE DELETE ON contestation_event BEGIN SELECT RAISE(ABORT, 'append-only: contestation_event takes no DELETE'); END;
CREATE TRIGGER contestation_event__insert BEFORE INSERT ON contestation_event BEGIN SELECT CASE WHEN (SELECT 1 FROM contestation_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: contestation_event holds this log seq') END; END;
CREATE TRIGGER evidence__update BEFORE UPDATE ON evidence BEGIN SELECT RAISE(ABORT, 'append-only: evidence takes no UPDATE'); END;
CREATE TRIGGER evidence__delete BEFORE DELETE ON evidence BEGIN SELECT RAISE(ABORT, 'append-only: evidence takes no DELETE'); END;
CREATE TRIGGER evidence__insert BEFORE INSERT ON evidence BEGIN SELECT CASE WHEN (SELECT 1 FROM evidence WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: evidence holds this log seq') END; END;
CREATE TRIGGER lock__update BEFORE UPDATE ON lock BEGIN SELECT RAISE(ABORT, 'append-only: lock takes no UPDATE'); END;
CREATE TRIGGER lock__delete BEFORE DELETE ON lock BEGIN SELECT RAISE(ABORT, 'append-only: lock takes no DELETE'); END;
CREATE TRIGGER lock__insert BEFORE INSERT ON lock BEGIN SELECT CASE WHEN NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'not-its-time: lock.at must be the time of its entry') WHEN (SELECT 1 FROM lock WHERE audit = NEW.audit AND log = NEW.log) THEN RAISE(ABORT, 'append-only: lock holds this audit log') WHEN (SELECT 1 FROM lock WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: lock holds this log seq') END; END;
CREATE TRIGGER publication__update BEFORE UPDATE ON publication BEGIN SELECT RAISE(ABORT, 'append-only: publication takes no UPDATE'); END;
CREATE TRIGGER publication__delete BEFORE DELETE ON publication BEGIN SELECT RAISE(ABORT, 'append-only: publication takes no DELETE'); END;
CREATE TRIGGER publication__insert BEFORE INSERT ON publication BEGIN SELECT CASE WHEN (SELECT 1 FROM publication WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: publication holds this log seq') END; END;
CREATE TRIGGER run__update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'append-only: run takes no UPDATE'); END;
CREATE TRIGGER run__delete BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'append-only: run takes no DELETE'); END;
CREATE TRIGGER run__insert BEFORE INSERT ON run BEGIN SELECT CASE WHEN (SELECT 1 FROM run WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run holds this log seq') END; END;
CREATE TRIGGER result__update BEFORE UPDATE ON result BEGIN SELECT RAISE(ABORT, 'append-only: result takes no UPDATE'); END;
CREATE TRIGGER result__delete BEFORE DELETE ON result BEGIN SELECT RAISE(ABORT, 'append-only: result takes no DELETE'); END;
CREATE TRIGGER result__insert BEFORE INSERT ON result BEGIN SELECT CASE WHEN (SELECT 1 FROM result WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: result holds this log seq') END; END;
CREATE TRIGGER restriction__update BEFORE UPDATE ON restriction BEGIN SELECT RAISE(ABORT, 'append-only: restriction takes no UPDATE'); END;
CREATE TRIGGER restriction__delete BEFORE DELETE ON restriction BEGIN SELECT RAISE(ABORT, 'append-only: restriction takes no DELETE'); END;
CREATE TRIGGER restriction__insert BEFORE INSERT ON restriction BEGIN SELECT CASE WHEN NEW.form <> (SELECT form FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision) THEN RAISE(ABORT, 'form-disagrees: restriction.form must be the form of the claim revision') WHEN (SELECT 1 FROM restriction WHERE log = NEW.log AND reading = NEW.reading AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: restriction holds this log reading seq') END; END;
CREATE TRIGGER estimate__update BEFORE UPDATE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no UPDATE'); END;
CREATE TRIGGER estimate__delete BEFORE DELETE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no DELETE'); END;
CREATE TRIGGER estimate__insert BEFORE INSERT ON estimate BEGIN SELECT CASE WHEN (SELECT 1 FROM estimate WHERE judge = NEW.judge AND log = NEW.log AND seq = NEW.seq AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: estimate holds this judge log seq spec') WHEN (SELECT 1 FROM estimate WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: estimate holds this log position seq') END; END;
CREATE INDEX ix_finding_log_audit ON finding (log, audit);
CREATE TRIGGER finding__update BEFORE UPDATE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no UPDATE'); END;
CREATE TRIGGER finding__delete BEFORE DELETE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no DELETE'); END;
CREATE TRIGGER finding__insert BEFORE INSERT ON finding BEGIN SELECT CASE WHEN EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq) THEN RAISE(ABORT, 'after-outcome: a finding enters an audit before its outcome') WHEN (SELECT 1 FROM finding WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: finding holds this log seq') END; END;
CREATE INDEX ix_survey_log_card_revision ON survey (log, card, revision);
CREATE INDEX ix_sighting_log_card_card_revision ON sighting (log, card, card_revision);
CREATE TRIGGER omission__update BEFORE UPDATE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no UPDATE'); END;
CREATE TRIGGER omission__delete BEFORE DELETE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no DELETE'); END;
CREATE TRIGGER omission__insert BEFORE INSERT ON omission BEGIN SELECT CASE WHEN (SELECT 1 FROM omission WHERE card = NEW.card AND log = NEW.log AND revision = NEW.revision AND start = NEW.start AND stop = NEW.stop) THEN RAISE(ABORT, 'append-only: omission holds this card log revision start stop') WHEN (SELECT 1 FROM omission WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: omission holds this log seq') END; END;
CREATE TRIGGER survey__update BEFORE UPDATE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no UPDATE'); END;
CREATE TRIGGER survey__delete BEFORE DELETE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no DELETE'); END;
CREATE TRIGGER survey__insert BEFORE INSERT ON survey BEGIN SELECT CASE WHEN (SELECT 1 FROM survey WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: survey holds this log seq') END; END;
CREATE TRIGGER sighting__update BEFORE UPDATE ON sighting BEGIN SELECT RAISE(ABORT, 'append-only: sighting takes no UPDATE'); END;
CREATE TRIGGER sighting__delete BEFORE DELETE ON sighting BEGIN SELECT RAISE(ABORT, 'append-only: sighting takes no DELETE'); END;
CREATE TRIGGER sighting__insert BEFORE INSERT ON sighting BEGIN SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision) THEN RAISE(ABORT, 'not-another-revision: a sighting is of a quoted passage, in another revision of the card it is quoted from') WHEN (SELECT 1 FROM sighting WHERE card = NEW.card AND card_revision = NEW.card_revision AND claim = NEW.claim AND log = NEW.log AND revision = NEW.revision) THEN RAISE(ABORT, 'append-only: sighting holds this card card_revision claim log revision') WHEN (SELECT 1 FROM sighting WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: sighting holds this log seq') END; END;
CREATE INDEX ix_equivocation_log_origin ON equivocation (log, origin);
CREATE INDEX ix_log_import_log_origin ON log_import (log, origin);
CREATE INDEX ix_witnessing_log_origin ON witnessing (log, origin);
CREATE INDEX ix_audit_rival_log_contestation ON audit_rival (log, contestation);
CREATE INDEX ix_exploration_log_audit ON exploration (log, audit);
CREATE INDEX ix_deviation_log_audit ON deviation (log, audit);
CREATE TRIGGER checkpoint__update BEFORE UPDATE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no UPDATE'); END;
CREATE TRIGGER checkpoint__delete BEFORE DELETE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no DELETE'); END;
CREATE TRIGGER checkpoint__insert BEFORE INSERT ON checkpoint BEGIN SELECT CASE WHEN NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log) THEN RAISE(ABORT, 'beyond-the-log: a checkpoint is of entries that are recorded') WHEN (SELECT 1 FROM checkpoint WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: checkpoint holds this log seq') END; END;
CREATE TRIGGER equivocation__update BEFORE UPDATE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no UPDATE'); END;
CREATE TRIGGER equivocation__delete BEFORE DELETE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no DELETE'); END;
CREATE TRIGGER equivocation__insert BEFORE INSERT ON equivocation BEGIN SELECT CASE WHEN (SELECT 1 FROM equivocation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: equivocation holds this log seq') END; END;
CREATE TRIGGER erasure__update BEFORE UPDATE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no UPDATE'); END;
CREATE TRIGGER erasure__delete BEFORE DELETE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no DELETE'); END;
CREATE TRIGGER erasure__insert BEFORE INSERT ON erasure BEGIN SELECT CASE WHEN NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased) THEN RAISE(ABORT, 'leaf-differs: erasure.leaf must be the leaf of the entry') WHEN (SELECT 1 FROM erasure WHERE erased = NEW.erased AND log = NEW.log) THEN RAISE(ABORT, 'append-only: erasure holds this erased log') WHEN (SELECT 1 FROM erasure WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: erasure holds this log seq') END; END;
CREATE TRIGGER log_import__update BEFORE UPDATE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no UPDATE'); END;
CREATE TRIGGER log_import__delete BEFORE DELETE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no DELETE'); END;
CREATE TRIGGER log_import__insert BEFORE INSERT ON log_import BEGIN SELECT CASE WHEN (SELECT 1 FROM log_import WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: log_import holds this log seq') END; END;
CREATE TRIGGER node__update BEFORE UPDATE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no UPDATE'); END;
CREATE TRIGGER node__delete BEFORE DELETE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no DELETE'); END;
CREATE TRIGGER node__insert BEFORE INSERT ON node BEGIN SELECT CASE WHEN (SELECT 1 FROM node WHERE level = NEW.level AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: node holds this level log seq') END; END;
CREATE TRIGGER witnessing__update BEFORE UPDATE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no UPDATE'); END;
CREATE TRIGGER witnessing__delete BEFORE DELETE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no DELETE'); END;
CREATE TRIGGER witnessing__insert BEFORE INSERT ON witnessing BEGIN SELECT CASE WHEN (SELECT 1 FROM witnessing WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: witnessing holds this log seq') END; END;
CREATE TRIGGER cosignature__update BEFORE UPDATE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no UPDATE'); END;
CREATE TRIGGER cosignature__delete BEFORE DELETE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no DELETE'); END;
CREATE TRIGGER cosignature__insert BEFORE INSERT ON cosignature BEGIN SELECT CASE WHEN (SELECT 1 FROM cosignature WHERE line = NEW.line AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: cosignature holds this line log seq') END; END;
CREATE TRIGGER key_event__update BEFORE UPDATE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no UPDATE'); END;
CREATE TRIGGER key_event__delete BEFORE DELETE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no DELETE'); END;
CREATE TRIGGER key_event__insert BEFORE INSERT ON key_event BEGIN SELECT CASE WHEN (SELECT 1 FROM key_event WHERE event = NEW.event AND key = NEW.key AND log = NEW.log) THEN RAISE(ABORT, 'append-only: key_event holds this event key log') WHEN (SELECT 1 FROM key_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: key_event holds this log seq') END; END;
CREATE TRIGGER reveal__update BEFORE UPDATE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no UPDATE'); END;
CREATE TRIGGER reveal__delete BEFORE DELETE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no DELETE'); END;
CREATE TRIGGER reveal__insert BEFORE INSERT ON reveal BEGIN SELECT CASE WHEN (SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL THEN RAISE(ABORT, 'not-sealed: only a sealed specification is revealed') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: reveal holds this log seq') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) THEN RAISE(ABORT, 'append-only: reveal holds this log spec version') END; END;
CREATE TRIGGER audit_rival__update BEFORE UPDATE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no UPDATE'); END;
CREATE TRIGGER audit_rival__delete BEFORE DELETE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no DELETE'); END;
CREATE TRIGGER audit_rival__insert BEFORE INSERT ON audit_rival BEGIN SELECT CASE WHEN (SELECT 1 FROM audit_rival WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit_rival holds this log seq') END; END;
CREATE TRIGGER exploration__update BEFORE UPDATE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no UPDATE'); END;
CREATE TRIGGER exploration__delete BEFORE DELETE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no DELETE'); END;
CREATE TRIGGER exploration__insert BEFORE INSERT ON exploration BEGIN SELECT CASE WHEN (SELECT 1 FROM exploration WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: exploration holds this log seq') END; END;
CREATE TRIGGER deviation__update BEFORE UPDATE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no UPDATE'); END;
CREATE TRIGGER deviation__delete BEFORE DELETE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no DELETE'); END;
CREATE TRIGGER deviation__insert BEFORE INSERT ON deviation BEGIN SELECT CASE WHEN (SELECT 1 FROM deviation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: deviation holds this log seq') END; END;
COMMIT;
