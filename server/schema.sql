-- Generated from the migrations by `npm run schema --workspace server`. Do not edit.

create table abandoned_objects (
  object_key text not null,
  remove_after timestamp(3) with time zone not null,
  constraint abandoned_objects_pkey PRIMARY KEY (object_key)
);
CREATE INDEX abandoned_objects_by_time ON public.abandoned_objects USING btree (remove_after);

create table alert_findings (
  org_id uuid not null,
  alert_id text collate "C" not null,
  finding_id uuid not null,
  revision bigint not null,
  constraint alert_findings_pkey PRIMARY KEY (org_id, alert_id),
  constraint alert_findings_org_id_alert_id_fkey FOREIGN KEY (org_id, alert_id) REFERENCES security_alerts(org_id, id),
  constraint alert_findings_org_id_finding_id_fkey FOREIGN KEY (org_id, finding_id) REFERENCES findings(org_id, id)
);
CREATE INDEX alert_findings_by_finding ON public.alert_findings USING btree (org_id, finding_id);

create table allowed_hosts (
  origin text not null,
  networks text[],
  found_at timestamp(3) with time zone not null default now(),
  constraint allowed_hosts_pkey PRIMARY KEY (origin),
  constraint allowed_hosts_networks_check CHECK (((cardinality(networks) >= 1) AND (cardinality(networks) <= 100))),
  constraint allowed_hosts_origin_check CHECK (((length(origin) >= 1) AND (length(origin) <= 600)))
);

create table api_keys (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  key_sha256 bytea not null,
  environment text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  created_by_user_id uuid,
  repositories text[],
  constraint api_keys_key_sha256_key UNIQUE (key_sha256),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  constraint api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint api_keys_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'development'::text]))),
  constraint api_keys_key_sha256_check CHECK ((length(key_sha256) = 32)),
  constraint api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint api_keys_repositories_check CHECK (((cardinality(repositories) >= 1) AND (cardinality(repositories) <= 50))),
  constraint api_keys_scopes_check CHECK ((cardinality(scopes) > 0))
);
CREATE INDEX api_keys_by_organization ON public.api_keys USING btree (org_id, created_at, id);

create table audit_entries (
  org_id uuid not null,
  id uuid not null,
  at timestamp(3) with time zone not null,
  principal_type text not null,
  principal_id text,
  principal_name text not null,
  action text not null,
  object_type text not null,
  object_id text not null,
  reason text,
  details jsonb not null default '{}'::jsonb,
  constraint audit_entries_pkey PRIMARY KEY (org_id, id),
  constraint audit_entries_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint audit_entries_action_check CHECK ((action ~ '^[a-z_]+\.[a-z_]+$'::text)),
  constraint audit_entries_details_check CHECK ((jsonb_typeof(details) = 'object'::text)),
  constraint audit_entries_principal_type_check CHECK ((principal_type = ANY (ARRAY['api_key'::text, 'user'::text, 'policy'::text, 'system'::text, 'command_line'::text])))
);
CREATE INDEX audit_entries_by_action ON public.audit_entries USING btree (org_id, action, at, id);
CREATE INDEX audit_entries_by_object ON public.audit_entries USING btree (org_id, object_id, at, id);
CREATE INDEX audit_entries_by_object_type ON public.audit_entries USING btree (org_id, object_type, at, id);
CREATE INDEX audit_entries_by_principal ON public.audit_entries USING btree (org_id, principal_id, at, id);
CREATE INDEX audit_entries_by_principal_type ON public.audit_entries USING btree (org_id, principal_type, at, id);
CREATE INDEX audit_entries_by_time ON public.audit_entries USING btree (org_id, at, id);

create table chain_anchors (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  index integer not null,
  hash bytea not null,
  mac bytea not null,
  constraint chain_anchors_pkey PRIMARY KEY (org_id, provider, repository_id, index),
  constraint chain_anchors_hash_check CHECK ((length(hash) = 32)),
  constraint chain_anchors_index_check CHECK ((index >= 0)),
  constraint chain_anchors_mac_check CHECK ((length(mac) = 32))
);

create table chain_breaks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  sequence integer not null,
  index integer not null,
  part text not null,
  expected bytea not null,
  found bytea,
  found_at timestamp(3) with time zone not null,
  note text,
  acknowledged_at timestamp(3) with time zone,
  mac bytea not null,
  constraint chain_breaks_org_id_provider_repository_id_index_part_expec_key UNIQUE NULLS NOT DISTINCT (org_id, provider, repository_id, index, part, expected, found),
  constraint chain_breaks_pkey PRIMARY KEY (org_id, provider, repository_id, sequence),
  constraint chain_breaks_check CHECK (((note IS NULL) = (acknowledged_at IS NULL))),
  constraint chain_breaks_expected_check CHECK ((length(expected) = 32)),
  constraint chain_breaks_found_check CHECK ((length(found) = 32)),
  constraint chain_breaks_mac_check CHECK ((length(mac) = 32)),
  constraint chain_breaks_part_check CHECK ((part = ANY (ARRAY['link'::text, 'previous'::text, 'row'::text, 'log'::text, 'change'::text, 'anchor'::text, 'head'::text, 'break'::text]))),
  constraint chain_breaks_sequence_check CHECK ((sequence >= 0))
);
CREATE INDEX chain_breaks_open ON public.chain_breaks USING btree (org_id, provider, repository_id) WHERE (acknowledged_at IS NULL);

create table chain_links (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  index integer not null,
  kind text not null,
  change_id text collate "C" not null,
  at timestamp(3) with time zone not null,
  previous_hash bytea,
  hash bytea not null,
  body text,
  tombstone text,
  mac bytea not null,
  constraint chain_links_pkey PRIMARY KEY (org_id, provider, repository_id, index),
  constraint chain_links_check CHECK ((num_nonnulls(body, tombstone) = 1)),
  constraint chain_links_hash_check CHECK ((length(hash) = 32)),
  constraint chain_links_index_check CHECK ((index >= 0)),
  constraint chain_links_kind_check CHECK ((kind = ANY (ARRAY['record'::text, 'amendment'::text]))),
  constraint chain_links_mac_check CHECK ((length(mac) = 32)),
  constraint chain_links_previous_hash_check CHECK ((length(previous_hash) = 32))
);
CREATE INDEX chain_links_by_change ON public.chain_links USING btree (org_id, change_id, index);
CREATE INDEX chain_links_by_hash ON public.chain_links USING btree (hash);

create table change_commits (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  sha text not null,
  change_id text collate "C" not null,
  constraint change_commits_pkey PRIMARY KEY (org_id, provider, repository_id, sha, change_id),
  constraint change_commits_org_id_change_id_fkey FOREIGN KEY (org_id, change_id) REFERENCES changes(org_id, id)
);
CREATE INDEX change_commits_by_change ON public.change_commits USING btree (org_id, change_id, sha);
CREATE INDEX change_commits_by_sha ON public.change_commits USING btree (org_id, sha, change_id);

create table changes (
  org_id uuid not null,
  id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  branch text not null,
  landed_by text not null,
  pull_request integer,
  push_id text collate "C",
  merge_sha text not null,
  link_index bigint not null,
  last_index bigint not null,
  deviations text[] not null,
  facet smallint not null generated always as (deviation_facet(deviations)) stored,
  created_at timestamp(3) with time zone not null,
  recorded_at timestamp(3) with time zone not null,
  constraint changes_org_id_provider_repository_id_pull_request_key UNIQUE (org_id, provider, repository_id, pull_request),
  constraint changes_org_id_provider_repository_id_push_id_key UNIQUE (org_id, provider, repository_id, push_id),
  constraint changes_pkey PRIMARY KEY (org_id, id),
  constraint changes_check CHECK ((last_index >= link_index)),
  constraint changes_check1 CHECK ((num_nonnulls(pull_request, push_id) = 1)),
  constraint changes_landed_by_check CHECK ((landed_by = ANY (ARRAY['pull_request'::text, 'push'::text, 'merge_queue'::text]))),
  constraint changes_pull_request_check CHECK ((pull_request > 0))
);
CREATE INDEX changes_by_branch ON public.changes USING btree (org_id, branch, created_at, id);
CREATE INDEX changes_by_branch_facet ON public.changes USING btree (org_id, branch, facet, created_at, id) WHERE (facet > 0);
CREATE INDEX changes_by_creation ON public.changes USING btree (org_id, created_at, id);
CREATE INDEX changes_by_facet ON public.changes USING btree (org_id, facet, created_at, id) WHERE (facet > 0);
CREATE INDEX changes_by_landing ON public.changes USING btree (repository_key(org_id, provider, repository_id), branch, created_at);
CREATE INDEX changes_by_merge ON public.changes USING btree (org_id, provider, repository_id, merge_sha);
CREATE INDEX changes_by_repository ON public.changes USING btree (repository_key(org_id, provider, repository_id), facet, created_at, id);

create table ci_artifacts (
  org_id uuid not null,
  id text collate "C" not null,
  report_id text collate "C" not null,
  run_id text collate "C" not null,
  path text not null,
  size bigint not null,
  sha256 text not null,
  status text not null,
  reason text,
  put_until timestamp(3) with time zone not null,
  announced boolean not null default false,
  created_at timestamp(3) with time zone not null,
  trust text not null,
  claimed_provider text,
  claimed_repository_id text,
  claimed_repository text,
  completed_at timestamp(3) with time zone,
  constraint ci_artifacts_pkey PRIMARY KEY (org_id, id),
  constraint ci_artifacts_org_id_report_id_fkey FOREIGN KEY (org_id, report_id) REFERENCES ci_reports(org_id, id),
  constraint ci_artifacts_check CHECK (((reason IS NOT NULL) = (status = 'rejected'::text))),
  constraint ci_artifacts_claimed_check CHECK ((num_nonnulls(claimed_provider, claimed_repository_id, claimed_repository) = ANY (ARRAY[0, 3]))),
  constraint ci_artifacts_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint ci_artifacts_size_check CHECK ((size >= 0)),
  constraint ci_artifacts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'uploaded'::text, 'rejected'::text]))),
  constraint ci_artifacts_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text])))
);
CREATE INDEX ci_artifacts_by_digest ON public.ci_artifacts USING btree (org_id, sha256) WHERE (status = 'uploaded'::text);
CREATE UNIQUE INDEX ci_artifacts_by_state ON public.ci_artifacts USING btree (org_id, report_id, path, ((status = 'uploaded'::text)));
CREATE INDEX ci_artifacts_of_run ON public.ci_artifacts USING btree (org_id, run_id, created_at, id);
CREATE INDEX ci_artifacts_pending ON public.ci_artifacts USING btree (put_until) WHERE (status = 'pending'::text);

create table ci_attestations (
  org_id uuid not null,
  id uuid not null,
  report_id text collate "C" not null,
  kind text not null,
  name text not null,
  data jsonb not null,
  status text not null,
  parsed jsonb,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  trust text not null,
  constraint ci_attestations_pkey PRIMARY KEY (org_id, id),
  constraint ci_attestations_org_id_report_id_fkey FOREIGN KEY (org_id, report_id) REFERENCES ci_reports(org_id, id),
  constraint ci_attestations_kind_check CHECK ((kind = ANY (ARRAY['test-results'::text, 'coverage'::text, 'sbom'::text, 'scan'::text, 'custom'::text, 'ownership'::text, 'provenance'::text]))),
  constraint ci_attestations_status_check CHECK ((status = ANY (ARRAY['pass'::text, 'fail'::text, 'warn'::text, 'info'::text]))),
  constraint ci_attestations_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text])))
);
CREATE UNIQUE INDEX ci_attestations_by_name ON public.ci_attestations USING btree (org_id, report_id, kind, name);

create table ci_reports (
  org_id uuid not null,
  id text collate "C" not null,
  run_id text collate "C" not null,
  attempt smallint not null,
  job_name text not null,
  matrix jsonb,
  runner text,
  name text not null,
  summary text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  trust text not null,
  job_identity text,
  job_key text,
  job_instance text,
  job_retries smallint,
  constraint ci_reports_pkey PRIMARY KEY (org_id, id),
  constraint ci_reports_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES ci_runs(org_id, id),
  constraint ci_reports_id_check CHECK ((id ~ '^[1-9][0-9]{0,2}-[0-9a-f]{24}$'::text)),
  constraint ci_reports_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text])))
);
CREATE INDEX ci_reports_by_identity ON public.ci_reports USING btree (org_id, run_id, attempt, job_name, name);
CREATE INDEX ci_reports_of_run ON public.ci_reports USING btree (org_id, run_id, created_at, id);

create table ci_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null,
  status text not null,
  url text,
  actor text,
  started_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  deadline_at timestamp(3) with time zone,
  trust text not null,
  repository text,
  commit_sha text,
  overdue_status text,
  constraint ci_run_attempts_pkey PRIMARY KEY (org_id, run_id, number),
  constraint ci_run_attempts_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES ci_runs(org_id, id),
  constraint ci_run_attempts_check CHECK ((completed_at >= started_at)),
  constraint ci_run_attempts_check1 CHECK (((completed_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'in_progress'::text])))),
  constraint ci_run_attempts_number_check CHECK (((number >= 1) AND (number <= 999))),
  constraint ci_run_attempts_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'timed_out'::text, 'skipped'::text]))),
  constraint ci_run_attempts_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text])))
);
CREATE INDEX ci_run_attempts_open ON public.ci_run_attempts USING btree (deadline_at) WHERE (completed_at IS NULL);

create table ci_run_writers (
  org_id uuid not null,
  run_id text collate "C" not null,
  credential_id uuid not null,
  constraint ci_run_writers_pkey PRIMARY KEY (org_id, run_id, credential_id),
  constraint ci_run_writers_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id)
);

create table ci_runs (
  org_id uuid not null,
  id text collate "C" not null,
  provider text not null,
  ci_system text,
  ci_system_name text,
  external_run_id text not null,
  repository text not null,
  commit_sha text,
  ref text,
  pipeline_name text not null,
  event text not null,
  trust text not null,
  credential_type text,
  credential_id uuid,
  credential_name text,
  day date,
  day_number smallint,
  newest_attempt smallint not null,
  status text not null,
  url text,
  actor text,
  started_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  deadline_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  claims jsonb,
  claimed_provider text,
  claimed_repository_id text,
  ci_instance text,
  is_first boolean not null default true,
  attempt_repository text,
  attempt_commit_sha text,
  overdue_status text,
  constraint ci_runs_pkey PRIMARY KEY (org_id, id),
  constraint ci_runs_check CHECK ((completed_at >= started_at)),
  constraint ci_runs_check1 CHECK (((completed_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'in_progress'::text])))),
  constraint ci_runs_claimed_check CHECK (
CASE
    WHEN (provider = 'other'::text) THEN (num_nonnulls(claims, claimed_provider, claimed_repository_id) = ANY (ARRAY[0, 3]))
    ELSE (num_nonnulls(claimed_provider, claimed_repository_id) = 0)
END),
  constraint ci_runs_day_number_check CHECK (((day_number >= 1) AND (day_number <= 2000))),
  constraint ci_runs_instance_check CHECK (
CASE
    WHEN (ci_instance IS NULL) THEN is_first
    ELSE (provider = 'other'::text)
END),
  constraint ci_runs_newest_attempt_check CHECK (((newest_attempt >= 1) AND (newest_attempt <= 999))),
  constraint ci_runs_source_check CHECK ((num_nonnulls(ci_system, credential_type, credential_id, credential_name, day, day_number, deadline_at) =
CASE
    WHEN (provider = 'other'::text) THEN 7
    ELSE 0
END)),
  constraint ci_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'timed_out'::text, 'skipped'::text]))),
  constraint ci_runs_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text])))
);
CREATE INDEX ci_runs_by_claimed ON public.ci_runs USING btree (org_id, repository, created_at) WHERE (claimed_provider IS NOT NULL);
CREATE INDEX ci_runs_by_commit ON public.ci_runs USING btree (org_id, commit_sha, created_at, id);
CREATE INDEX ci_runs_by_creation ON public.ci_runs USING btree (org_id, created_at, id);
CREATE UNIQUE INDEX ci_runs_by_day_number ON public.ci_runs USING btree (org_id, credential_id, day, day_number);
CREATE INDEX ci_runs_by_full_name ON public.ci_runs USING btree (org_id, run_full_name(repository), created_at, id);
CREATE UNIQUE INDEX ci_runs_by_instance ON public.ci_runs USING btree (org_id, ci_system, external_run_id, trust, ci_instance) WHERE (ci_instance IS NOT NULL);
CREATE INDEX ci_runs_ended_badly ON public.ci_runs USING btree (org_id, status, created_at, id) WHERE (status <> ALL (ARRAY['queued'::text, 'in_progress'::text, 'success'::text]));
CREATE UNIQUE INDEX ci_runs_first ON public.ci_runs USING btree (org_id, ci_system, external_run_id, trust) WHERE is_first;
CREATE INDEX ci_runs_newest ON public.ci_runs USING btree (org_id, repository, trust, created_at, id) WHERE (completed_at IS NOT NULL);
CREATE INDEX ci_runs_open ON public.ci_runs USING btree (deadline_at) WHERE (completed_at IS NULL);
CREATE INDEX ci_runs_open_at_host ON public.ci_runs USING btree (org_id, created_at) WHERE ((completed_at IS NULL) AND (provider <> 'other'::text));

create table ci_subjects (
  org_id uuid not null,
  report_id text collate "C" not null,
  "position" smallint not null,
  part smallint not null,
  run_id text collate "C" not null,
  name text not null,
  sha256 text not null,
  media_type text,
  platform text,
  created_at timestamp(3) with time zone not null,
  constraint ci_subjects_pkey PRIMARY KEY (org_id, report_id, "position", part),
  constraint ci_subjects_check CHECK (((platform IS NOT NULL) = (part > 0))),
  constraint ci_subjects_part_check CHECK ((part >= 0)),
  constraint ci_subjects_position_check CHECK (("position" >= 0)),
  constraint ci_subjects_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX ci_subjects_by_digest ON public.ci_subjects USING btree (org_id, sha256);
CREATE INDEX ci_subjects_of_run ON public.ci_subjects USING btree (org_id, run_id);

create table codehost_app_setups (
  state_sha256 bytea not null,
  provider text not null,
  options jsonb not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint codehost_app_setups_pkey PRIMARY KEY (state_sha256),
  constraint codehost_app_setups_options_check CHECK ((jsonb_typeof(options) = 'object'::text)),
  constraint codehost_app_setups_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint codehost_app_setups_state_sha256_check CHECK ((length(state_sha256) = 32))
);

create table codehost_apps (
  provider text not null,
  api_url text not null,
  app_id text collate "C" not null,
  slug text not null,
  html_url text not null,
  sealed text not null,
  created_at timestamp(3) with time zone not null,
  constraint codehost_apps_pkey PRIMARY KEY (provider, api_url),
  constraint codehost_apps_api_url_check CHECK (((length(api_url) >= 1) AND (length(api_url) <= 500))),
  constraint codehost_apps_app_id_check CHECK (((length(app_id) >= 1) AND (length(app_id) <= 100))),
  constraint codehost_apps_html_url_check CHECK (((length(html_url) >= 1) AND (length(html_url) <= 500))),
  constraint codehost_apps_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint codehost_apps_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 200)))
);

create table codehost_calls (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  idempotency_key text collate "C" not null,
  subject_type text not null,
  subject_id text collate "C" not null,
  action jsonb not null,
  status text not null,
  attempts integer not null default 0,
  error text,
  next_try_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  number bigint not null generated always as identity,
  constraint codehost_calls_pkey PRIMARY KEY (org_id, id),
  constraint codehost_calls_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id),
  constraint codehost_calls_action_check CHECK ((jsonb_typeof(action) = 'object'::text)),
  constraint codehost_calls_attempts_check CHECK ((attempts >= 0)),
  constraint codehost_calls_check CHECK (((status = 'pending'::text) = (next_try_at IS NOT NULL))),
  constraint codehost_calls_check1 CHECK (((status = 'pending'::text) = (ended_at IS NULL))),
  constraint codehost_calls_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 200))),
  constraint codehost_calls_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'refused'::text]))),
  constraint codehost_calls_subject_type_check CHECK ((subject_type = ANY (ARRAY['deployment'::text, 'alert'::text, 'commit'::text])))
);
CREATE UNIQUE INDEX codehost_calls_by_key ON public.codehost_calls USING btree (org_id, idempotency_key);
CREATE INDEX codehost_calls_by_subject ON public.codehost_calls USING btree (org_id, subject_type, subject_id, created_at);
CREATE INDEX codehost_calls_due ON public.codehost_calls USING btree (next_try_at) WHERE (status = 'pending'::text);
CREATE INDEX codehost_calls_ended ON public.codehost_calls USING btree (org_id, created_at) WHERE (status <> 'pending'::text);
CREATE INDEX codehost_calls_unsuccessful ON public.codehost_calls USING btree (ended_at) WHERE (status = ANY (ARRAY['failed'::text, 'refused'::text]));

create table codehost_connections (
  org_id uuid not null,
  id uuid not null,
  provider text not null,
  host text not null,
  installation_id text collate "C" not null,
  account_id text collate "C" not null,
  account_login text not null,
  account_type text not null,
  status text not null,
  repositories text not null,
  connected_at timestamp(3) with time zone not null,
  last_event_at timestamp(3) with time zone,
  last_synced_at timestamp(3) with time zone,
  sync_state text not null default 'idle'::text,
  sync_phase text,
  sync_done integer,
  sync_total integer,
  sync_error text,
  credentials text,
  constraint codehost_connections_id_key UNIQUE (id),
  constraint codehost_connections_pkey PRIMARY KEY (org_id, id),
  constraint codehost_connections_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint codehost_connections_account_id_check CHECK (((length(account_id) >= 1) AND (length(account_id) <= 100))),
  constraint codehost_connections_account_login_check CHECK (((length(account_login) >= 1) AND (length(account_login) <= 200))),
  constraint codehost_connections_account_type_check CHECK (((length(account_type) >= 1) AND (length(account_type) <= 50))),
  constraint codehost_connections_credentials_check CHECK (((length(credentials) >= 1) AND (length(credentials) <= 10000))),
  constraint codehost_connections_host_check CHECK ((host = lower(host))),
  constraint codehost_connections_installation_id_check CHECK (((length(installation_id) >= 1) AND (length(installation_id) <= 100))),
  constraint codehost_connections_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint codehost_connections_repositories_check CHECK ((repositories = ANY (ARRAY['all'::text, 'selected'::text]))),
  constraint codehost_connections_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'removed'::text]))),
  constraint codehost_connections_sync_done_check CHECK ((sync_done >= 0)),
  constraint codehost_connections_sync_state_check CHECK ((sync_state = ANY (ARRAY['idle'::text, 'running'::text, 'failed'::text]))),
  constraint codehost_connections_sync_total_check CHECK ((sync_total >= 0))
);
CREATE UNIQUE INDEX codehost_connections_by_account ON public.codehost_connections USING btree (provider, host, account_id) WHERE (status <> 'removed'::text);
CREATE UNIQUE INDEX codehost_connections_by_installation ON public.codehost_connections USING btree (provider, host, installation_id) WHERE (status <> 'removed'::text);
CREATE INDEX codehost_connections_of_account ON public.codehost_connections USING btree (provider, host, account_id, connected_at, id);

create table codehost_deliveries (
  id text collate "C" not null,
  provider text not null,
  number bigint not null generated always as identity,
  event text not null,
  action text,
  installation_id text collate "C",
  lane text collate "C" not null,
  shard smallint not null,
  received_at timestamp(3) with time zone not null,
  payload text,
  status text not null default 'received'::text,
  waiting boolean not null default false,
  attempts smallint not null default 0,
  next_try_at timestamp(3) with time zone,
  error text,
  applied_at timestamp(3) with time zone,
  constraint codehost_deliveries_pkey PRIMARY KEY (id, provider),
  constraint codehost_deliveries_action_check CHECK (((length(action) >= 1) AND (length(action) <= 100))),
  constraint codehost_deliveries_attempts_check CHECK ((attempts >= 0)),
  constraint codehost_deliveries_check CHECK (((NOT waiting) OR (status = 'received'::text))),
  constraint codehost_deliveries_check1 CHECK (((next_try_at IS NULL) OR (status = 'received'::text))),
  constraint codehost_deliveries_check2 CHECK (((applied_at IS NOT NULL) = (status = ANY (ARRAY['applied'::text, 'ignored'::text])))),
  constraint codehost_deliveries_event_check CHECK (((length(event) >= 1) AND (length(event) <= 100))),
  constraint codehost_deliveries_id_check CHECK (((length(id) >= 1) AND (length(id) <= 100))),
  constraint codehost_deliveries_installation_id_check CHECK (((length(installation_id) >= 1) AND (length(installation_id) <= 100))),
  constraint codehost_deliveries_lane_check CHECK (((length(lane) >= 1) AND (length(lane) <= 200))),
  constraint codehost_deliveries_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint codehost_deliveries_shard_check CHECK ((shard >= 0)),
  constraint codehost_deliveries_status_check CHECK ((status = ANY (ARRAY['received'::text, 'applied'::text, 'ignored'::text, 'failed'::text])))
);
CREATE INDEX codehost_deliveries_by_age ON public.codehost_deliveries USING brin (received_at);
CREATE INDEX codehost_deliveries_by_installation ON public.codehost_deliveries USING btree (provider, installation_id, received_at, id);
CREATE INDEX codehost_deliveries_by_number ON public.codehost_deliveries USING btree (number);
CREATE INDEX codehost_deliveries_failed ON public.codehost_deliveries USING btree (number) WHERE (status = 'failed'::text);
CREATE INDEX codehost_deliveries_failed_by_installation ON public.codehost_deliveries USING btree (provider, installation_id, received_at, id) WHERE (status = 'failed'::text);
CREATE INDEX codehost_deliveries_paused ON public.codehost_deliveries USING btree (shard) WHERE (next_try_at IS NOT NULL);
CREATE INDEX codehost_deliveries_pending ON public.codehost_deliveries USING btree (shard, number) WHERE ((status = 'received'::text) AND (NOT waiting));
CREATE INDEX codehost_deliveries_waiting ON public.codehost_deliveries USING btree (provider, installation_id) WHERE waiting;
CREATE INDEX codehost_deliveries_with_payload ON public.codehost_deliveries USING btree (applied_at) WHERE ((payload IS NOT NULL) AND (applied_at IS NOT NULL));

create table codehost_delivery_checks (
  provider text not null,
  checked_at timestamp(3) with time zone not null,
  constraint codehost_delivery_checks_pkey PRIMARY KEY (provider)
);

create table codehost_installation_repositories (
  provider text not null,
  host text not null,
  installation_id text collate "C" not null,
  repository_id text not null,
  selected boolean not null,
  host_at timestamp(3) with time zone,
  told_at timestamp(3) with time zone not null,
  constraint codehost_installation_repositories_pkey PRIMARY KEY (provider, host, installation_id, repository_id),
  constraint codehost_installation_repositories_repository_id_check CHECK (((length(repository_id) >= 1) AND (length(repository_id) <= 100)))
);

create table codehost_installations (
  provider text not null,
  host text not null,
  id text collate "C" not null,
  account_id text collate "C",
  account_login text,
  account_type text,
  repositories text,
  suspended boolean not null default false,
  removed_at timestamp(3) with time zone,
  host_updated_at timestamp(3) with time zone,
  first_seen_at timestamp(3) with time zone not null,
  last_event_at timestamp(3) with time zone not null,
  constraint codehost_installations_pkey PRIMARY KEY (provider, host, id),
  constraint codehost_installations_account_id_check CHECK (((length(account_id) >= 1) AND (length(account_id) <= 100))),
  constraint codehost_installations_account_login_check CHECK (((length(account_login) >= 1) AND (length(account_login) <= 200))),
  constraint codehost_installations_account_type_check CHECK (((length(account_type) >= 1) AND (length(account_type) <= 50))),
  constraint codehost_installations_host_check CHECK ((host = lower(host))),
  constraint codehost_installations_id_check CHECK (((length(id) >= 1) AND (length(id) <= 100))),
  constraint codehost_installations_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint codehost_installations_repositories_check CHECK ((repositories = ANY (ARRAY['all'::text, 'selected'::text])))
);
CREATE INDEX codehost_installations_present ON public.codehost_installations USING btree (first_seen_at) WHERE (removed_at IS NULL);

create table codehost_redeliveries (
  provider text not null,
  delivery_id text collate "C" not null,
  failed_id text collate "C" not null,
  requested_at timestamp(3) with time zone not null,
  constraint codehost_redeliveries_pkey PRIMARY KEY (provider, delivery_id)
);
CREATE INDEX codehost_redeliveries_by_time ON public.codehost_redeliveries USING btree (requested_at);

create table codehost_refusals (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  repository text,
  list text not null,
  status integer not null,
  message text not null,
  since timestamp(3) with time zone not null,
  constraint codehost_refusals_pkey PRIMARY KEY (org_id, connection_id, repository_id, list),
  constraint codehost_refusals_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id),
  constraint codehost_refusals_list_check CHECK (((length(list) >= 1) AND (length(list) <= 50))),
  constraint codehost_refusals_message_check CHECK ((length(message) <= 500)),
  constraint codehost_refusals_repository_check CHECK ((length(repository) <= 500)),
  constraint codehost_refusals_repository_id_check CHECK ((length(repository_id) <= 200))
);

create table codehost_sync_lists (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  list text not null,
  read_in integer not null,
  etag text,
  next text,
  until timestamp(3) with time zone,
  newest_at timestamp(3) with time zone,
  walk jsonb,
  constraint codehost_sync_lists_pkey PRIMARY KEY (org_id, connection_id, repository_id, list),
  constraint codehost_sync_lists_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id)
);

create table codehost_sync_repositories (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  listed_in integer,
  read_in integer,
  note text,
  constraint codehost_sync_repositories_pkey PRIMARY KEY (org_id, connection_id, repository_id),
  constraint codehost_sync_repositories_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id)
);

create table codehost_syncs (
  org_id uuid not null,
  connection_id uuid not null,
  number integer not null default 0,
  requested_at timestamp(3) with time zone,
  requested_since timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  since timestamp(3) with time zone,
  phase text,
  repositories_next text,
  repositories_etag text,
  due_at timestamp(3) with time zone not null,
  pauses integer not null default 0,
  repositories_walk jsonb,
  reread_at timestamp with time zone,
  rereads boolean not null default false,
  constraint codehost_syncs_connection_id_key UNIQUE (connection_id),
  constraint codehost_syncs_pkey PRIMARY KEY (org_id, connection_id),
  constraint codehost_syncs_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id),
  constraint codehost_syncs_check CHECK (((started_at IS NULL) = (phase IS NULL))),
  constraint codehost_syncs_number_check CHECK ((number >= 0)),
  constraint codehost_syncs_pauses_check CHECK ((pauses >= 0)),
  constraint codehost_syncs_phase_check CHECK ((phase = ANY (ARRAY['deliveries'::text, 'repositories'::text, 'objects'::text])))
);
CREATE INDEX codehost_syncs_due ON public.codehost_syncs USING btree (due_at);

create table commit_checks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  id text collate "C" not null,
  host_version text collate "C" not null,
  name text not null,
  source text not null,
  status text not null,
  url text,
  started_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  constraint commit_checks_pkey PRIMARY KEY (org_id, provider, repository_id, commit_sha, id),
  constraint commit_checks_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'timed_out'::text, 'skipped'::text])))
);
CREATE INDEX commit_checks_ended ON public.commit_checks USING btree (org_id, completed_at) WHERE (completed_at IS NOT NULL);
CREATE INDEX commit_checks_unended ON public.commit_checks USING btree (org_id, started_at) WHERE (completed_at IS NULL);

create table compliance_results (
  org_id uuid not null,
  id text collate "C" not null,
  policy_id text not null,
  policy_name text not null,
  repository text not null,
  status text not null,
  details jsonb not null default '[]'::jsonb,
  evaluated_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint compliance_results_pkey PRIMARY KEY (org_id, id),
  constraint compliance_results_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint compliance_results_check CHECK (((evaluated_at IS NOT NULL) OR (status = 'not_evaluated'::text))),
  constraint compliance_results_details_check CHECK ((jsonb_typeof(details) = 'array'::text)),
  constraint compliance_results_id_check CHECK ((id ~ '^[A-Za-z0-9._:-]{1,128}$'::text)),
  constraint compliance_results_repository_check CHECK (((length(repository) >= 3) AND (length(repository) <= 300))),
  constraint compliance_results_status_check CHECK ((status = ANY (ARRAY['passing'::text, 'failing'::text, 'warning'::text, 'not_evaluated'::text])))
);
CREATE INDEX compliance_results_by_creation ON public.compliance_results USING btree (org_id, created_at, id);
CREATE INDEX compliance_results_by_policy ON public.compliance_results USING btree (org_id, policy_id, created_at, id);
CREATE UNIQUE INDEX compliance_results_by_repository ON public.compliance_results USING btree (org_id, policy_id, repository);
CREATE INDEX compliance_results_by_repository_creation ON public.compliance_results USING btree (org_id, repository, created_at, id);
CREATE INDEX compliance_results_by_status ON public.compliance_results USING btree (org_id, status, created_at, id);

create table component_facts (
  org_id uuid not null,
  no bigint not null generated always as identity,
  component_no bigint not null,
  facts_hash bytea not null,
  purl text,
  type text not null,
  scope text,
  licenses text[] not null,
  supplier text,
  hashes jsonb not null,
  path text,
  patched text[] not null,
  constraint component_facts_pkey PRIMARY KEY (org_id, no),
  constraint component_facts_facts_hash_check CHECK ((length(facts_hash) = 16)),
  constraint component_facts_scope_check CHECK ((scope = ANY (ARRAY['required'::text, 'optional'::text, 'excluded'::text])))
);
CREATE INDEX component_facts_by_component ON public.component_facts USING btree (org_id, component_no);
CREATE UNIQUE INDEX component_facts_by_hash ON public.component_facts USING btree (org_id, facts_hash);

create table components (
  org_id uuid not null,
  no bigint not null generated always as identity,
  id uuid not null,
  identity text not null,
  identity_hash bytea not null,
  purl text,
  cpe text,
  type text not null,
  ecosystem text,
  namespace text,
  name text not null,
  version text,
  package_key text not null,
  name_key text not null,
  source_name text,
  source_version text,
  first_seen_at timestamp(3) with time zone not null,
  constraint components_pkey PRIMARY KEY (org_id, no),
  constraint components_identity_check CHECK ((identity = ANY (ARRAY['purl'::text, 'cpe'::text, 'name'::text]))),
  constraint components_identity_hash_check CHECK ((length(identity_hash) = 16))
);
CREATE UNIQUE INDEX components_by_id ON public.components USING btree (org_id, id);
CREATE UNIQUE INDEX components_by_identity ON public.components USING btree (org_id, identity_hash);
CREATE INDEX components_by_name ON public.components USING btree (org_id, name_key text_pattern_ops);
CREATE INDEX components_by_package ON public.components USING btree (org_id, package_key text_pattern_ops);
CREATE INDEX components_by_source ON public.components USING btree (org_id, source_name) WHERE (source_name IS NOT NULL);

create table configured_gates (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  environment text not null,
  repository text,
  branch text,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  created_at timestamp(3) with time zone not null,
  version integer not null,
  updated_at timestamp(3) with time zone not null,
  approve_by_policies jsonb,
  require_linked_accounts boolean not null default false,
  constraint configured_gates_pkey PRIMARY KEY (org_id, id),
  constraint configured_gates_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint configured_gates_approve_by_policies_check CHECK ((approve_by_policies = ANY (ARRAY['true'::jsonb, 'false'::jsonb, '"covering"'::jsonb]))),
  constraint configured_gates_branch_check CHECK (((length(branch) >= 1) AND (length(branch) <= 200))),
  constraint configured_gates_environment_check CHECK (((length(environment) >= 1) AND (length(environment) <= 200))),
  constraint configured_gates_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint configured_gates_policies_check CHECK ((cardinality(policies) <= 20)),
  constraint configured_gates_repository_check CHECK (((length(repository) >= 1) AND (length(repository) <= 200))),
  constraint configured_gates_required_approvals_check CHECK (((required_approvals >= 1) AND (required_approvals <= 20))),
  constraint configured_gates_version_check CHECK ((version >= 1))
);
CREATE UNIQUE INDEX configured_gates_by_name ON public.configured_gates USING btree (org_id, name);

create table custom_roles (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint custom_roles_pkey PRIMARY KEY (org_id, id),
  constraint custom_roles_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint custom_roles_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint custom_roles_permissions_check CHECK ((cardinality(permissions) > 0))
);
CREATE UNIQUE INDEX custom_roles_by_name ON public.custom_roles USING btree (org_id, lower(name));

create table deleted_organizations (
  id uuid not null,
  slug text not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  deleted_at timestamp(3) with time zone not null,
  deleted_rows bigint not null,
  deleted_files bigint not null,
  constraint deleted_organizations_pkey PRIMARY KEY (id),
  constraint deleted_organizations_deleted_files_check CHECK ((deleted_files >= 0)),
  constraint deleted_organizations_deleted_rows_check CHECK ((deleted_rows >= 0))
);

create table delivery_days (
  org_id uuid not null,
  day date not null,
  environment text not null,
  repository text not null,
  deployments integer not null,
  failed integer not null,
  lead_seconds integer[] not null,
  restore_seconds integer[] not null,
  constraint delivery_days_pkey PRIMARY KEY (org_id, day, environment, repository),
  constraint delivery_days_check CHECK (((failed >= 0) AND (failed <= deployments))),
  constraint delivery_days_deployments_check CHECK ((deployments > 0))
);

create table deployment_answers (
  org_id uuid not null,
  id uuid not null,
  deployment_id text collate "C" not null,
  principal_type text not null,
  principal_id text not null,
  principal_name text not null,
  decision text not null,
  reason text,
  comment text,
  answered_at timestamp(3) with time zone not null,
  decision_posted_at timestamp(3) with time zone,
  comment_posted_at timestamp(3) with time zone,
  person_id uuid,
  permissions text[],
  constraint deployment_answers_org_id_deployment_id_principal_type_prin_key UNIQUE (org_id, deployment_id, principal_type, principal_id),
  constraint deployment_answers_pkey PRIMARY KEY (org_id, id),
  constraint deployment_answers_org_id_deployment_id_fkey FOREIGN KEY (org_id, deployment_id) REFERENCES deployments(org_id, id),
  constraint deployment_answers_person_id_fkey FOREIGN KEY (person_id) REFERENCES users(id),
  constraint deployment_answers_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'rejected'::text]))),
  constraint deployment_answers_person_check CHECK (((principal_type <> 'user'::text) OR (person_id IS NOT NULL))),
  constraint deployment_answers_principal_type_check CHECK ((principal_type = ANY (ARRAY['api_key'::text, 'user'::text]))),
  constraint deployment_answers_reason_check CHECK (((reason IS NOT NULL) OR (principal_type = 'user'::text)))
);

create table deployment_environments (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  name text not null,
  rules jsonb,
  read_at timestamp(3) with time zone,
  constraint deployment_environments_pkey PRIMARY KEY (org_id, provider, repository_id, name),
  constraint deployment_environments_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint deployment_environments_rules_check CHECK ((jsonb_typeof(rules) = 'object'::text))
);

create table deployment_gate_requests (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  environment text not null,
  run_id text collate "C" not null,
  attempt integer not null,
  deployment_id text collate "C" not null,
  callback_url text not null,
  requested_at timestamp(3) with time zone not null,
  callback_secret text,
  constraint deployment_gate_requests_pkey PRIMARY KEY (org_id, provider, repository_id, environment, run_id, attempt, deployment_id),
  constraint deployment_gate_requests_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint deployment_gate_requests_attempt_check CHECK ((attempt >= 0)),
  constraint deployment_gate_requests_callback_secret_check CHECK (((length(callback_secret) >= 1) AND (length(callback_secret) <= 10000)))
);
CREATE INDEX deployment_gate_requests_by_environment ON public.deployment_gate_requests USING btree (org_id, provider, repository_id, lower(environment));
CREATE INDEX deployment_gate_requests_by_time ON public.deployment_gate_requests USING btree (org_id, requested_at);

create table deployment_reviews (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt integer not null,
  environment text not null,
  state text not null,
  reviewer text not null,
  avatar_url text,
  comment text,
  at timestamp(3) with time zone not null,
  is_listed boolean not null,
  times integer not null,
  constraint deployment_reviews_pkey PRIMARY KEY (org_id, provider, repository_id, run_id, environment, attempt, state, reviewer),
  constraint deployment_reviews_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint deployment_reviews_attempt_check CHECK ((attempt >= 0)),
  constraint deployment_reviews_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text]))),
  constraint deployment_reviews_times_check CHECK ((times >= 1))
);
CREATE INDEX deployment_reviews_by_time ON public.deployment_reviews USING btree (org_id, at);

create table deployment_runs (
  org_id uuid not null,
  run_id text collate "C" not null,
  attempt integer not null,
  status text not null,
  workflow_name text,
  workflow_path text,
  ref text,
  commit_message text,
  release_name text,
  author text,
  author_avatar_url text,
  html_url text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  host_version text collate "C",
  constraint deployment_runs_pkey PRIMARY KEY (org_id, run_id, attempt),
  constraint deployment_runs_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint deployment_runs_attempt_check CHECK ((attempt >= 1))
);
CREATE INDEX deployment_runs_by_creation ON public.deployment_runs USING btree (org_id, created_at);

create table deployment_statuses (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  id text collate "C" not null,
  state text not null,
  environment_url text,
  log_url text,
  job_id text,
  creator text,
  created_at timestamp(3) with time zone not null,
  constraint deployment_statuses_pkey PRIMARY KEY (org_id, deployment_id, id),
  constraint deployment_statuses_org_id_deployment_id_fkey FOREIGN KEY (org_id, deployment_id) REFERENCES deployments(org_id, id),
  constraint deployment_statuses_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'inactive'::text])))
);

create table deployment_subjects (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  "position" smallint not null,
  part smallint not null,
  name text not null,
  sha256 text not null,
  media_type text,
  platform text,
  trust text not null,
  stated_by text,
  constraint deployment_subjects_pkey PRIMARY KEY (org_id, deployment_id, "position", part),
  constraint deployment_subjects_check CHECK (((platform IS NOT NULL) = (part > 0))),
  constraint deployment_subjects_part_check CHECK ((part >= 0)),
  constraint deployment_subjects_position_check CHECK (("position" >= 0)),
  constraint deployment_subjects_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint deployment_subjects_trust_check CHECK ((trust = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text, 'ui'::text])))
);
CREATE INDEX deployment_subjects_by_digest ON public.deployment_subjects USING btree (org_id, sha256);

create table deployments (
  org_id uuid not null,
  id text collate "C" not null,
  provider text,
  repository text not null,
  repository_full_name text not null,
  environment text not null,
  status text not null,
  workflow_name text,
  workflow_path text,
  github_run_id bigint,
  pipeline_run_id text,
  job_id text,
  attempt integer not null,
  previous_attempt_id text,
  superseded_by_id text,
  branch text,
  commit_sha text,
  commit_message text,
  release_name text,
  version text,
  author text,
  author_avatar_url text,
  html_url text,
  callback_url text,
  environment_url text,
  protection_rule_type text,
  protection_rule_types text[] not null default '{}'::text[],
  gated boolean not null,
  required_reviewers text[] not null default '{}'::text[],
  required_reviewer_teams text[] not null default '{}'::text[],
  reviewers_state text,
  custom_rule_state text,
  custom_rule_awaiting text,
  reviews jsonb not null default '[]'::jsonb,
  approvals jsonb not null default '[]'::jsonb,
  external_custom_rules jsonb not null default '[]'::jsonb,
  bypass jsonb,
  override jsonb,
  policy_evaluation jsonb,
  answer_until timestamp(3) with time zone,
  deployed_at timestamp(3) with time zone,
  rollback_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  host text,
  host_id text collate "C",
  repository_id text collate "C",
  host_run_id text collate "C",
  host_attempt integer,
  host_ref text,
  host_creator text,
  host_creator_avatar_url text,
  host_updated_at timestamp(3) with time zone,
  environment_rules jsonb,
  reviews_read text,
  rule_decision text,
  rule_answer_until timestamp(3) with time zone,
  decision_undelivered boolean not null default false,
  succeeded_at timestamp(3) with time zone,
  run_created_at timestamp(3) with time zone,
  policies_asked_at timestamp(3) with time zone,
  policy_rules jsonb,
  policy_evidence jsonb,
  self_approved boolean not null default false,
  policies_again_at timestamp(3) with time zone,
  asked_evidence jsonb,
  marks jsonb not null default '[]'::jsonb,
  awaiting text[],
  live_at timestamp(3) with time zone,
  inactive_at timestamp(3) with time zone,
  live_ended_at timestamp(3) with time zone,
  live_unit text collate "C",
  live_lane text collate "C",
  constraint deployments_pkey PRIMARY KEY (org_id, id),
  constraint deployments_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint deployments_approvals_check CHECK ((jsonb_typeof(approvals) = 'array'::text)),
  constraint deployments_attempt_check CHECK ((attempt >= 1)),
  constraint deployments_bypass_check CHECK ((jsonb_typeof(bypass) = 'object'::text)),
  constraint deployments_check CHECK (((answer_until IS NULL) OR (status = 'pending_approval'::text))),
  constraint deployments_environment_check CHECK (((length(environment) >= 1) AND (length(environment) <= 255))),
  constraint deployments_environment_rules_check CHECK ((jsonb_typeof(environment_rules) = 'object'::text)),
  constraint deployments_external_custom_rules_check CHECK ((jsonb_typeof(external_custom_rules) = 'array'::text)),
  constraint deployments_host_attempt_check CHECK ((host_attempt >= 1)),
  constraint deployments_host_check CHECK ((host = lower(host))),
  constraint deployments_id_check CHECK ((id ~ '^[A-Za-z0-9._:-]{1,128}$'::text)),
  constraint deployments_marks_check CHECK ((jsonb_typeof(marks) = 'array'::text)),
  constraint deployments_of_hosts CHECK ((((host_id IS NULL) = (host IS NULL)) AND ((host_id IS NULL) = (repository_id IS NULL)) AND ((host_id IS NULL) = (host_updated_at IS NULL)))),
  constraint deployments_override_check CHECK ((jsonb_typeof(override) = 'object'::text)),
  constraint deployments_policy_evaluation_check CHECK ((jsonb_typeof(policy_evaluation) = 'object'::text)),
  constraint deployments_policy_evidence_check CHECK ((jsonb_typeof(policy_evidence) = 'array'::text)),
  constraint deployments_policy_rules_check CHECK ((jsonb_typeof(policy_rules) = 'array'::text)),
  constraint deployments_repository_check CHECK (((length(repository) >= 1) AND (length(repository) <= 300))),
  constraint deployments_repository_full_name_check CHECK (((length(repository_full_name) >= 3) AND (length(repository_full_name) <= 300))),
  constraint deployments_reviews_check CHECK ((jsonb_typeof(reviews) = 'array'::text)),
  constraint deployments_reviews_read_check CHECK ((reviews_read = ANY (ARRAY['done'::text, 'failed'::text]))),
  constraint deployments_rule_decision_check CHECK ((rule_decision = ANY (ARRAY['approved'::text, 'rejected'::text, 'expired'::text]))),
  constraint deployments_status_check CHECK ((status = ANY (ARRAY['pending_approval'::text, 'approved'::text, 'rejected'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'expired'::text, 'rolled_back'::text]))),
  constraint deployments_workflow_name_check CHECK (((length(workflow_name) >= 1) AND (length(workflow_name) <= 300))),
  constraint deployments_workflow_path_check CHECK (((length(workflow_path) >= 1) AND (length(workflow_path) <= 500)))
);
CREATE INDEX deployments_by_commit ON public.deployments USING btree (org_id, commit_sha, created_at, id);
CREATE INDEX deployments_by_creation ON public.deployments USING btree (org_id, created_at, id);
CREATE INDEX deployments_by_deployed_commit ON public.deployments USING btree (org_id, provider, repository_id, environment, commit_sha, created_at, id) WHERE (succeeded_at IS NOT NULL);
CREATE INDEX deployments_by_environment ON public.deployments USING btree (org_id, environment, created_at, id);
CREATE INDEX deployments_by_host_environment ON public.deployments USING btree (org_id, provider, repository_id, environment, created_at, id) WHERE (host_id IS NOT NULL);
CREATE INDEX deployments_by_pipeline_run ON public.deployments USING btree (org_id, pipeline_run_id, attempt);
CREATE INDEX deployments_by_place ON public.deployments USING btree (org_id, repository_full_name, environment, created_at, id);
CREATE INDEX deployments_by_repository ON public.deployments USING btree (org_id, repository_full_name, created_at, id);
CREATE INDEX deployments_by_run ON public.deployments USING btree (org_id, pipeline_run_id, created_at, id);
CREATE INDEX deployments_by_status ON public.deployments USING btree (org_id, status, created_at, id);
CREATE INDEX deployments_by_success ON public.deployments USING btree (org_id, provider, repository_id, environment, created_at, id) WHERE (succeeded_at IS NOT NULL);
CREATE INDEX deployments_by_unit ON public.deployments USING btree (org_id, live_unit, live_lane, live_at, id) WHERE (live_unit IS NOT NULL);
CREATE INDEX deployments_by_workflow ON public.deployments USING btree (org_id, workflow_name, created_at, id);
CREATE INDEX deployments_by_workflow_path ON public.deployments USING btree (org_id, workflow_path, created_at, id);
CREATE INDEX deployments_succeeded_by_place ON public.deployments USING btree (org_id, repository_full_name, environment, created_at, id) WHERE ((status = 'success'::text) OR (succeeded_at IS NOT NULL));
CREATE INDEX deployments_to_answer ON public.deployments USING btree (answer_until) WHERE (answer_until IS NOT NULL);
CREATE INDEX deployments_to_evaluate ON public.deployments USING btree (created_at) WHERE ((policies_asked_at IS NULL) AND (custom_rule_state = 'pending'::text));
CREATE INDEX deployments_to_evaluate_again ON public.deployments USING btree (policies_again_at) WHERE ((policies_again_at IS NOT NULL) AND (custom_rule_state = 'pending'::text));
CREATE INDEX deployments_waiting ON public.deployments USING btree (org_id, created_at, id) WHERE ((status = 'pending_approval'::text) AND (custom_rule_state = 'pending'::text));
CREATE INDEX deployments_without_unit ON public.deployments USING btree (created_at) WHERE ((live_unit IS NULL) AND ((succeeded_at IS NOT NULL) OR ((status = 'success'::text) AND (host_id IS NULL))));

create table environment_facts (
  org_id uuid not null,
  id uuid not null,
  "position" smallint not null,
  environment text not null,
  repository text,
  exposure text,
  criticality smallint,
  production boolean,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint environment_facts_org_id_position_key UNIQUE (org_id, "position"),
  constraint environment_facts_pkey PRIMARY KEY (org_id, id),
  constraint environment_facts_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint environment_facts_criticality_check CHECK (((criticality >= 1) AND (criticality <= 5))),
  constraint environment_facts_environment_check CHECK (((length(environment) >= 1) AND (length(environment) <= 200))),
  constraint environment_facts_exposure_check CHECK ((exposure = ANY (ARRAY['internet'::text, 'internal'::text, 'none'::text]))),
  constraint environment_facts_position_check CHECK ((("position" >= 1) AND ("position" <= 100))),
  constraint environment_facts_repository_check CHECK (((length(repository) >= 1) AND (length(repository) <= 200))),
  constraint environment_facts_stated CHECK ((num_nonnulls(exposure, criticality, production) > 0))
);
CREATE UNIQUE INDEX environment_facts_by_globs ON public.environment_facts USING btree (org_id, environment, COALESCE(repository, ''::text));

create table events (
  org_id uuid not null,
  id uuid not null default gen_random_uuid(),
  type text not null,
  version smallint not null,
  created_at timestamp(3) with time zone not null default now(),
  actor jsonb,
  subject jsonb not null,
  cause jsonb,
  data jsonb not null,
  previous jsonb,
  constraint events_pkey PRIMARY KEY (org_id, created_at, id),
  constraint events_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id)
);

create table finding_streams (
  org_id uuid not null,
  id bigint not null generated always as identity,
  repository_no bigint not null,
  category text,
  git_ref text,
  tool text not null,
  tool_version text,
  source text not null,
  origin text not null,
  tracked boolean not null,
  commit_sha text,
  rules_named integer,
  reported_at timestamp(3) with time zone not null,
  seen_at timestamp(3) with time zone not null,
  upload_id text collate "C",
  lane text default 'key'::text,
  continues_id bigint,
  ended_at timestamp(3) with time zone,
  ended_reason text,
  ended_by_name text,
  tool_family text,
  format_family text,
  subject text,
  facts jsonb,
  reports integer not null default 0,
  held jsonb,
  parts_since timestamp(3) with time zone,
  preview boolean not null default false,
  constraint finding_streams_pkey PRIMARY KEY (org_id, id),
  constraint finding_streams_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint finding_streams_ended_check CHECK (((num_nulls(ended_at, ended_reason, ended_by_name) = ANY (ARRAY[0, 3])) AND (length(ended_reason) <= 1000))),
  constraint finding_streams_have_key CHECK (((tool_family IS NOT NULL) OR (origin = 'alert'::text) OR (seen_at > '-infinity'::timestamp with time zone))) NOT VALID,
  constraint finding_streams_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'key'::text, 'person'::text, 'untrusted'::text])))
);
CREATE UNIQUE INDEX finding_streams_by_identity ON public.finding_streams USING btree (org_id, repository_no, COALESCE(category, ''::text), branch_name(git_ref), COALESCE(tool_family, (' '::text || tool)), COALESCE(format_family, ''::text), COALESCE(subject, ''::text), ((origin = 'alert'::text)), ((origin = 'inventory'::text)), COALESCE(lane, 'key'::text));
CREATE INDEX finding_streams_by_report ON public.finding_streams USING btree (org_id, reported_at, id) WHERE (origin <> 'alert'::text);
CREATE INDEX finding_streams_by_upload ON public.finding_streams USING btree (org_id, upload_id) WHERE (upload_id IS NOT NULL);
CREATE INDEX finding_streams_unseen ON public.finding_streams USING btree (org_id, seen_at) WHERE (NOT tracked);

create table findings (
  org_id uuid not null,
  id uuid not null,
  stream_id bigint not null,
  repository_no bigint not null,
  fingerprint bytea not null,
  fingerprint_method text not null,
  relocation bytea,
  context bytea,
  ordinal integer not null,
  content_hash bytea not null,
  kind text not null,
  type text,
  severity text not null,
  reported_state text not null,
  title text not null,
  description text,
  native_url text,
  path text,
  start_line integer,
  end_line integer,
  package_name text,
  package_version text,
  fixed_version text,
  purl text,
  vuln_ids text[] not null,
  cwes text[] not null,
  rule_id text,
  secret_type text,
  resource_name text,
  scanner_score real,
  cvss_version text,
  cvss_score real,
  cvss_vector text,
  intel_at_detection jsonb,
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamp(3) with time zone not null,
  reported_dismiss_reason text,
  reported_dismiss_comment text,
  reported_dismissed_by_name text,
  reported_dismissed_at timestamp(3) with time zone,
  reported_dismissal_source text,
  first_seen_at timestamp(3) with time zone not null,
  last_seen_at timestamp(3) with time zone,
  last_commit_sha text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  start_column integer,
  end_column integer,
  similarity bytea,
  identity_method text,
  identity_from jsonb,
  identity_at timestamp(3) with time zone,
  triage_id uuid,
  triaged_state text,
  state text not null generated always as (shown_state(reported_state, triaged_state)) stored,
  facet smallint not null generated always as (finding_facet(shown_state(reported_state, triaged_state), severity, kind)) stored,
  constraint findings_pkey PRIMARY KEY (org_id, id),
  constraint findings_org_id_issue_id_fkey FOREIGN KEY (org_id, issue_id) REFERENCES security_issues(org_id, id),
  constraint findings_context_check CHECK ((length(context) = 16)),
  constraint findings_grouping_code_check CHECK ((grouping_code = ANY (ARRAY['same_vulnerability'::text, 'same_fingerprint'::text, 'same_location'::text, 'same_secret'::text, 'single'::text]))),
  constraint findings_grouping_detail CHECK (((grouping_detail IS NOT NULL) OR (grouping_code = 'single'::text))),
  constraint findings_identity CHECK ((((identity_method IS NULL) = (identity_at IS NULL)) AND ((identity_from IS NULL) OR (identity_method IS NOT NULL)))),
  constraint findings_identity_method_check CHECK ((identity_method = ANY (ARRAY['same_fingerprint'::text, 'same_place'::text, 'edited_in_place'::text, 'moved_in_file'::text, 'file_renamed'::text, 'moved_to_file'::text]))),
  constraint findings_kind_check CHECK ((kind = ANY (ARRAY['code'::text, 'dependency'::text, 'secret'::text, 'iac'::text, 'container'::text, 'license'::text, 'other'::text]))),
  constraint findings_ordinal_check CHECK ((ordinal >= 0)),
  constraint findings_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text, 'info'::text]))),
  constraint findings_similarity_check CHECK ((length(similarity) <= 32)),
  constraint findings_state_check CHECK ((reported_state = ANY (ARRAY['open'::text, 'fixed'::text, 'dismissed'::text]))),
  constraint findings_triage CHECK (((triage_id IS NULL) = (triaged_state IS NULL))),
  constraint findings_triaged_state_check CHECK ((triaged_state = ANY (ARRAY['open'::text, 'dismissed'::text])))
);
CREATE INDEX findings_by_facet ON public.findings USING btree (org_id, facet, id);
CREATE UNIQUE INDEX findings_by_identity ON public.findings USING btree (org_id, stream_id, fingerprint, ordinal);
CREATE INDEX findings_by_issue ON public.findings USING btree (org_id, issue_id);
CREATE INDEX findings_by_path ON public.findings USING btree (stream_id, path COLLATE "C") WHERE (path IS NOT NULL);
CREATE INDEX findings_by_stream ON public.findings USING btree (stream_id, id) INCLUDE (facet);
CREATE INDEX findings_gone ON public.findings USING btree (org_id, last_seen_at) WHERE ((reported_state <> 'open'::text) AND (last_seen_at IS NOT NULL));

create table gate_polls (
  org_id uuid not null,
  gate_id uuid not null,
  polled_at timestamp(3) with time zone[] not null,
  is_admitted boolean not null,
  last_polled_at timestamp(3) with time zone not null,
  constraint gate_polls_pkey PRIMARY KEY (org_id, gate_id),
  constraint gate_polls_polled_at_check CHECK ((cardinality(polled_at) <= 12))
);
CREATE INDEX gate_polls_by_age ON public.gate_polls USING btree (last_polled_at);

create table gate_versions (
  org_id uuid not null,
  gate_id uuid not null,
  version integer not null,
  name text not null,
  environment text not null,
  repository text,
  branch text,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  principal_type text,
  principal_id text,
  principal_name text,
  reason text,
  created_at timestamp(3) with time zone not null,
  approve_by_policies jsonb,
  require_linked_accounts boolean not null default false,
  deleted boolean not null default false,
  constraint gate_versions_pkey PRIMARY KEY (org_id, gate_id, version),
  constraint gate_versions_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint gate_versions_approve_by_policies_check CHECK ((approve_by_policies = ANY (ARRAY['true'::jsonb, 'false'::jsonb, '"covering"'::jsonb]))),
  constraint gate_versions_check CHECK ((num_nulls(principal_type, principal_name) = ANY (ARRAY[0, 2]))),
  constraint gate_versions_version_check CHECK ((version >= 1))
);
CREATE INDEX gate_versions_by_age ON public.gate_versions USING btree (org_id, created_at);

create table intel_advisories (
  id text collate "C" not null,
  modified timestamp(3) with time zone not null,
  content_hash bytea not null,
  withdrawn boolean not null,
  severity text,
  cvss_version text collate "C",
  cvss_score real,
  cvss_vector text,
  upstream text[] collate "C" not null default '{}'::text[],
  constraint intel_advisories_pkey PRIMARY KEY (id),
  constraint intel_advisories_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text, 'info'::text])))
);
CREATE INDEX intel_advisories_by_upstream ON public.intel_advisories USING gin (upstream) WHERE (upstream <> '{}'::text[]);

create table intel_affected (
  advisory_id text collate "C" not null,
  "position" integer not null,
  ecosystem text collate "C" not null,
  release text collate "C" not null,
  package_key text collate "C" not null,
  name text collate "C" not null,
  ranges jsonb not null,
  versions text[] not null,
  urgency text collate "C",
  informational text collate "C",
  is_truncated boolean not null,
  constraint intel_affected_pkey PRIMARY KEY (advisory_id, "position"),
  constraint intel_affected_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES intel_advisories(id) ON DELETE CASCADE,
  constraint intel_affected_position_check CHECK (("position" >= 0))
);
CREATE INDEX intel_affected_by_package ON public.intel_affected USING btree (ecosystem, package_key, release);

create table intel_epss (
  cve_id text collate "C" not null,
  score real not null,
  percentile real not null,
  constraint intel_epss_pkey PRIMARY KEY (cve_id),
  constraint intel_epss_percentile_check CHECK (((percentile >= (0)::double precision) AND (percentile <= (1)::double precision))),
  constraint intel_epss_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision)))
);

create table intel_fixes (
  advisory_id text collate "C" not null,
  type text collate "C" not null,
  name text collate "C" not null,
  fixes_all boolean not null,
  latest_fix numeric[],
  constraint intel_fixes_pkey PRIMARY KEY (advisory_id, type, name),
  constraint intel_fixes_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES intel_advisories(id) ON DELETE CASCADE
);

create table intel_kev (
  cve_id text collate "C" not null,
  date_added date not null,
  due_date date,
  ransomware boolean not null,
  constraint intel_kev_pkey PRIMARY KEY (cve_id)
);

create table intel_package_changes (
  ecosystem text collate "C" not null,
  package_key text collate "C" not null,
  no bigint not null,
  constraint intel_package_changes_pkey PRIMARY KEY (ecosystem, package_key)
);
CREATE INDEX intel_package_changes_by_no ON public.intel_package_changes USING btree (no);

create table intel_sources (
  source text not null,
  as_of timestamp(3) with time zone,
  version text,
  records integer not null default 0,
  imported_at timestamp(3) with time zone,
  constraint intel_sources_pkey PRIMARY KEY (source),
  constraint intel_sources_records_check CHECK ((records >= 0)),
  constraint intel_sources_source_check CHECK ((source = ANY (ARRAY['kev'::text, 'epss'::text, 'osv'::text])))
);

create table inventory_matches (
  org_id uuid not null,
  finding_id uuid not null,
  stream_id bigint not null,
  component_no bigint not null,
  package_key text not null,
  canonical_id text collate "C" not null,
  match_hash bytea not null,
  ended_as text,
  constraint inventory_matches_pkey PRIMARY KEY (org_id, finding_id),
  constraint inventory_matches_org_id_finding_id_fkey FOREIGN KEY (org_id, finding_id) REFERENCES findings(org_id, id),
  constraint inventory_matches_ended_as_check CHECK ((ended_as = ANY (ARRAY['component_removed'::text, 'version_changed'::text, 'advisory_corrected'::text, 'advisory_withdrawn'::text, 'stream_ended'::text, 'merged'::text, 'matching_off'::text]))),
  constraint inventory_matches_match_hash_check CHECK ((length(match_hash) = 16))
);
CREATE INDEX inventory_matches_by_package ON public.inventory_matches USING btree (org_id, stream_id, package_key);
CREATE UNIQUE INDEX inventory_matches_open ON public.inventory_matches USING btree (org_id, stream_id, match_hash) WHERE (ended_as IS NULL);

create table inventory_streams (
  org_id uuid not null,
  id bigint not null generated always as identity,
  repository_no bigint not null,
  category text,
  git_ref text,
  tool text not null,
  subject text,
  format text not null,
  lane text not null,
  tracked boolean not null,
  upload_id text collate "C",
  commit_sha text,
  reported_at timestamp(3) with time zone not null,
  seen_at timestamp(3) with time zone not null,
  present bigint[] not null default '{}'::bigint[],
  parents integer[] not null default '{}'::integer[],
  since timestamp(3) with time zone[] not null default '{}'::timestamp with time zone[],
  held bigint[] not null default '{}'::bigint[],
  others integer not null default 0,
  ended_at timestamp(3) with time zone,
  constraint inventory_streams_pkey PRIMARY KEY (org_id, id),
  constraint inventory_streams_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint inventory_streams_format_check CHECK ((format = ANY (ARRAY['cyclonedx'::text, 'spdx'::text]))),
  constraint inventory_streams_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'key'::text, 'person'::text, 'untrusted'::text])))
);
CREATE UNIQUE INDEX inventory_streams_by_key ON public.inventory_streams USING btree (org_id, repository_no, COALESCE(category, ''::text), COALESCE(branch_name(git_ref), ''::text), tool, format, COALESCE(subject, ''::text), lane);
CREATE INDEX inventory_streams_by_present ON public.inventory_streams USING gin (present);
CREATE INDEX inventory_streams_by_upload ON public.inventory_streams USING btree (org_id, upload_id);

create table issue_days (
  org_id uuid not null,
  day date not null,
  critical integer not null,
  high integer not null,
  medium integer not null,
  low integer not null,
  info integer not null,
  median_age_seconds bigint,
  counted_at timestamp(3) with time zone not null,
  constraint issue_days_pkey PRIMARY KEY (org_id, day),
  constraint issue_days_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint issue_days_critical_check CHECK ((critical >= 0)),
  constraint issue_days_high_check CHECK ((high >= 0)),
  constraint issue_days_info_check CHECK ((info >= 0)),
  constraint issue_days_low_check CHECK ((low >= 0)),
  constraint issue_days_median_age_seconds_check CHECK ((median_age_seconds >= 0)),
  constraint issue_days_medium_check CHECK ((medium >= 0))
);

create table issue_edits (
  org_id uuid not null,
  no bigint not null generated always as identity,
  triage_id uuid not null,
  repository_no bigint not null,
  constraint issue_edits_org_id_triage_id_key UNIQUE (org_id, triage_id),
  constraint issue_edits_pkey PRIMARY KEY (org_id, no),
  constraint issue_edits_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint issue_edits_org_id_triage_id_fkey FOREIGN KEY (org_id, triage_id) REFERENCES triages(org_id, id)
);

create table issue_history (
  org_id uuid not null,
  id bigint not null generated always as identity,
  issue_id uuid not null,
  at timestamp(3) with time zone not null,
  event text not null,
  other_issue_id uuid not null,
  detail text not null,
  constraint issue_history_pkey PRIMARY KEY (org_id, id),
  constraint issue_history_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint issue_history_event_check CHECK ((event = ANY (ARRAY['merged'::text, 'split'::text])))
);
CREATE INDEX issue_history_by_issue ON public.issue_history USING btree (org_id, issue_id, id);
CREATE INDEX issue_history_by_other_issue ON public.issue_history USING btree (org_id, other_issue_id, id);

create table issue_pins (
  org_id uuid not null,
  edit_no bigint not null,
  finding_id uuid not null,
  side smallint not null,
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamp(3) with time zone not null,
  constraint issue_pins_pkey PRIMARY KEY (org_id, finding_id, edit_no),
  constraint issue_pins_org_id_edit_no_fkey FOREIGN KEY (org_id, edit_no) REFERENCES issue_edits(org_id, no),
  constraint issue_pins_org_id_finding_id_fkey FOREIGN KEY (org_id, finding_id) REFERENCES findings(org_id, id),
  constraint issue_pins_side_check CHECK ((side = ANY (ARRAY[0, 1])))
);
CREATE INDEX issue_pins_by_edit ON public.issue_pins USING btree (org_id, edit_no);
CREATE INDEX issue_pins_by_issue ON public.issue_pins USING btree (org_id, issue_id);

create table issue_regroup_due (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null,
  source text not null,
  constraint issue_regroup_due_pkey PRIMARY KEY (org_id, repository_no, bucket),
  constraint issue_regroup_due_bucket_check CHECK ((length(bucket) = 16))
);

create table issue_regroup_findings (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  finding_id uuid not null,
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamp(3) with time zone not null,
  new_issue_id uuid not null,
  repository_no bigint,
  constraint issue_regroup_findings_pkey PRIMARY KEY (org_id, regroup_id, batch, finding_id),
  constraint issue_regroup_findings_org_id_regroup_id_fkey FOREIGN KEY (org_id, regroup_id) REFERENCES issue_regroups(org_id, id)
);

create table issue_regroup_issues (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  repository_no bigint not null,
  issue_id uuid not null,
  is_new boolean not null,
  bucket bytea,
  kind text,
  severity smallint,
  status text,
  vuln_ids text[],
  canonical_id text collate "C",
  split_from uuid,
  merged_into uuid,
  constraint issue_regroup_issues_pkey PRIMARY KEY (org_id, regroup_id, batch, issue_id),
  constraint issue_regroup_issues_org_id_regroup_id_fkey FOREIGN KEY (org_id, regroup_id) REFERENCES issue_regroups(org_id, id)
);

create table issue_regroups (
  org_id uuid not null,
  id uuid not null,
  status text not null,
  repository_no bigint not null default 0,
  bucket bytea,
  batches integer not null default 0,
  findings bigint not null default 0,
  moved bigint not null default 0,
  restated bigint not null default 0,
  merged bigint not null default 0,
  split bigint not null default 0,
  started_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  in_progress jsonb not null default '{}'::jsonb,
  last_batch integer not null default 0,
  reopened bigint not null default 0,
  constraint issue_regroups_pkey PRIMARY KEY (org_id, id),
  constraint issue_regroups_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint issue_regroups_batches_check CHECK ((batches >= 0)),
  constraint issue_regroups_finished CHECK (((status <> 'finished'::text) OR (in_progress = '{}'::jsonb))),
  constraint issue_regroups_status_check CHECK ((status = ANY (ARRAY['running'::text, 'finished'::text, 'undoing'::text, 'undone'::text, 'expired'::text])))
);
CREATE UNIQUE INDEX issue_regroups_unfinished ON public.issue_regroups USING btree (org_id) WHERE (status = ANY (ARRAY['running'::text, 'undoing'::text]));

create table issue_rule_changes (
  org_id uuid not null,
  constraint issue_rule_changes_pkey PRIMARY KEY (org_id),
  constraint issue_rule_changes_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id)
);

create table job_schedules (
  name text not null,
  last_started_at timestamp with time zone,
  constraint job_schedules_pkey PRIMARY KEY (name)
);

create table jobs (
  id bigint not null generated always as identity,
  name text not null,
  class text not null,
  priority smallint not null,
  key text,
  payload jsonb not null,
  organization_id uuid generated always as (((payload ->> 'org_id'::text))::uuid) stored,
  state text not null,
  run_at timestamp with time zone not null,
  attempts smallint not null default 0,
  attempts_max smallint not null,
  interruptions smallint not null default 0,
  worker_id text,
  last_error text,
  request_id text,
  traceparent text,
  updated_at timestamp with time zone not null default now(),
  waits_for text,
  asks_alone text,
  constraint jobs_pkey PRIMARY KEY (id),
  constraint jobs_attempts_max_check CHECK ((attempts_max >= 1)),
  constraint jobs_check CHECK (((state = 'running'::text) = (worker_id IS NOT NULL))),
  constraint jobs_class_check CHECK ((class = ANY (ARRAY['interactive'::text, 'bulk'::text, 'outside'::text, 'outside_bulk'::text]))),
  constraint jobs_key_check CHECK (((length(key) >= 1) AND (length(key) <= 512))),
  constraint jobs_name_check CHECK (((length(name) >= 1) AND (length(name) <= 128))),
  constraint jobs_outside_check CHECK (((class = ANY (ARRAY['interactive'::text, 'bulk'::text])) OR (waits_for IS NOT NULL))),
  constraint jobs_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'scheduled'::text, 'running'::text, 'failed'::text]))),
  constraint jobs_waits_for_check CHECK (((length(waits_for) >= 1) AND (length(waits_for) <= 256)))
);
CREATE UNIQUE INDEX jobs_asking_alone ON public.jobs USING btree (asks_alone, COALESCE(organization_id, '00000000-0000-0000-0000-000000000000'::uuid)) WHERE ((state = 'running'::text) AND (asks_alone IS NOT NULL));
CREATE INDEX jobs_failed ON public.jobs USING btree (updated_at) WHERE (state = 'failed'::text);
CREATE UNIQUE INDEX jobs_key ON public.jobs USING btree (key) WHERE ((key IS NOT NULL) AND (state <> 'running'::text));
CREATE INDEX jobs_ready ON public.jobs USING btree (class, organization_id, priority, run_at, id) WHERE (state = 'ready'::text);
CREATE INDEX jobs_ready_outside ON public.jobs USING btree (class, COALESCE(organization_id, '00000000-0000-0000-0000-000000000000'::uuid), waits_for, priority, run_at, id) WHERE ((state = 'ready'::text) AND (waits_for IS NOT NULL));
CREATE INDEX jobs_running ON public.jobs USING btree (worker_id) WHERE (state = 'running'::text);
CREATE INDEX jobs_scheduled ON public.jobs USING btree (run_at) WHERE (state = 'scheduled'::text);

create table joined_buckets (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null,
  joined_as bytea not null,
  constraint joined_buckets_pkey PRIMARY KEY (org_id, repository_no, bucket),
  constraint joined_buckets_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint joined_buckets_bucket_check CHECK ((length(bucket) = 16)),
  constraint joined_buckets_joined_as_check CHECK ((length(joined_as) = 16))
);
CREATE INDEX joined_buckets_by_set ON public.joined_buckets USING btree (org_id, repository_no, joined_as);

create table known_browsers (
  user_id uuid not null,
  token_sha256 bytea not null,
  last_used_at timestamp(3) with time zone not null,
  constraint known_browsers_pkey PRIMARY KEY (user_id, token_sha256),
  constraint known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint known_browsers_token_sha256_check CHECK ((length(token_sha256) = 32))
);
CREATE INDEX known_browsers_by_use ON public.known_browsers USING btree (last_used_at);

create table landings (
  id bigint not null generated always as identity,
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  pull_request integer,
  push_id text collate "C",
  branch text not null,
  head_sha text not null,
  merge_sha text,
  landed_at timestamp(3) with time zone not null,
  noted_at timestamp(3) with time zone not null,
  late boolean not null,
  state text not null default 'waiting'::text,
  due_at timestamp(3) with time zone not null,
  tries smallint not null default 0,
  asked_at timestamp(3) with time zone,
  change_id text collate "C",
  constraint landings_org_id_provider_repository_id_pull_request_key UNIQUE (org_id, provider, repository_id, pull_request),
  constraint landings_org_id_provider_repository_id_push_id_key UNIQUE (org_id, provider, repository_id, push_id),
  constraint landings_pkey PRIMARY KEY (org_id, id),
  constraint landings_check CHECK ((num_nonnulls(pull_request, push_id) = 1)),
  constraint landings_check1 CHECK (((state = 'recorded'::text) = (change_id IS NOT NULL))),
  constraint landings_pull_request_check CHECK ((pull_request > 0)),
  constraint landings_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'recorded'::text, 'dropped'::text])))
);
CREATE INDEX landings_by_head ON public.landings USING btree (org_id, provider, repository_id, head_sha);
CREATE INDEX landings_by_merge ON public.landings USING btree (org_id, provider, repository_id, merge_sha);
CREATE INDEX landings_due ON public.landings USING btree (due_at) WHERE (state = 'waiting'::text);
CREATE INDEX landings_waiting ON public.landings USING btree (org_id, provider, repository_id, late, landed_at) WHERE (state = 'waiting'::text);

create table links (
  org_id uuid,
  id uuid not null,
  kind text not null,
  token_sha256 bytea not null,
  email text,
  built_in_role text,
  custom_role_id uuid,
  user_id uuid,
  created_by_user_id uuid,
  created_by_name text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  closed_at timestamp(3) with time zone,
  constraint links_pkey PRIMARY KEY (id),
  constraint links_token_sha256_key UNIQUE (token_sha256),
  constraint links_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  constraint links_org_id_custom_role_id_fkey FOREIGN KEY (org_id, custom_role_id) REFERENCES custom_roles(org_id, id),
  constraint links_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint links_built_in_role_check CHECK ((built_in_role = ANY (ARRAY['viewer'::text, 'developer'::text, 'release_manager'::text, 'security'::text, 'org_admin'::text]))),
  constraint links_check CHECK ((num_nonnulls(built_in_role, custom_role_id) = ((kind <> 'reset'::text))::integer)),
  constraint links_check1 CHECK (((org_id IS NULL) = (kind = 'reset'::text))),
  constraint links_check2 CHECK (((user_id IS NOT NULL) = (kind = 'reset'::text))),
  constraint links_check3 CHECK (((email IS NOT NULL) = (kind = 'invitation'::text))),
  constraint links_created_by_name_check CHECK (((length(created_by_name) >= 1) AND (length(created_by_name) <= 100))),
  constraint links_email_check CHECK (((email = lower(email)) AND ((length(email) >= 3) AND (length(email) <= 254)))),
  constraint links_kind_check CHECK ((kind = ANY (ARRAY['setup'::text, 'invitation'::text, 'reset'::text]))),
  constraint links_token_sha256_check CHECK ((length(token_sha256) = 32))
);
CREATE INDEX links_by_role ON public.links USING btree (org_id, custom_role_id) WHERE (custom_role_id IS NOT NULL);
CREATE UNIQUE INDEX open_invitations ON public.links USING btree (org_id, email) WHERE ((kind = 'invitation'::text) AND (closed_at IS NULL));

create table live_deployments (
  org_id uuid not null,
  unit text collate "C" not null,
  lane text collate "C" not null,
  deployment_id text collate "C",
  since timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  ended_reason text,
  constraint live_deployments_pkey PRIMARY KEY (org_id, unit, lane),
  constraint live_deployments_check CHECK (((deployment_id IS NULL) = (since IS NULL))),
  constraint live_deployments_check1 CHECK (((ended_at IS NULL) = (ended_reason IS NULL))),
  constraint live_deployments_ended_reason_check CHECK ((ended_reason = ANY (ARRAY['inactive'::text, 'stated'::text]))),
  constraint live_deployments_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text]))),
  constraint live_deployments_unit_check CHECK (((length(unit) >= 1) AND (length(unit) <= 2000)))
);
CREATE INDEX live_deployments_by_deployment ON public.live_deployments USING btree (org_id, deployment_id);

create table log_checkpoints (
  size bigint not null,
  root_hash bytea not null,
  note text not null,
  published_at timestamp(3) with time zone not null,
  mac bytea,
  constraint log_checkpoints_pkey PRIMARY KEY (size),
  constraint log_checkpoints_root_hash_check CHECK ((length(root_hash) = 32)),
  constraint log_checkpoints_size_check CHECK ((size >= 0))
);

create table log_entries (
  id bigint not null generated always as identity,
  kind text not null,
  sha256 bytea not null,
  leaf_index bigint,
  mac bytea,
  constraint log_entries_kind_sha256_key UNIQUE (kind, sha256),
  constraint log_entries_leaf_index_key UNIQUE (leaf_index),
  constraint log_entries_pkey PRIMARY KEY (id),
  constraint log_entries_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'amendment'::text, 'statement'::text]))),
  constraint log_entries_leaf_index_check CHECK ((leaf_index >= 0)),
  constraint log_entries_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX log_entries_pending ON public.log_entries USING btree (id) WHERE (leaf_index IS NULL);

create table log_key (
  singleton boolean not null default true,
  origin text not null,
  sealed_private_key text not null,
  created_at timestamp(3) with time zone not null,
  constraint log_key_pkey PRIMARY KEY (singleton),
  constraint log_key_singleton_check CHECK (singleton)
);

create table log_tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  constraint log_tiles_pkey PRIMARY KEY (level, index),
  constraint log_tiles_hashes_check CHECK ((((length(hashes) >= 32) AND (length(hashes) <= 8192)) AND ((length(hashes) % 32) = 0))),
  constraint log_tiles_index_check CHECK ((index >= 0)),
  constraint log_tiles_level_check CHECK (((level >= 0) AND (level <= 63)))
);

create table matching_progress (
  org_id uuid not null,
  is_due boolean not null,
  followed_until bigint not null,
  batch_until bigint,
  scope_after bigint not null default 0,
  constraint matching_progress_pkey PRIMARY KEY (org_id)
);

create table member_accounts (
  org_id uuid not null,
  user_id uuid not null,
  provider text not null,
  login text not null,
  created_at timestamp(3) with time zone not null,
  constraint member_accounts_pkey PRIMARY KEY (org_id, user_id, provider),
  constraint member_accounts_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES members(org_id, user_id) ON DELETE CASCADE,
  constraint member_accounts_login_check CHECK (((length(login) >= 1) AND (length(login) <= 100))),
  constraint member_accounts_provider_check CHECK (((length(provider) >= 1) AND (length(provider) <= 50)))
);
CREATE UNIQUE INDEX member_accounts_by_login ON public.member_accounts USING btree (org_id, provider, lower(login));

create table members (
  org_id uuid not null,
  user_id uuid not null,
  built_in_role text,
  custom_role_id uuid,
  created_at timestamp(3) with time zone not null,
  disabled_at timestamp(3) with time zone,
  constraint members_pkey PRIMARY KEY (org_id, user_id),
  constraint members_org_id_custom_role_id_fkey FOREIGN KEY (org_id, custom_role_id) REFERENCES custom_roles(org_id, id),
  constraint members_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint members_built_in_role_check CHECK ((built_in_role = ANY (ARRAY['viewer'::text, 'developer'::text, 'release_manager'::text, 'security'::text, 'org_admin'::text]))),
  constraint members_check CHECK ((num_nonnulls(built_in_role, custom_role_id) = 1))
);
CREATE INDEX members_by_age ON public.members USING btree (org_id, created_at, user_id);
CREATE INDEX members_by_role ON public.members USING btree (org_id, custom_role_id) WHERE (custom_role_id IS NOT NULL);
CREATE INDEX members_by_user ON public.members USING btree (user_id);

create table monthly_usage (
  org_id uuid not null,
  month date not null,
  metric text not null,
  used bigint not null,
  constraint monthly_usage_pkey PRIMARY KEY (org_id, month, metric),
  constraint monthly_usage_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint monthly_usage_used_check CHECK ((used >= 0))
);

create table oidc_trusts (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  issuer text not null,
  audience text not null,
  provider text,
  conditions jsonb not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_by_user_id uuid,
  trusted_events text[] not null default '{}'::text[],
  self_hosted boolean not null default false,
  speaks_for text[] not null default '{}'::text[],
  speaks_as text not null default 'uploaded'::text,
  constraint oidc_trusts_id_key UNIQUE (id),
  constraint oidc_trusts_pkey PRIMARY KEY (org_id, id),
  constraint oidc_trusts_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  constraint oidc_trusts_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint oidc_trusts_audience_check CHECK (((length(audience) >= 1) AND (length(audience) <= 500))),
  constraint oidc_trusts_conditions_check CHECK ((jsonb_typeof(conditions) = 'object'::text)),
  constraint oidc_trusts_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 500))),
  constraint oidc_trusts_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint oidc_trusts_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint oidc_trusts_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint oidc_trusts_speaks_as_check CHECK ((speaks_as = ANY (ARRAY['uploaded'::text, 'verified'::text]))),
  constraint oidc_trusts_speaks_for_check CHECK ((cardinality(speaks_for) <= 50)),
  constraint oidc_trusts_trusted_events_check CHECK ((cardinality(trusted_events) <= 20))
);
CREATE INDEX oidc_trusts_by_audience ON public.oidc_trusts USING hash (audience) WHERE (revoked_at IS NULL);
CREATE INDEX oidc_trusts_by_issuer ON public.oidc_trusts USING btree (issuer) WHERE (revoked_at IS NULL);
CREATE INDEX oidc_trusts_by_organization ON public.oidc_trusts USING btree (org_id, created_at, id);

create table opened_gates (
  org_id uuid not null,
  id uuid not null,
  deployment_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt smallint not null,
  environment text not null,
  job text not null,
  status text not null,
  decision text not null,
  decided_by text,
  note text,
  poll_token_sha256 bytea not null,
  poll_token_issued_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  credential_id uuid,
  lane text,
  unread boolean not null default false,
  opener_lane text,
  timeout_minutes smallint,
  supersedes uuid,
  superseded_by uuid,
  constraint opened_gates_org_id_deployment_id_key UNIQUE (org_id, deployment_id),
  constraint opened_gates_pkey PRIMARY KEY (org_id, id),
  constraint opened_gates_org_id_deployment_id_fkey FOREIGN KEY (org_id, deployment_id) REFERENCES deployments(org_id, id),
  constraint opened_gates_attempt_check CHECK (((attempt >= 1) AND (attempt <= 999))),
  constraint opened_gates_check CHECK (((status = 'waiting'::text) = (decision = 'pending'::text))),
  constraint opened_gates_check1 CHECK (((decided_by IS NULL) = (decision = 'pending'::text))),
  constraint opened_gates_check2 CHECK (((status = 'decided'::text) OR (decision <> 'approved'::text))),
  constraint opened_gates_decision_check CHECK ((decision = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text]))),
  constraint opened_gates_environment_check CHECK (((length(environment) >= 1) AND (length(environment) <= 100))),
  constraint opened_gates_job_check CHECK ((length(job) <= 100)),
  constraint opened_gates_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text]))),
  constraint opened_gates_opener_lane_check CHECK ((opener_lane = ANY (ARRAY['verified'::text, 'self_reported'::text, 'untrusted'::text]))),
  constraint opened_gates_poll_token_sha256_check CHECK ((length(poll_token_sha256) = 32)),
  constraint opened_gates_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'decided'::text, 'expired'::text, 'cancelled'::text]))),
  constraint opened_gates_timeout_minutes_check CHECK (((timeout_minutes >= 5) AND (timeout_minutes <= 720)))
);
CREATE INDEX opened_gates_by_id ON public.opened_gates USING btree (id);
CREATE UNIQUE INDEX opened_gates_current ON public.opened_gates USING btree (org_id, run_id, environment, job, attempt, lane) NULLS NOT DISTINCT WHERE (superseded_by IS NULL);
CREATE INDEX opened_gates_unread ON public.opened_gates USING btree (org_id, created_at) WHERE unread;

create table organizations (
  id uuid not null,
  slug text not null,
  name text not null,
  plan text not null,
  created_at timestamp(3) with time zone not null,
  is_demo boolean not null default false,
  deletion_started_at timestamp(3) with time zone,
  accept_repository_vex boolean not null default false,
  default_trust text,
  default_trust_loosened_at timestamp(3) with time zone,
  default_trust_loosened_by text,
  two_person_changes boolean not null default false,
  production_rule_since timestamp(3) with time zone,
  inventory_matching text not null default 'on'::text,
  host_dismissals text not null default 'accept'::text,
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_slug_key UNIQUE (slug),
  constraint organizations_default_trust_check CHECK ((default_trust = ANY (ARRAY['verified'::text, 'uploaded'::text]))),
  constraint organizations_host_dismissals CHECK ((host_dismissals = ANY (ARRAY['accept'::text, 'propose'::text]))),
  constraint organizations_inventory_matching_check CHECK ((inventory_matching = ANY (ARRAY['on'::text, 'preview'::text, 'off'::text]))),
  constraint organizations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint organizations_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);
CREATE UNIQUE INDEX one_demo_organization ON public.organizations USING btree (is_demo) WHERE is_demo;

create table passkey_challenges (
  challenge_sha256 bytea not null,
  purpose text not null,
  user_id uuid,
  expires_at timestamp(3) with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge_sha256),
  constraint passkey_challenges_challenge_sha256_check CHECK ((length(challenge_sha256) = 32)),
  constraint passkey_challenges_check CHECK (((purpose = 'sign_in'::text) = (user_id IS NULL))),
  constraint passkey_challenges_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'confirm'::text, 'register'::text])))
);
CREATE INDEX passkey_challenges_by_expiry ON public.passkey_challenges USING btree (expires_at);

create table passkeys (
  id uuid not null,
  user_id uuid not null,
  credential_id text not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  is_synced boolean not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint passkeys_credential_id_check CHECK (((length(credential_id) >= 1) AND (length(credential_id) <= 1400))),
  constraint passkeys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
CREATE INDEX passkeys_by_user ON public.passkeys USING btree (user_id, created_at);

create table pending_changes (
  org_id uuid not null,
  id uuid not null,
  kind text not null,
  action text not null,
  object_id uuid,
  name text not null,
  content jsonb,
  base_version integer not null,
  author_id uuid not null,
  author_name text not null,
  reason text,
  created_at timestamp(3) with time zone not null,
  constraint pending_changes_pkey PRIMARY KEY (org_id, id),
  constraint pending_changes_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint pending_changes_action_check CHECK ((action = ANY (ARRAY['create'::text, 'change'::text, 'delete'::text]))),
  constraint pending_changes_check CHECK (((object_id IS NOT NULL) OR (action = 'create'::text))),
  constraint pending_changes_check1 CHECK (((content IS NOT NULL) OR (action = 'delete'::text))),
  constraint pending_changes_kind_check CHECK ((kind = ANY (ARRAY['gate'::text, 'policy'::text])))
);

create table policies (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  version integer not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  provider text,
  repository_id text collate "C",
  path text,
  blob text collate "C",
  removed_at timestamp(3) with time zone,
  constraint policies_pkey PRIMARY KEY (org_id, id),
  constraint policies_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint policies_blob_check CHECK (((length(blob) >= 1) AND (length(blob) <= 100))),
  constraint policies_check CHECK ((num_nulls(provider, repository_id, path, blob) = ANY (ARRAY[0, 4]))),
  constraint policies_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint policies_path_check CHECK (((length(path) >= 1) AND (length(path) <= 500))),
  constraint policies_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint policies_repository_id_check CHECK (((length(repository_id) >= 1) AND (length(repository_id) <= 100))),
  constraint policies_version_check CHECK ((version >= 0))
);
CREATE UNIQUE INDEX policies_by_file ON public.policies USING btree (org_id, provider, repository_id, path) WHERE (repository_id IS NOT NULL);
CREATE UNIQUE INDEX policies_by_name ON public.policies USING btree (org_id, name) WHERE (repository_id IS NULL);

create table policy_bundles (
  org_id uuid not null,
  sha256 text collate "C" not null,
  wasm bytea not null,
  data jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint policy_bundles_pkey PRIMARY KEY (org_id, sha256),
  constraint policy_bundles_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint policy_bundles_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

create table policy_versions (
  org_id uuid not null,
  policy_id uuid not null,
  version integer not null,
  mode text not null,
  definition jsonb not null,
  content_hash bytea not null,
  created_at timestamp(3) with time zone not null,
  source text,
  principal_type text,
  principal_id text,
  principal_name text,
  reason text,
  removed_at timestamp(3) with time zone,
  removed_by_id text,
  constraint policy_versions_pkey PRIMARY KEY (org_id, policy_id, version),
  constraint policy_versions_org_id_policy_id_fkey FOREIGN KEY (org_id, policy_id) REFERENCES policies(org_id, id),
  constraint policy_versions_check CHECK ((num_nulls(principal_type, principal_name) = ANY (ARRAY[0, 2]))),
  constraint policy_versions_content_hash_check CHECK ((length(content_hash) = 32)),
  constraint policy_versions_mode_check CHECK ((mode = ANY (ARRAY['monitor'::text, 'enforce'::text]))),
  constraint policy_versions_removed_by_check CHECK (((removed_by_id IS NULL) OR (removed_at IS NOT NULL))),
  constraint policy_versions_version_check CHECK ((version >= 1))
);

create table provenance_chains (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  length integer not null,
  head bytea,
  breaks integer not null,
  verified_length integer not null,
  verified_at timestamp(3) with time zone,
  mac bytea not null,
  constraint provenance_chains_pkey PRIMARY KEY (org_id, provider, repository_id),
  constraint provenance_chains_breaks_check CHECK ((breaks >= 0)),
  constraint provenance_chains_check CHECK (((length = 0) = (head IS NULL))),
  constraint provenance_chains_head_check CHECK ((length(head) = 32)),
  constraint provenance_chains_length_check CHECK ((length >= 0)),
  constraint provenance_chains_mac_check CHECK ((length(mac) = 32)),
  constraint provenance_chains_verified_length_check CHECK ((verified_length >= 0))
);

create table provider_accounts (
  org_id uuid not null,
  provider text not null,
  id text collate "C" not null,
  name text,
  read_at timestamp(3) with time zone not null,
  constraint provider_accounts_pkey PRIMARY KEY (org_id, provider, id)
);

create table provider_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null,
  job_started boolean not null default false,
  host_version text collate "C",
  status text,
  url text,
  actor text,
  started_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  host_updated_at timestamp(3) with time zone,
  constraint provider_run_attempts_pkey PRIMARY KEY (org_id, run_id, number),
  constraint provider_run_attempts_check CHECK ((num_nulls(host_version, status, started_at, host_updated_at) = ANY (ARRAY[0, 4]))),
  constraint provider_run_attempts_number_check CHECK (((number >= 1) AND (number <= 999))),
  constraint provider_run_attempts_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'timed_out'::text, 'skipped'::text])))
);

create table provider_run_jobs (
  org_id uuid not null,
  run_id text collate "C" not null,
  attempt smallint not null,
  id text collate "C" not null,
  name text not null,
  status text not null,
  state smallint not null,
  started_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  url text,
  constraint provider_run_jobs_pkey PRIMARY KEY (org_id, run_id, attempt, id),
  constraint provider_run_jobs_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint provider_run_jobs_attempt_check CHECK (((attempt >= 1) AND (attempt <= 999))),
  constraint provider_run_jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'success'::text, 'failure'::text, 'cancelled'::text, 'timed_out'::text, 'skipped'::text])))
);

create table provider_run_scores (
  org_id uuid not null,
  run_id text collate "C" not null,
  failure_recurrence integer,
  anomaly_reasons text[] not null,
  importance_score real not null,
  constraint provider_run_scores_pkey PRIMARY KEY (org_id, run_id),
  constraint provider_run_scores_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES ci_runs(org_id, id),
  constraint provider_run_scores_failure_recurrence_check CHECK ((failure_recurrence >= 1)),
  constraint provider_run_scores_importance_score_check CHECK (((importance_score >= (0)::double precision) AND (importance_score <= (1)::double precision)))
);

create table provider_runs (
  org_id uuid not null,
  run_id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  repository_owner_id text collate "C" not null,
  workflow_id text collate "C" not null,
  workflow_path text,
  run_number integer,
  branch text,
  head_repository_id text collate "C" not null,
  trigger_kind text not null,
  commit_sha text not null,
  release_name text,
  actor_id text collate "C",
  actor_login text,
  actor_avatar_url text,
  actor_url text,
  pull_request_number integer,
  pull_request_url text,
  created_at timestamp(3) with time zone not null,
  host_version text collate "C" not null,
  commit_message text,
  author_id text collate "C",
  author_login text,
  author_avatar_url text,
  merged_pull_request_number integer,
  merged_pull_request_url text,
  workflow_blob text collate "C",
  details_due boolean not null default true,
  details_tried_at timestamp(3) with time zone,
  failure_attempt smallint,
  failure_category text,
  failure_excerpt text,
  failure_due boolean not null default false,
  failure_tried_at timestamp(3) with time zone,
  azure jsonb,
  constraint provider_runs_pkey PRIMARY KEY (org_id, run_id),
  constraint provider_runs_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES ci_runs(org_id, id),
  constraint provider_runs_failure_category_check CHECK ((failure_category = ANY (ARRAY['test'::text, 'build'::text, 'lint'::text, 'dependency'::text, 'timeout'::text, 'infrastructure'::text, 'cancelled'::text, 'unknown'::text]))),
  constraint provider_runs_failure_excerpt_check CHECK ((length(failure_excerpt) <= 2000)),
  constraint provider_runs_trigger_kind_check CHECK ((trigger_kind = ANY (ARRAY['push'::text, 'pull_request'::text, 'schedule'::text, 'manual'::text, 'release'::text, 'workflow'::text, 'other'::text])))
);
CREATE INDEX provider_runs_by_branch ON public.provider_runs USING btree (org_id, provider, repository_id, workflow_id, branch, head_repository_id, run_number, run_id) WHERE ((branch IS NOT NULL) AND (run_number IS NOT NULL));
CREATE INDEX provider_runs_by_commit ON public.provider_runs USING btree (org_id, provider, repository_id, commit_sha);
CREATE INDEX provider_runs_with_unread_failure ON public.provider_runs USING btree (org_id, provider, repository_id, created_at) WHERE failure_due;
CREATE INDEX provider_runs_without_details ON public.provider_runs USING btree (org_id, provider, repository_id, created_at) WHERE details_due;

create table pull_request_heads (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  pull_request integer not null,
  constraint pull_request_heads_pkey PRIMARY KEY (org_id, provider, repository_id, commit_sha, pull_request)
);

create table pull_request_reviews (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  pull_request integer not null,
  host_version text collate "C" not null,
  reviewer jsonb,
  state text not null,
  commit_sha text,
  submitted_at timestamp(3) with time zone not null,
  constraint pull_request_reviews_pkey PRIMARY KEY (org_id, provider, repository_id, id),
  constraint pull_request_reviews_pull_request_check CHECK ((pull_request > 0)),
  constraint pull_request_reviews_state_check CHECK ((state = ANY (ARRAY['approved'::text, 'changes_requested'::text, 'commented'::text, 'dismissed'::text])))
);
CREATE INDEX pull_request_reviews_by_pull_request ON public.pull_request_reviews USING btree (org_id, provider, repository_id, pull_request, submitted_at);
CREATE INDEX pull_request_reviews_by_time ON public.pull_request_reviews USING btree (org_id, submitted_at);

create table pull_requests (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  number integer not null,
  host_version text collate "C" not null,
  title text not null,
  url text,
  author jsonb,
  state text not null,
  draft boolean not null,
  head_ref text not null,
  head_sha text not null,
  head_repository_id text collate "C",
  base_ref text not null,
  base_sha text not null,
  merge_commit_sha text,
  merged_by jsonb,
  created_at timestamp(3) with time zone not null,
  merged_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone not null,
  merged_by_queue boolean not null default false,
  constraint pull_requests_pkey PRIMARY KEY (org_id, provider, repository_id, number),
  constraint pull_requests_number_check CHECK ((number > 0)),
  constraint pull_requests_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'merged'::text])))
);
CREATE INDEX pull_requests_by_merge_commit ON public.pull_requests USING btree (org_id, provider, repository_id, merge_commit_sha) WHERE (state = 'merged'::text);
CREATE INDEX pull_requests_by_update ON public.pull_requests USING btree (org_id, updated_at);

create table pushed_commits (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  push_id text collate "C" not null,
  "position" smallint not null,
  sha text not null,
  message text not null,
  author jsonb not null,
  committer jsonb not null,
  at timestamp(3) with time zone not null,
  constraint pushed_commits_pkey PRIMARY KEY (org_id, provider, repository_id, push_id, "position"),
  constraint pushed_commits_org_id_provider_repository_id_push_id_fkey FOREIGN KEY (org_id, provider, repository_id, push_id) REFERENCES pushes(org_id, provider, repository_id, id)
);
CREATE INDEX pushed_commits_by_sha ON public.pushed_commits USING btree (org_id, provider, repository_id, sha);

create table pushes (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  branch text not null,
  before_sha text,
  after_sha text not null,
  forced boolean not null,
  pusher jsonb,
  pushed_at timestamp(3) with time zone not null,
  by_merge_queue boolean not null default false,
  constraint pushes_pkey PRIMARY KEY (org_id, provider, repository_id, id)
);
CREATE INDEX pushes_by_head ON public.pushes USING btree (org_id, provider, repository_id, after_sha);
CREATE INDEX pushes_by_time ON public.pushes USING btree (org_id, pushed_at);

create table recovery_codes (
  user_id uuid not null,
  code_sha256 bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, code_sha256),
  constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint recovery_codes_code_sha256_check CHECK ((length(code_sha256) = 32))
);

create table replica_marks (
  is_only boolean not null default true,
  timeline integer not null,
  constraint replica_marks_pkey PRIMARY KEY (is_only),
  constraint replica_marks_is_only_check CHECK (is_only)
);

create table reported_repositories (
  org_id uuid not null,
  id bigint not null generated always as identity,
  name text not null,
  provider text,
  provider_id text,
  created_at timestamp(3) with time zone not null,
  has_triages boolean not null default false,
  has_edits boolean not null default false,
  constraint reported_repositories_pkey PRIMARY KEY (org_id, id),
  constraint reported_repositories_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint reported_repositories_check CHECK (((provider_id IS NULL) OR (provider IS NOT NULL))),
  constraint reported_repositories_name_check CHECK (((length(name) >= 3) AND (length(name) <= 300))),
  constraint reported_repositories_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text])))
);
CREATE UNIQUE INDEX reported_repositories_by_identity ON public.reported_repositories USING btree (org_id, COALESCE(provider, ''::text), COALESCE(provider_id, ('name:'::text || lower(name))));
CREATE INDEX reported_repositories_by_name ON public.reported_repositories USING btree (org_id, lower(name));

create table repositories (
  org_id uuid not null,
  provider text not null,
  id text not null,
  host text not null,
  full_name text not null,
  tracked_branch text not null,
  created_at timestamp(3) with time zone not null,
  connection_id uuid,
  owner_id text collate "C",
  html_url text,
  private boolean,
  archived boolean,
  deleted_at timestamp(3) with time zone,
  host_updated_at timestamp(3) with time zone,
  constraint repositories_pkey PRIMARY KEY (org_id, provider, id),
  constraint repositories_org_id_connection_id_fkey FOREIGN KEY (org_id, connection_id) REFERENCES codehost_connections(org_id, id),
  constraint repositories_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint repositories_full_name_check CHECK (((length(full_name) >= 3) AND (length(full_name) <= 300))),
  constraint repositories_host_check CHECK ((host = lower(host))),
  constraint repositories_id_check CHECK (((length(id) >= 1) AND (length(id) <= 100))),
  constraint repositories_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint repositories_tracked_branch_check CHECK (((length(tracked_branch) >= 1) AND (length(tracked_branch) <= 255)))
);
CREATE INDEX repositories_by_connection ON public.repositories USING btree (org_id, connection_id, id) WHERE (connection_id IS NOT NULL);
CREATE UNIQUE INDEX repositories_by_linked_name ON public.repositories USING btree (org_id, lower(full_name), provider, host) WHERE (owner_id IS NULL);
CREATE INDEX repositories_by_name ON public.repositories USING btree (org_id, lower(full_name), provider, host);

create table repository_policy_sources (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  pushed_at timestamp(3) with time zone not null,
  read_commit_sha text,
  read_at timestamp(3) with time zone,
  mistakes jsonb,
  constraint repository_policy_sources_pkey PRIMARY KEY (org_id, provider, repository_id),
  constraint repository_policy_sources_org_id_provider_repository_id_fkey FOREIGN KEY (org_id, provider, repository_id) REFERENCES repositories(org_id, provider, id),
  constraint repository_policy_sources_commit_sha_check CHECK (((length(commit_sha) >= 1) AND (length(commit_sha) <= 100))),
  constraint repository_policy_sources_mistakes_check CHECK ((jsonb_typeof(mistakes) = 'array'::text))
);

create table request_counts (
  caller text not null,
  window_started_at timestamp(3) with time zone not null,
  used integer not null,
  constraint request_counts_pkey PRIMARY KEY (caller),
  constraint request_counts_caller_check CHECK ((length(caller) <= 100))
);

create table required_gates (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  "position" smallint not null,
  id uuid not null,
  name text not null,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  approved_at timestamp(3) with time zone,
  approved_by text,
  approve_by_policies jsonb,
  require_linked_accounts boolean not null default false,
  replaced_at timestamp(3) with time zone,
  after_rejection boolean not null default false,
  constraint required_gates_org_id_deployment_id_id_key UNIQUE (org_id, deployment_id, id),
  constraint required_gates_pkey PRIMARY KEY (org_id, deployment_id, "position"),
  constraint required_gates_org_id_deployment_id_fkey FOREIGN KEY (org_id, deployment_id) REFERENCES deployments(org_id, id),
  constraint required_gates_approve_by_policies_check CHECK ((approve_by_policies = ANY (ARRAY['true'::jsonb, 'false'::jsonb, '"covering"'::jsonb]))),
  constraint required_gates_approved_by_check CHECK ((approved_by = ANY (ARRAY['policies'::text, 'principals'::text])))
);

create table retention_kinds (
  kind text not null,
  removed bigint not null default 0,
  removed_in_run bigint not null default 0,
  constraint retention_kinds_pkey PRIMARY KEY (kind),
  constraint retention_kinds_removed_check CHECK ((removed >= 0)),
  constraint retention_kinds_removed_in_run_check CHECK ((removed_in_run >= 0))
);

create table retention_state (
  singleton boolean not null default true,
  started_at timestamp(3) with time zone not null,
  is_finished boolean not null default false,
  finished_at timestamp(3) with time zone,
  seconds double precision,
  passed uuid,
  constraint retention_state_pkey PRIMARY KEY (singleton),
  constraint retention_state_check CHECK (((passed IS NULL) OR (NOT is_finished))),
  constraint retention_state_singleton_check CHECK (singleton)
);

create table run_days (
  org_id uuid not null,
  day date not null,
  repository text not null,
  status text not null,
  runs integer not null,
  constraint run_days_pkey PRIMARY KEY (org_id, day, repository, status),
  constraint run_days_runs_check CHECK ((runs > 0))
);

create table saved_views (
  org_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  list text not null,
  name text not null,
  search jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint saved_views_pkey PRIMARY KEY (org_id, user_id, id),
  constraint saved_views_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES members(org_id, user_id) ON DELETE CASCADE,
  constraint saved_views_list_check CHECK ((list = ANY (ARRAY['issues'::text, 'findings'::text]))),
  constraint saved_views_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint saved_views_search_check CHECK (((jsonb_typeof(search) = 'object'::text) AND (pg_column_size(search) <= 16384)))
);
CREATE UNIQUE INDEX saved_views_by_name ON public.saved_views USING btree (org_id, user_id, list, lower(name));

create table sbom_commits (
  org_id uuid not null,
  sbom_no bigint not null,
  commit_sha text not null,
  upload_id text collate "C" not null,
  run_id text collate "C",
  reported_at timestamp(3) with time zone not null,
  constraint sbom_commits_pkey PRIMARY KEY (org_id, sbom_no, commit_sha),
  constraint sbom_commits_org_id_sbom_no_fkey FOREIGN KEY (org_id, sbom_no) REFERENCES sboms(org_id, no) ON DELETE CASCADE
);
CREATE INDEX sbom_commits_by_commit ON public.sbom_commits USING btree (org_id, commit_sha);

create table sboms (
  org_id uuid not null,
  no bigint not null generated always as identity,
  id text collate "C" not null,
  stream_id bigint not null,
  is_older boolean not null,
  subjects jsonb not null,
  operating_system text,
  components integer not null,
  skipped integer not null,
  truncated boolean not null,
  added bigint[] not null,
  removed bigint[] not null,
  removed_since timestamp(3) with time zone[] not null,
  created_at timestamp(3) with time zone not null,
  package_types text[] collate "C" not null default '{}'::text[],
  constraint sboms_pkey PRIMARY KEY (org_id, no),
  constraint sboms_org_id_stream_id_fkey FOREIGN KEY (org_id, stream_id) REFERENCES inventory_streams(org_id, id) ON DELETE CASCADE
);
CREATE INDEX sboms_by_creation ON public.sboms USING btree (org_id, created_at, no);
CREATE INDEX sboms_by_removed ON public.sboms USING gin (removed) WHERE (removed <> '{}'::bigint[]);
CREATE INDEX sboms_by_stream ON public.sboms USING btree (org_id, stream_id, created_at);
CREATE INDEX sboms_by_subject ON public.sboms USING gin (subjects jsonb_path_ops);

create table schema_migration_batches (
  name text not null,
  "position" text not null,
  rows bigint not null,
  constraint schema_migration_batches_pkey PRIMARY KEY (name)
);

create table schema_migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table security_alerts (
  org_id uuid not null,
  id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  repository text not null,
  type text not null,
  number bigint not null,
  revision bigint not null default 1,
  severity text not null,
  title text not null,
  description text,
  package_ecosystem text,
  package_name text,
  vulnerable_versions text,
  patched_version text,
  cve_id text,
  ghsa_id text,
  advisory_url text,
  github_alert_url text,
  "references" jsonb not null,
  path text,
  start_line integer,
  end_line integer,
  start_column integer,
  end_column integer,
  commit_sha text,
  git_ref text,
  rule_id text,
  tool_name text,
  tool_version text,
  cwes text[] not null,
  cvss_version text,
  cvss_score real,
  cvss_vector text,
  secret_type text,
  secret_hash bytea,
  detected_at timestamp(3) with time zone not null,
  fixed_at timestamp(3) with time zone,
  dismissed_by text,
  dismissed_by_name text,
  dismiss_reason text,
  dismiss_comment text,
  dismissed_at timestamp(3) with time zone,
  host_updated_at timestamp(3) with time zone not null,
  host_status text not null,
  host_facts integer not null,
  host_hash bytea not null,
  own_by text,
  own_by_name text,
  own_reason text,
  own_comment text,
  own_at timestamp(3) with time zone,
  own_host_updated_at timestamp(3) with time zone,
  own_delivery text,
  created_at timestamp(3) with time zone not null,
  own_status text,
  own_call uuid,
  is_decided_here boolean not null generated always as (own_decision_counts(own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at)) stored,
  status text not null generated always as (
CASE
    WHEN own_decision_counts(own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at) THEN own_status
    ELSE host_status
END) stored,
  host_read_at timestamp(3) with time zone,
  is_proposed boolean not null default false,
  constraint security_alerts_pkey PRIMARY KEY (org_id, id),
  constraint security_alerts_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint security_alerts_check CHECK (((own_delivery IS NULL) = (own_at IS NULL))),
  constraint security_alerts_check1 CHECK (((own_delivery IS NULL) = (own_host_updated_at IS NULL))),
  constraint security_alerts_host_hash_check CHECK ((length(host_hash) = 16)),
  constraint security_alerts_host_status_check CHECK ((host_status = ANY (ARRAY['open'::text, 'dismissed'::text, 'fixed'::text]))),
  constraint security_alerts_id_check CHECK ((id ~ '^[A-Za-z0-9._:-]{1,128}$'::text)),
  constraint security_alerts_number_check CHECK ((number >= 0)),
  constraint security_alerts_own_delivery_check CHECK ((own_delivery = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint security_alerts_own_status CHECK (((own_delivery IS NULL) = (own_status IS NULL))),
  constraint security_alerts_own_status_check CHECK ((own_status = ANY (ARRAY['open'::text, 'dismissed'::text]))),
  constraint security_alerts_provider_check CHECK ((provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'bitbucket'::text, 'azure'::text]))),
  constraint security_alerts_references_check CHECK ((jsonb_typeof("references") = 'array'::text)),
  constraint security_alerts_repository_check CHECK (((length(repository) >= 3) AND (length(repository) <= 300))),
  constraint security_alerts_repository_id_check CHECK (((length(repository_id) >= 1) AND (length(repository_id) <= 100))),
  constraint security_alerts_secret_hash_check CHECK ((length(secret_hash) = 16)),
  constraint security_alerts_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text, 'info'::text]))),
  constraint security_alerts_type_check CHECK ((type = ANY (ARRAY['code_scanning'::text, 'dependabot'::text, 'secret_scanning'::text])))
);
CREATE INDEX security_alerts_by_creation ON public.security_alerts USING btree (org_id, created_at, id);
CREATE INDEX security_alerts_by_repository ON public.security_alerts USING btree (org_id, provider, repository_id, id);
CREATE INDEX security_alerts_by_severity ON public.security_alerts USING btree (org_id, severity, created_at, id);
CREATE INDEX security_alerts_by_status ON public.security_alerts USING btree (org_id, status, created_at, id);

create table security_issues (
  org_id uuid not null,
  id uuid not null,
  repository_no bigint not null,
  bucket bytea not null,
  kind text not null,
  severity smallint not null,
  status text not null,
  listed boolean not null,
  vuln_ids text[] not null,
  canonical_id text collate "C",
  kev boolean not null default false,
  epss real not null default 0,
  facet smallint not null generated always as (issue_facet(status, severity, kind, kev, (epss > (0)::double precision))) stored,
  split_from uuid,
  merged_into uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint security_issues_pkey PRIMARY KEY (org_id, id),
  constraint security_issues_bucket_check CHECK ((length(bucket) = 16)),
  constraint security_issues_check CHECK (((merged_into IS NULL) OR (NOT listed))),
  constraint security_issues_epss_check CHECK (((epss >= (0)::double precision) AND (epss <= (1)::double precision))),
  constraint security_issues_kind_check CHECK ((kind = ANY (ARRAY['code'::text, 'dependency'::text, 'secret'::text, 'iac'::text, 'container'::text, 'license'::text, 'other'::text]))),
  constraint security_issues_severity_check CHECK (((severity >= 0) AND (severity <= 4))),
  constraint security_issues_status_check CHECK ((status = ANY (ARRAY['open'::text, 'fixed'::text, 'dismissed'::text])))
);
CREATE INDEX security_issues_by_bucket ON public.security_issues USING btree (org_id, repository_no, bucket) WHERE (merged_into IS NULL);
CREATE INDEX security_issues_by_creation ON public.security_issues USING btree (org_id, id) WHERE listed;
CREATE INDEX security_issues_by_epss ON public.security_issues USING btree (org_id, facet, epss, id) WHERE (listed AND (facet > 0) AND (epss > (0)::double precision));
CREATE INDEX security_issues_by_facet ON public.security_issues USING btree (org_id, facet, id) WHERE (listed AND (facet > 0));
CREATE INDEX security_issues_by_repository ON public.security_issues USING btree (org_id, repository_no, facet, id) WHERE listed;
CREATE INDEX security_issues_by_repository_epss ON public.security_issues USING btree (org_id, repository_no, facet, epss, id) WHERE (listed AND (epss > (0)::double precision));
CREATE INDEX security_issues_by_vulnerability ON public.security_issues USING gin (vuln_ids) WHERE (listed AND (vuln_ids <> '{}'::text[]));

create table security_upload_lanes (
  org_id uuid not null,
  upload_id text collate "C" not null,
  lane text not null,
  commit_sha text,
  tracked boolean not null,
  reported_at timestamp(3) with time zone not null,
  may_triage boolean not null,
  sender_id text not null,
  sender_name text not null,
  complete boolean,
  confirmed boolean not null default false,
  constraint security_upload_lanes_pkey PRIMARY KEY (org_id, upload_id, lane),
  constraint security_upload_lanes_org_id_upload_id_fkey FOREIGN KEY (org_id, upload_id) REFERENCES security_uploads(org_id, id) ON DELETE CASCADE,
  constraint security_upload_lanes_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'key'::text, 'person'::text, 'untrusted'::text]))),
  constraint security_upload_lanes_sender_name_check CHECK (((length(sender_name) >= 1) AND (length(sender_name) <= 200)))
);

create table security_uploads (
  org_id uuid not null,
  id text collate "C" not null,
  repository_no bigint not null,
  origin text not null,
  status text not null,
  requested_format text not null,
  format text,
  filename text not null,
  size bigint not null,
  sha256 text not null,
  category text,
  report_category text,
  git_ref text,
  commit_sha text,
  tracked boolean not null,
  findings integer not null default 0,
  components integer not null default 0,
  outcome jsonb,
  truncated boolean not null default false,
  warnings text[] not null default '{}'::text[],
  error text,
  artifact_id text collate "C",
  run_id text collate "C",
  reported_at timestamp(3) with time zone not null,
  put_until timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  reported_commit_sha text,
  trust text not null,
  created_by_type text,
  created_by_id text,
  created_by_name text,
  waiting_lane text,
  held jsonb,
  constraint security_uploads_pkey PRIMARY KEY (org_id, id),
  constraint security_uploads_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint security_uploads_check CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
  constraint security_uploads_check1 CHECK (((origin = 'report'::text) = ((artifact_id IS NOT NULL) AND (run_id IS NOT NULL)))),
  constraint security_uploads_check2 CHECK ((num_nulls(created_by_type, created_by_id, created_by_name) = ANY (ARRAY[0, 3]))),
  constraint security_uploads_created_by_type_check CHECK ((created_by_type = ANY (ARRAY['api_key'::text, 'user'::text]))),
  constraint security_uploads_filename_check CHECK (((length(filename) >= 1) AND (length(filename) <= 200))),
  constraint security_uploads_format_check CHECK ((format = ANY (ARRAY['sarif'::text, 'cyclonedx'::text, 'spdx'::text, 'openvex'::text, 'csaf'::text]))),
  constraint security_uploads_id_check CHECK ((id ~ '^[0-9a-f]{32}$'::text)),
  constraint security_uploads_origin_check CHECK ((origin = ANY (ARRAY['ui'::text, 'api'::text, 'report'::text]))),
  constraint security_uploads_requested_format_check CHECK ((requested_format = ANY (ARRAY['auto'::text, 'sarif'::text, 'cyclonedx'::text, 'spdx'::text, 'openvex'::text, 'csaf'::text]))),
  constraint security_uploads_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint security_uploads_size_check CHECK ((size >= 1)),
  constraint security_uploads_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'parsing'::text, 'finished'::text, 'failed'::text]))),
  constraint security_uploads_trust_check CHECK ((trust = ANY (ARRAY['uploaded'::text, 'verified'::text, 'self_reported'::text, 'untrusted'::text]))),
  constraint security_uploads_waiting_lane_check CHECK ((waiting_lane = ANY (ARRAY['verified'::text, 'key'::text, 'person'::text, 'untrusted'::text])))
);
CREATE UNIQUE INDEX security_uploads_by_artifact ON public.security_uploads USING btree (org_id, artifact_id) WHERE (artifact_id IS NOT NULL);
CREATE INDEX security_uploads_by_commit ON public.security_uploads USING btree (org_id, repository_no, commit_sha, created_at);
CREATE UNIQUE INDEX security_uploads_by_file ON public.security_uploads USING btree (org_id, repository_no, COALESCE(category, ''::text), branch_name(git_ref), sha256) WHERE ((status <> 'failed'::text) AND (origin <> 'report'::text));
CREATE INDEX security_uploads_by_repository ON public.security_uploads USING btree (org_id, repository_no, status, created_at, id);
CREATE INDEX security_uploads_by_run ON public.security_uploads USING btree (org_id, run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX security_uploads_by_status ON public.security_uploads USING btree (org_id, status, created_at, id);
CREATE INDEX security_uploads_pending ON public.security_uploads USING btree (put_until) WHERE (status = 'pending'::text);
CREATE INDEX security_uploads_unread ON public.security_uploads USING btree (created_at) WHERE (status = ANY (ARRAY['queued'::text, 'parsing'::text]));

create table sign_in_attempts (
  key text not null,
  window_started_at timestamp(3) with time zone not null,
  attempts integer not null,
  blocked_until timestamp(3) with time zone,
  constraint sign_in_attempts_pkey PRIMARY KEY (key),
  constraint sign_in_attempts_key_check CHECK ((length(key) <= 100))
);
CREATE INDEX sign_in_attempts_by_time ON public.sign_in_attempts USING btree (window_started_at);

create table signing_keys (
  org_id uuid not null,
  keyid text collate "C" not null,
  pem text not null,
  sealed_private_key text,
  kms_key text,
  created_at timestamp(3) with time zone not null,
  retired_at timestamp(3) with time zone,
  mac bytea,
  constraint signing_keys_pkey PRIMARY KEY (org_id, keyid),
  constraint signing_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint signing_keys_check CHECK ((num_nonnulls(sealed_private_key, kms_key) = 1)),
  constraint signing_keys_keyid_check CHECK ((keyid ~ '^[0-9a-f]{64}$'::text))
);
CREATE UNIQUE INDEX signing_keys_current ON public.signing_keys USING btree (org_id) WHERE (retired_at IS NULL);

create table single_sign_on (
  org_id uuid not null,
  issuer text not null,
  client_id text not null,
  sealed_client_secret text not null,
  email_domains text[] not null,
  creates_accounts boolean not null,
  default_role text,
  role_claim text,
  role_map jsonb not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint single_sign_on_pkey PRIMARY KEY (org_id),
  constraint single_sign_on_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint single_sign_on_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 500))),
  constraint single_sign_on_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 500))),
  constraint single_sign_on_role_map_check CHECK ((jsonb_typeof(role_map) = 'array'::text))
);

create table sso_identities (
  id uuid not null,
  org_id uuid,
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  created_at timestamp(3) with time zone not null,
  unlinked_at timestamp(3) with time zone,
  constraint sso_identities_org_id_issuer_subject_key UNIQUE NULLS NOT DISTINCT (org_id, issuer, subject),
  constraint sso_identities_org_id_issuer_user_id_key UNIQUE NULLS NOT DISTINCT (org_id, issuer, user_id),
  constraint sso_identities_pkey PRIMARY KEY (id),
  constraint sso_identities_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint sso_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sso_identities_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
);
CREATE INDEX sso_identities_by_user ON public.sso_identities USING btree (user_id);

create table sso_requests (
  state_sha256 bytea not null,
  browser_sha256 bytea not null,
  org_id uuid,
  issuer text not null,
  nonce text not null,
  code_verifier text not null,
  next text not null,
  confirms_user_id uuid,
  expires_at timestamp(3) with time zone not null,
  links boolean not null default false,
  network_hmac bytea,
  constraint sso_requests_pkey PRIMARY KEY (state_sha256),
  constraint sso_requests_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint sso_requests_browser_sha256_check CHECK ((length(browser_sha256) = 32)),
  constraint sso_requests_state_sha256_check CHECK ((length(state_sha256) = 32))
);
CREATE INDEX sso_requests_by_expiry ON public.sso_requests USING btree (expires_at);

create table statements (
  org_id uuid not null,
  kind text not null,
  subject_id text collate "C" not null,
  facts bytea not null,
  keyid text collate "C" not null,
  statement_digest text not null,
  envelope text not null,
  issued_at timestamp(3) with time zone not null,
  mac bytea,
  constraint statements_pkey PRIMARY KEY (org_id, kind, subject_id, facts),
  constraint statements_org_id_keyid_fkey FOREIGN KEY (org_id, keyid) REFERENCES signing_keys(org_id, keyid),
  constraint statements_facts_check CHECK ((length(facts) = 32)),
  constraint statements_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'lineage'::text, 'verification'::text])))
);
CREATE INDEX statements_by_issue ON public.statements USING btree (org_id, issued_at);

create table trend_progress (
  org_id uuid not null,
  trend text not null,
  until date not null,
  constraint trend_progress_pkey PRIMARY KEY (org_id, trend),
  constraint trend_progress_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint trend_progress_trend_check CHECK ((trend = ANY (ARRAY['runs'::text, 'delivery'::text])))
);

create table triage_alerts (
  org_id uuid not null,
  triage_id uuid not null,
  alert_id text collate "C" not null,
  no bigint not null generated always as identity,
  status_before text not null,
  reason_before text,
  comment_before text,
  constraint triage_alerts_pkey PRIMARY KEY (org_id, triage_id, alert_id),
  constraint triage_alerts_org_id_alert_id_fkey FOREIGN KEY (org_id, alert_id) REFERENCES security_alerts(org_id, id),
  constraint triage_alerts_org_id_triage_id_fkey FOREIGN KEY (org_id, triage_id) REFERENCES triages(org_id, id),
  constraint triage_alerts_status_before_check CHECK ((status_before = ANY (ARRAY['open'::text, 'dismissed'::text])))
);
CREATE INDEX triage_alerts_by_alert ON public.triage_alerts USING btree (org_id, alert_id, no);

create table triage_findings (
  org_id uuid not null,
  triage_id uuid not null,
  finding_id uuid not null,
  no bigint not null generated always as identity,
  ended_at timestamp(3) with time zone,
  changed text[],
  regroup_id uuid,
  constraint triage_findings_pkey PRIMARY KEY (org_id, triage_id, finding_id),
  constraint triage_findings_org_id_finding_id_fkey FOREIGN KEY (org_id, finding_id) REFERENCES findings(org_id, id),
  constraint triage_findings_org_id_triage_id_fkey FOREIGN KEY (org_id, triage_id) REFERENCES triages(org_id, id)
);
CREATE INDEX triage_findings_by_finding ON public.triage_findings USING btree (org_id, finding_id, no);
CREATE INDEX triage_findings_by_regroup ON public.triage_findings USING btree (org_id, regroup_id) WHERE (regroup_id IS NOT NULL);

create table triages (
  org_id uuid not null,
  id uuid not null,
  action text not null,
  source text not null,
  target_type text not null,
  target_ids text[] not null,
  reason text,
  comment text,
  expires_at timestamp(3) with time zone,
  created_by_id text,
  created_by_name text,
  created_at timestamp(3) with time zone not null,
  ended_as text,
  ended_by_id text,
  ended_by_name text,
  ended_at timestamp(3) with time zone,
  scope text not null default 'issue'::text,
  constraint triages_pkey PRIMARY KEY (org_id, id),
  constraint triages_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint triages_action_check CHECK ((action = ANY (ARRAY['dismiss'::text, 'reopen'::text, 'split'::text, 'merge'::text]))),
  constraint triages_check CHECK (((action = 'dismiss'::text) = (reason IS NOT NULL))),
  constraint triages_check1 CHECK (((expires_at IS NULL) OR (action = 'dismiss'::text))),
  constraint triages_check2 CHECK (((ended_as IS NULL) = (ended_at IS NULL))),
  constraint triages_comment_check CHECK (((length(comment) >= 1) AND (length(comment) <= 2000))),
  constraint triages_ended_as_check CHECK ((ended_as = ANY (ARRAY['undone'::text, 'expired'::text, 'replaced'::text]))),
  constraint triages_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 100))),
  constraint triages_scope_check CHECK ((scope = ANY (ARRAY['issue'::text, 'vulnerability'::text]))),
  constraint triages_source_check CHECK ((source = ANY (ARRAY['shiplock'::text, 'openvex'::text, 'csaf'::text, 'cyclonedx'::text]))),
  constraint triages_target_type_check CHECK ((target_type = ANY (ARRAY['finding'::text, 'issue'::text, 'alert'::text])))
);
CREATE INDEX triages_by_expiry ON public.triages USING btree (expires_at) WHERE ((ended_at IS NULL) AND (expires_at IS NOT NULL));
CREATE INDEX triages_by_target ON public.triages USING gin (target_ids);

create table trust_events (
  org_id uuid not null,
  trust_id uuid not null,
  event text not null,
  self_hosted boolean not null,
  last_seen date not null,
  constraint trust_events_pkey PRIMARY KEY (org_id, trust_id, event, self_hosted),
  constraint trust_events_org_id_trust_id_fkey FOREIGN KEY (org_id, trust_id) REFERENCES oidc_trusts(org_id, id),
  constraint trust_events_event_check CHECK (((length(event) >= 1) AND (length(event) <= 50)))
);

create table trust_pins (
  org_id uuid not null,
  trust_id uuid not null,
  name text collate "C" not null,
  id text not null,
  pinned_at timestamp(3) with time zone not null,
  refused_id text,
  refused_at timestamp(3) with time zone,
  constraint trust_pins_pkey PRIMARY KEY (org_id, trust_id, name),
  constraint trust_pins_org_id_trust_id_fkey FOREIGN KEY (org_id, trust_id) REFERENCES oidc_trusts(org_id, id),
  constraint trust_pins_check CHECK (((refused_id IS NULL) = (refused_at IS NULL))),
  constraint trust_pins_id_check CHECK (((length(id) >= 1) AND (length(id) <= 20))),
  constraint trust_pins_name_check CHECK (((length(name) >= 1) AND (length(name) <= 600))),
  constraint trust_pins_refused_id_check CHECK (((length(refused_id) >= 1) AND (length(refused_id) <= 20)))
);

create table unscored_provider_runs (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  constraint unscored_provider_runs_pkey PRIMARY KEY (org_id, provider, repository_id, run_id)
);

create table unstated_proxies (
  address text not null,
  last_seen date not null,
  constraint unstated_proxies_pkey PRIMARY KEY (address),
  constraint unstated_proxies_address_check CHECK (((length(address) >= 1) AND (length(address) <= 64)))
);

create table user_passwords (
  user_id uuid not null,
  password_hash text not null,
  changed_at timestamp(3) with time zone not null,
  constraint user_passwords_pkey PRIMARY KEY (user_id),
  constraint user_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint user_passwords_password_hash_check CHECK (((length(password_hash) >= 1) AND (length(password_hash) <= 300)))
);

create table user_sessions (
  id uuid not null,
  user_id uuid not null,
  token_sha256 bytea not null,
  method text not null,
  created_at timestamp(3) with time zone not null,
  signed_in_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  address text,
  user_agent text,
  org_id uuid,
  constraint user_sessions_pkey PRIMARY KEY (id),
  constraint user_sessions_token_sha256_key UNIQUE (token_sha256),
  constraint user_sessions_org_id_fkey FOREIGN KEY (org_id) REFERENCES organizations(id),
  constraint user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint user_sessions_address_check CHECK ((length(address) <= 100)),
  constraint user_sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'passkey'::text, 'sso'::text, 'link'::text]))),
  constraint user_sessions_token_sha256_check CHECK ((length(token_sha256) = 32)),
  constraint user_sessions_user_agent_check CHECK ((length(user_agent) <= 300))
);
CREATE INDEX user_sessions_by_user ON public.user_sessions USING btree (user_id, created_at) WHERE (ended_at IS NULL);
CREATE INDEX user_sessions_of_provider ON public.user_sessions USING btree (org_id) WHERE ((org_id IS NOT NULL) AND (ended_at IS NULL));

create table user_totp (
  user_id uuid not null,
  sealed_secret text not null,
  created_at timestamp(3) with time zone not null,
  confirmed_at timestamp(3) with time zone,
  last_step bigint not null,
  constraint user_totp_pkey PRIMARY KEY (user_id),
  constraint user_totp_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

create table users (
  id uuid not null,
  email text not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  disabled_at timestamp(3) with time zone,
  example_of uuid,
  private_to uuid,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_example_of_fkey FOREIGN KEY (example_of) REFERENCES organizations(id),
  constraint users_private_to_fkey FOREIGN KEY (private_to) REFERENCES organizations(id),
  constraint users_email_check CHECK (((email = lower(email)) AND ((length(email) >= 3) AND (length(email) <= 254)))),
  constraint users_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (private_to IS NULL);
CREATE UNIQUE INDEX users_by_private_email ON public.users USING btree (private_to, email) WHERE (private_to IS NOT NULL);
CREATE INDEX users_of_examples ON public.users USING btree (example_of) WHERE (example_of IS NOT NULL);

create table vex_documents (
  org_id uuid not null,
  id uuid not null,
  repository_no bigint not null,
  format text not null,
  publisher text not null,
  series text not null,
  category text,
  git_ref text,
  tracked boolean not null,
  document_id text,
  document_version text,
  issued_at timestamp(3) with time zone not null,
  reported_at timestamp(3) with time zone not null,
  upload_id text collate "C" not null,
  statements integer not null,
  created_at timestamp(3) with time zone not null,
  lane text,
  pending boolean not null default false,
  stated_by_id text,
  stated_by_name text,
  constraint vex_documents_pkey PRIMARY KEY (org_id, id),
  constraint vex_documents_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint vex_documents_format_check CHECK ((format = ANY (ARRAY['openvex'::text, 'csaf'::text, 'cyclonedx'::text]))),
  constraint vex_documents_lane_check CHECK ((lane = ANY (ARRAY['verified'::text, 'key'::text, 'person'::text, 'untrusted'::text]))),
  constraint vex_documents_statements_check CHECK ((statements >= 0))
);
CREATE UNIQUE INDEX vex_documents_by_lane ON public.vex_documents USING btree (org_id, repository_no, format, publisher, series, COALESCE(category, ''::text), branch_name(git_ref), COALESCE(lane, ''::text), pending);
CREATE INDEX vex_documents_by_report ON public.vex_documents USING btree (org_id, reported_at) WHERE (NOT tracked);
CREATE INDEX vex_documents_by_upload ON public.vex_documents USING btree (org_id, upload_id);

create table vex_exports (
  org_id uuid not null,
  repository_no bigint not null,
  content_hash bytea not null,
  version integer not null,
  created_at timestamp(3) with time zone not null,
  changed_at timestamp(3) with time zone not null,
  constraint vex_exports_pkey PRIMARY KEY (org_id, repository_no),
  constraint vex_exports_org_id_repository_no_fkey FOREIGN KEY (org_id, repository_no) REFERENCES reported_repositories(org_id, id),
  constraint vex_exports_content_hash_check CHECK ((length(content_hash) = 32)),
  constraint vex_exports_version_check CHECK ((version >= 1))
);

create table vex_statements (
  org_id uuid not null,
  document_id uuid not null,
  "position" integer not null,
  status text not null,
  vuln_ids text[] not null,
  package text,
  product text,
  justification text,
  comment text,
  stated_at timestamp(3) with time zone,
  constraint vex_statements_pkey PRIMARY KEY (org_id, document_id, "position"),
  constraint vex_statements_org_id_document_id_fkey FOREIGN KEY (org_id, document_id) REFERENCES vex_documents(org_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  constraint vex_statements_status_check CHECK ((status = ANY (ARRAY['not_affected'::text, 'affected'::text, 'fixed'::text, 'under_investigation'::text]))),
  constraint vex_statements_vuln_ids_check CHECK ((cardinality(vuln_ids) > 0))
);

create table vulnerability_alias_changes (
  source text collate "C" not null,
  id text collate "C" not null,
  constraint vulnerability_alias_changes_pkey PRIMARY KEY (source, id)
);

create table vulnerability_aliases (
  id text collate "C" not null,
  canonical_id text collate "C" not null,
  constraint vulnerability_aliases_pkey PRIMARY KEY (id)
);
CREATE INDEX vulnerability_aliases_by_group ON public.vulnerability_aliases USING btree (canonical_id, id);

create table vulnerability_assertions (
  source text collate "C" not null,
  id text collate "C" not null,
  alias text collate "C" not null,
  constraint vulnerability_assertions_pkey PRIMARY KEY (source, id, alias),
  constraint vulnerability_assertions_check CHECK ((alias <> id))
);
CREATE INDEX vulnerability_assertions_by_alias ON public.vulnerability_assertions USING btree (alias);
CREATE INDEX vulnerability_assertions_by_id ON public.vulnerability_assertions USING btree (id);

create table workflow_files (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  blob text collate "C" not null,
  job_dependencies jsonb,
  deploys boolean not null,
  constraint workflow_files_pkey PRIMARY KEY (org_id, provider, repository_id, blob),
  constraint workflow_files_job_dependencies_check CHECK ((jsonb_typeof(job_dependencies) = 'object'::text))
);

CREATE OR REPLACE FUNCTION public.branch_name(git_ref text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(COALESCE(git_ref, ''::text), '^refs/heads/'::text, ''::text);

CREATE OR REPLACE FUNCTION public.deviation_facet(deviations text[])
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((((((((('direct_push'::text = ANY (deviations)))::integer + ((('self_approved'::text = ANY (deviations)))::integer * 2)) + ((('no_review'::text = ANY (deviations)))::integer * 4)) + ((('stale_review'::text = ANY (deviations)))::integer * 8)) + ((('check_failed'::text = ANY (deviations)))::integer * 16)) + ((('bypassed_protection'::text = ANY (deviations)))::integer * 32)) + ((('unsigned_commit'::text = ANY (deviations)))::integer * 64)))::smallint;

CREATE OR REPLACE FUNCTION public.finding_facet(state text, severity text, kind text)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((((array_position(ARRAY['open'::text, 'fixed'::text, 'dismissed'::text], state) * 5) + array_position(ARRAY['info'::text, 'low'::text, 'medium'::text, 'high'::text, 'critical'::text], severity)) * 7) + array_position(ARRAY['code'::text, 'dependency'::text, 'secret'::text, 'iac'::text, 'container'::text, 'license'::text, 'other'::text], kind)))::smallint;

CREATE OR REPLACE FUNCTION public.issue_facet(status text, severity smallint, kind text, kev boolean, scored boolean)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((((((((array_position(ARRAY['open'::text, 'fixed'::text, 'dismissed'::text], status) * 5) + severity) * 7) + array_position(ARRAY['code'::text, 'dependency'::text, 'secret'::text, 'iac'::text, 'container'::text, 'license'::text, 'other'::text], kind)) * 4) + ((kev)::integer * 2)) + (scored)::integer))::smallint;

CREATE OR REPLACE FUNCTION public.notify_access_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('shiplock_people', coalesce(to_jsonb(old) ->> tg_argv[0], '*'));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.own_decision_counts(own_status text, own_delivery text, own_comment text, own_host_updated_at timestamp with time zone, host_status text, host_comment text, host_updated_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((own_delivery IS NULL) OR (own_delivery = 'failed'::text) OR (host_status = 'fixed'::text)) THEN false WHEN (own_status = host_status) THEN ((own_status = 'dismissed'::text) AND (NOT (host_comment IS DISTINCT FROM own_comment))) ELSE ((own_delivery = 'pending'::text) OR (host_updated_at <= own_host_updated_at)) END;

CREATE OR REPLACE FUNCTION public.place_json(path text, start_line integer)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (path IS NOT NULL) THEN jsonb_build_object('path', path, 'start_line', start_line) ELSE NULL::jsonb END;

CREATE OR REPLACE FUNCTION public.refuse_audit_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.at < nullif(current_setting('shiplock.audit_expired_before', true), '')::timestamptz
    or exists (select from organizations where id = old.org_id and deletion_started_at is not null)
  then
    return old;
  end if;
  raise exception '% is append only', tg_table_name;
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin raise exception '% is append only', tg_table_name; end $function$;

CREATE OR REPLACE FUNCTION public.reported_intel(first_seen_at timestamp with time zone, severity text, scanner_score real, cvss_version text, cvss_score real, cvss_vector text, fixed_version text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object('at', rfc3339(first_seen_at), 'severity', severity, 'scanner_score', scanner_score, 'cvss', CASE WHEN ((cvss_vector IS NOT NULL) OR (cvss_score IS NOT NULL)) THEN jsonb_build_object('version', cvss_version, 'score', cvss_score, 'vector', cvss_vector) ELSE NULL::jsonb END, 'epss', NULL::unknown, 'kev', NULL::unknown, 'fix_available', (fixed_version IS NOT NULL), 'backfilled', false);

CREATE OR REPLACE FUNCTION public.repository_key(org_id uuid, provider text, repository_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((((org_id)::text || '/'::text) || provider) || '/'::text) || (repository_id COLLATE "C"));

CREATE OR REPLACE FUNCTION public.rfc3339(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (substr((to_json(((at AT TIME ZONE 'UTC'::text) + '00:00:00.000001'::interval)))::text, 2, 23) || 'Z'::text);

CREATE OR REPLACE FUNCTION public.run_full_name(repository text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN substr(repository, (strpos(repository, '/'::text) + 1));

CREATE OR REPLACE FUNCTION public.shown_state(reported_state text, triaged_state text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (triaged_state = 'dismissed'::text) THEN 'dismissed'::text WHEN ((triaged_state = 'open'::text) AND (reported_state = 'dismissed'::text)) THEN 'open'::text ELSE reported_state END;

CREATE TRIGGER audit_entries_are_append_only BEFORE UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_entries_are_kept BEFORE DELETE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_audit_deletion();

CREATE TRIGGER role_changes AFTER UPDATE OF permissions ON public.custom_roles FOR EACH ROW EXECUTE FUNCTION notify_access_change('nobody');

CREATE TRIGGER member_changes AFTER DELETE OR UPDATE ON public.members FOR EACH ROW EXECUTE FUNCTION notify_access_change('user_id');

CREATE TRIGGER session_ends AFTER DELETE OR UPDATE OF ended_at, token_sha256 ON public.user_sessions FOR EACH ROW EXECUTE FUNCTION notify_access_change('user_id');

CREATE TRIGGER user_is_disabled AFTER UPDATE OF disabled_at ON public.users FOR EACH ROW EXECUTE FUNCTION notify_access_change('id');
