-- The schema of the first release, with the reference data that the program expects. A database that was migrated
-- before has this schema already, with its data: it gets this record in place of those of the earlier files.
-- replaces: 0001_organizations.sql 6dbf376ea9ea86360a682ab33aa998fb2ddef4bf4f3aaa09801d1339938cd73e
-- replaces: 0002_api_keys.sql 4ee58c6e2daf154e4478b69a41c4fc6be45f3982bc0564af8d3c44ab2e4b53d6
-- replaces: 0003_repositories.sql 99d20a9ecfff10c6d17a14132b5857c69db0d84710d66a1117e5f80f03aed53b
-- replaces: 0004_ci_runs.sql 36b080436d11000f8240b2033e8ba70cc66faae0b092d6bd9b8425cd1a4e99fe
-- replaces: 0005_security_uploads.sql 258ae94969fe03cc075e94d5f0bf961139c2afc70b3cfb81ea328d7d2e05d1df
-- replaces: 0006_security_issues.sql a41058e8b28cd03143cf3799fdd4e2dbd3da2394bc739b7f5340db9ed16a3f1c
-- replaces: 0007_findings.sql 88ce3c45f7ad17c3e82d55ae217a7a47151bb128f3708b073dfa555f906d5e7e
-- replaces: 0008_security_alerts.sql f71c384e2463f04e64bb9f3cb860bf668d3b82641f90116adcaedce0c019509d
-- replaces: 0009_deployments.sql 2dc60530ec8597a365af43abbfc7a294f16aaacd7eae9d67aeae487fc2b50615
-- replaces: 0010_compliance_results.sql a1f651e88a6c4bbe14442ad89cfeee02ab817d1f1658e0a0c8a3901b9e02403b
-- replaces: 0011_ci_reports.sql 516b94aed8dfcecac7be638eae04537d17710641cd6c9490c0df0bb784050d05
-- replaces: 0012_intel.sql 134197c67d1a1b696672334f19d7763c7bfb466af72fbae4a47d1d069ff766dd
-- replaces: 0013_gates.sql 13fa8a8881eefcbb774f8851bf65383107e4b29e162d13308350206bb9ac3c1b
-- replaces: 0014_policies.sql 954748fa02802eb9a67079f85e30b984ec1c209b6c0f3d7c0877d1584305c3ed
-- replaces: 0015_audit.sql e5318600ebb1200d70b2207a64ecc117964bd05a2551884deb755f6e75ffed50
-- replaces: 0016_issue_history.sql c614a41cdf4f212933e966c6fb2d73a3fcf31ad784e0c3a91a4bc7fc0bb4ae41
-- replaces: 0017_unread_uploads.sql da85b34e863953dfbef9d8b86788686c945fa603ff785c82d27d61ec5b616759
-- replaces: 0018_alias_changes.sql 5d55b298d297662f5b7c16f85629ae4700220cbf2c7010b8e28d512f863cd771
-- replaces: 0019_finding_identity.sql b77376dbe2da35ac2fe3e095559fbe94e9a9fe9c82b0464ca4a252cb01495c09
-- replaces: 0020_finding_filters.sql 6bd9c334149af2b6ac8a5d3f87a0b83b83efa747df7696169cca08e6fbfdf69e
-- replaces: 0021_upload_list.sql fa2e048f93bf83fd56faaf56fb77f2b361dfc4399454dd1f4be39c3d904f232c
-- replaces: 0022_repeated_uploads.sql f2d9b6b5386401c387c7b8f987ba82c8040ed99194bebe6669264a8bd03c0ad4
-- replaces: 0023_grouping_rules.sql a9ef5d9d81d62650cec54d2028e6e4430517819bc09b4b7f18ebdde8e7110774
-- replaces: 0024_code_hosts.sql 9e0a8c808d6a8302ae9ebeff22598151a1200971e54678ad6865c4b18e06420f
-- replaces: 0025_connections.sql ed482ea7195bec609ec8c8593d5ee1748315ba1557c2327ca60ccf0d2a2f86e6
-- replaces: 0026_deliveries.sql 271bd0cb93f443852e6a8e64758206176c0b7f2036dd858fee21567a72f03e9f
-- replaces: 0027_synchronization.sql b813aef01cb61b22385e3f97b6492ecd8bb1abbf316a8f6be9a5cbd42dd4af5b
-- replaces: 0028_provider_runs.sql 3302f244dcd39f43039c4865e17209d03e9dfc0d60d9f7234c71e764213ed715
-- replaces: 0029_host_deployments.sql 31c98835e0ea267afeb43cf0737d797bc69c3bb933ca3bc9a90dbd1c664fd764
-- replaces: 0030_alerts.sql 867658f909bf35de9918afc773e5deb02278b7e8e40ceb4e554e6008b0c6c035
-- replaces: 0031_repository_policies.sql b3ce585bda85a7eb1fb9423c8345b470cea7ed36e8ddc8bd5c0202c77ddb9a50
-- replaces: 0032_signing_keys.sql 00452af10c55d78d4755fbebae7dee7576412e462ac48eac8153347a55827444
-- replaces: 0033_transparency_log.sql dff958435cd69b61da91601463a19abb904df22bae3640a647976df947a3d1c2
-- replaces: 0034_provenance_chains.sql 0e328e166e2cbe2cede2cac9e68d91b02d5b2c9bff3ce5b55f31df0e91bf54df
-- replaces: 0035_changes.sql 1763411e168b4f46a1c05d9fb0a52d24f98d9d707d6f342ab0956f74ceba716e
-- replaces: 0036_statements.sql cda07618a249110f775088bd5b7dfea08acd10aabb759efec33365e1b6d53ee5
-- replaces: 0040_promotion_paths.sql 9e9020b87ce34641b39f8c8752ebabe707ee5eb694ef7b85481edc739eecffe3
-- replaces: 0041_oidc_trusts.sql 4257e30587778136456600646ef0d3885defd0c1521f9c6c3af99d6ba64084ca
-- replaces: 0042_trust_classes.sql 617e97148da4c9c7e57ca87d5cd401a1e84a393afc19cecfd98ddcac874e05fc
-- replaces: 0043_ingested_reports.sql f38e42d65b6b2ac03b561e3c699a87b1b858c644cd2780282ecb392b93cf65de
-- replaces: 0044_claims_of_host_runs.sql d715a2d07a1c833c6884f24ad743bfa9a6a3a82c4fcb0aab29ce44fedeb342d8
-- replaces: 0045_people.sql 4262a4017c1a5ad9bbc511f7cdf992d6dd84bf78e8b6a451dfc45b249fbda4b2
-- replaces: 0046_sign_in.sql b56d5a74bbb3de038d3f733fdac6d59461ca73d507fcf359f75c5fdde0465d09
-- replaces: 0047_links.sql 754c0f7019fa0b7a4f5003c3d6ba188bb0b052e7bc5ba612ccce4377afc7b43e
-- replaces: 0048_single_sign_on.sql 5b56712604df528cc25b3b237cda60ad84bfd3db45bb0469aed96749fe446e41
-- replaces: 0049_console_reads.sql 54206650dd8112a03a6f5980dfeeb5aeb118afc350bcd3266d4f69381f8590be
-- replaces: 0050_managed_access.sql 421dce00079c4c3ba55622c0aed1c46b772fb8c7af1d18bd9f07338481446678
-- replaces: 0051_approvals_by_people.sql d061f64890fe87398110ab6ccb1f3377f782bffcd477e3e1cb94c0c926c1bee5
-- replaces: 0052_vex.sql fb1f6f8771d91c7f959da5b3e36b0f5efef6c112fc581718be3212e26dadf398
-- replaces: 0053_triage.sql 1b90be6a87597016bd4483869288d2cb1da76237c33918bc67027d2f6c42ff6b
-- replaces: 0054_issue_edits.sql 086c9e9485f3e0239285eb07a2e1eae54a165ec159d52e507899f3b32a72859e
-- replaces: 0055_trends.sql 3266869b26739b900a96e69d6c533da0ec2a3886448fe7aa3794a37a24dea811
-- replaces: 0063_access_changes.sql 2a021c8651094254e1cee2dd1820e37ff0dc23912cce217432567a452b4d7946
-- replaces: 0070_access_lookups.sql 93e8a319c811aca62815767d648d4db8bc15daa9327980ec7e02cd82eedacabc
-- replaces: 0071_example_data.sql 4372319309ad9df645d9defa83924141cfae86bbfa6d5808014a405230f18acf
-- replaces: 0072_run_jobs.sql ca746c9906b6e5ef6ece582b126f88019b6c3fd67df038a8ff4242ba1fffc262
-- replaces: 0073_deployment_board.sql 36a4f53c7a00018ff60745bb92241bf4619f87dcca9c4897176b049d7ff2df62
-- replaces: 0074_saved_views.sql 9a498d6d2cfcf61f12393b423a6d98a4f798b50490713186463ea6cec345240f
-- replaces: 0075_upload_authors.sql 293c481a53d6a9266eca82b4175dc6093f56bfe00e522fa6fb975db707e28911
-- replaces: 0076_compliance_result_filters.sql 85c112617d5f97f0961fe1d4648b6787eac55bae9f617ebcd38d6483340cf241
-- replaces: 0080_retention.sql 4c5e322999f38940417a2a889eaa0bfc87e6d80f6c5a97e34ac7d96b148b7d8b
-- replaces: 0081_expired_rows.sql 027de5fa5e311cd2b16bede7288c0bc0cb5060409740857f322355fe07f63cf7
-- replaces: 0082_deleted_organizations.sql bc00e49437c0fab3a05a21847cdc79f2c505766b455794007bba0e5d80f5be7e
-- replaces: 0083_expired_gate_requests.sql ca99805074c14e9a49c6ff910664c3861bcfa78244f16bf98a503382a229c620
-- replaces: 0085_request_counts.sql 5f7343126e24643153579b5a3581a57128bf4f2b379adf6c0d343a98f4c054e4
-- replaces: 0086_replica_marks.sql 899d1ece35e896231328889fca50c4e3832f0f0e25922e2d35511f15036b3fd9
-- replaces: 0087_expired_host_facts.sql 267fd7aa473202724833fe9edad6097939560082399bdc2cfcd844b2f44ae67d
-- replaces: 0088_expired_regroups.sql fe57f3579f81a0dc25e7870b714ecd12ad7250d1acd62bb4a4c30784dd8b2be5
-- replaces: 0093_keys_of_organizations.sql 061dc37e75d14f1f5e46cdb5124f9b62caa99a1b035fbe42bd810fcf73488d35
-- replaces: 0094_keys_of_organizations.sql 98f779a0947ed97c644d3b4afb0ce769c3bff259a6b50c82286df84de8487d22
-- replaces: 0095_stated_places.sql 8f8a5cc25ec6b45be3b502cff2a7320d7b0c9a4800317eae8bd668f73031cb4a
-- replaces: 0096_connections_with_credentials.sql f34183c831bfc499eb6086c3ecaa98b7830c07c0e736f2f881aba76e6954c6b8
-- replaces: 0097_parallel_regroups.sql de3dbc416c17d7d8fdd85b137e4b6af88772301f98a23b325303efe082a4f9ac

-- Who owns everything. Every later table leads with org_id.
create table organizations (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  plan text not null,
  created_at timestamptz(3) not null,
  is_demo boolean not null default false,
  deletion_started_at timestamptz(3)
);
create unique index one_demo_organization on organizations (is_demo) where is_demo;

-- What an organization used of a monthly allowance of its plan. Written only where the plan has a limit.
create table monthly_usage (
  org_id uuid not null references organizations,
  month date not null,
  metric text not null,
  used bigint not null check (used >= 0),
  primary key (org_id, month, metric)
);

create table users (
  id uuid primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 100),
  created_at timestamptz(3) not null,
  -- A disabled user cannot sign in to any organization.
  disabled_at timestamptz(3),
  example_of uuid references organizations (id)
);
create index users_of_examples on users (example_of) where example_of is not null;

-- Only the SHA-256 of a key is kept; the key itself is shown once, when it is made.
create table api_keys (
  org_id uuid not null references organizations,
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  key_sha256 bytea not null unique check (length(key_sha256) = 32),
  environment text not null check (environment in ('production', 'development')),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_by text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_by_user_id uuid references users (id)
);
create index api_keys_by_organization on api_keys (org_id, created_at, id);

create table codehost_connections (
  org_id uuid not null references organizations (id),
  id uuid not null,
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  host text not null check (host = lower(host)),
  -- The host's id of what authorizes us: for GitHub, the installation of the App.
  installation_id text collate "C" not null check (length(installation_id) between 1 and 100),
  account_id text collate "C" not null check (length(account_id) between 1 and 100),
  account_login text not null check (length(account_login) between 1 and 200),
  account_type text not null check (length(account_type) between 1 and 50),
  status text not null check (status in ('active', 'suspended', 'removed')),
  repositories text not null check (repositories in ('all', 'selected')),
  connected_at timestamptz(3) not null,
  last_event_at timestamptz(3),
  last_synced_at timestamptz(3),
  sync_state text not null default 'idle' check (sync_state in ('idle', 'running', 'failed')),
  sync_phase text,
  sync_done integer check (sync_done >= 0),
  sync_total integer check (sync_total >= 0),
  sync_error text,
  -- Hosts without an App of ours are connected with credentials. They are sealed, together with the
  -- secret of the connection's webhooks. Null: the App has the credentials, or the connection has
  -- ended.
  credentials text check (length(credentials) between 1 and 10000),
  primary key (org_id, id),
  unique (id)
);
-- One account belongs to one organization at a time.
create unique index codehost_connections_by_account on codehost_connections (provider, host, account_id)
  where status <> 'removed';
create unique index codehost_connections_by_installation on codehost_connections (provider, host, installation_id)
  where status <> 'removed';
create index codehost_connections_of_account on codehost_connections (provider, host, account_id, connected_at, id);

-- Repositories of connected providers. `id` is the provider's own: a number, a project id, a UUID or a GUID.
create table repositories (
  org_id uuid not null references organizations,
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  id text not null check (length(id) between 1 and 100),
  host text not null check (host = lower(host)),
  full_name text not null check (length(full_name) between 3 and 300),
  tracked_branch text not null check (length(tracked_branch) between 1 and 255),
  created_at timestamptz(3) not null,
  connection_id uuid,
  owner_id text collate "C",
  html_url text,
  private boolean,
  archived boolean,
  deleted_at timestamptz(3),
  -- The host's time of the newest facts; older ones do not replace them.
  host_updated_at timestamptz(3),
  primary key (org_id, provider, id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);
create index repositories_by_connection on repositories (org_id, connection_id, id) where connection_id is not null;
create index repositories_by_name on repositories (org_id, lower(full_name), provider, host);
create unique index repositories_by_linked_name on repositories (org_id, lower(full_name), provider, host)
  where owner_id is null;

-- `owner/name` of `host/owner/name`, as runs show it.
create function run_full_name(repository text) returns text
  language sql immutable parallel safe
  return substr(repository, strpos(repository, '/') + 1);

-- A run of a pipeline, and in the same row its newest attempt (status to deadline_at): the one that nearly every call
-- is about. No foreign key here: its check would lock the organization's one row for every new run.
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
  -- A credential's new runs of one UTC day are numbered 1 to 2,000; the unique index makes that limit exact
  -- across processes without a counter row that every insert would queue for.
  day date,
  day_number smallint check (day_number between 1 and 2000),
  newest_attempt smallint not null check (newest_attempt between 1 and 999),
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) check (completed_at >= started_at),
  deadline_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  claims jsonb,
  -- The repository of the claims: the provider and the id at the provider.
  claimed_provider text,
  claimed_repository_id text,
  primary key (org_id, id),
  check ((completed_at is null) = (status in ('queued', 'in_progress'))),
  constraint ci_runs_trust_check check (trust in ('verified', 'self_reported', 'untrusted')),
  constraint ci_runs_source_check check (
  num_nonnulls(ci_system, credential_type, credential_id, credential_name, day, day_number, deadline_at)
    = case when provider = 'other' then 7 else 0 end
),
  constraint ci_runs_claimed_check check (
  case
    when provider = 'other' then num_nonnulls(claims, claimed_provider, claimed_repository_id) in (0, 3)
    else num_nonnulls(claimed_provider, claimed_repository_id) = 0
  end
)
);
create unique index ci_runs_by_external_id on ci_runs (org_id, ci_system, external_run_id);
create unique index ci_runs_by_day_number on ci_runs (org_id, credential_id, day, day_number);
create index ci_runs_by_creation on ci_runs (org_id, created_at, id);
-- Of runs that have ended: a new one is not written into it.
create index ci_runs_by_repository on ci_runs (org_id, repository, created_at, id) where completed_at is not null;
-- The sweeper's question: which open attempts are past their deadline?
create index ci_runs_open on ci_runs (deadline_at) where completed_at is null;
create index ci_runs_by_commit on ci_runs (org_id, commit_sha, created_at, id);
create index ci_runs_by_claimed on ci_runs (org_id, repository, created_at) where claimed_provider is not null;
create index ci_runs_open_at_host on ci_runs (org_id, created_at) where completed_at is null and provider <> 'other';
create index ci_runs_by_full_name on ci_runs (org_id, run_full_name(repository), created_at, id);
-- New and successful runs are the most, so they have no entry.
create index ci_runs_ended_badly on ci_runs (org_id, status, created_at, id)
  where status not in ('queued', 'in_progress', 'success');

-- The attempts of a run before its newest. Numbers may have gaps: an attempt exists that is here or the newest.
create table ci_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null check (number between 1 and 999),
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) check (completed_at >= started_at),
  deadline_at timestamptz(3),
  -- The trust of an earlier attempt. That of the newest attempt is the trust of its run.
  trust text not null
  check (trust in ('verified', 'self_reported', 'untrusted')),
  primary key (org_id, run_id, number),
  foreign key (org_id, run_id) references ci_runs (org_id, id),
  check ((completed_at is null) = (status in ('queued', 'in_progress')))
);
create index ci_run_attempts_open on ci_run_attempts (deadline_at) where completed_at is null;

-- A repository as reports name it. It is kept under its name alone until the repository is seen with a provider;
-- then this row gets the provider's id, and every upload and finding follows without being touched.
create table reported_repositories (
  org_id uuid not null references organizations,
  id bigint generated always as identity,
  name text not null check (length(name) between 3 and 300),
  provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  provider_id text check (provider_id is null or provider is not null),
  created_at timestamptz(3) not null,
  -- Reports of repositories without triages skip the steps that triages need.
  has_triages boolean not null default false,
  -- Reports of repositories without edits skip the steps that edits need.
  has_edits boolean not null default false,
  primary key (org_id, id)
);
-- Kept per provider and id where the id is known, else per provider and name: same-named repositories never mix.
create unique index reported_repositories_by_identity
  on reported_repositories (org_id, coalesce(provider, ''), coalesce(provider_id, 'name:' || lower(name)));
create index reported_repositories_by_name on reported_repositories (org_id, lower(name));

-- A branch has one name: refs/heads/main is main. Empty where no ref is known.
create function branch_name(git_ref text) returns text
  language sql immutable parallel safe
  return regexp_replace(coalesce(git_ref, ''), '^refs/heads/', '');

create table security_uploads (
  org_id uuid not null,
  id text collate "C" not null check (id ~ '^[0-9a-f]{32}$'),
  repository_no bigint not null,
  origin text not null check (origin in ('ui', 'api', 'report')),
  status text not null check (status in ('pending', 'queued', 'parsing', 'finished', 'failed')),
  requested_format text not null,
  format text,
  filename text not null check (length(filename) between 1 and 200),
  size bigint not null check (size >= 1),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  category text,
  -- What the report itself names, where the upload names none; null until it is read.
  report_category text,
  git_ref text,
  commit_sha text,
  tracked boolean not null,
  findings integer not null default 0,
  components integer not null default 0,
  -- What applying the report did; null until it is finished.
  outcome jsonb,
  truncated boolean not null default false,
  warnings text[] not null default '{}',
  error text,
  -- The artifact of a job's report that is read, where no client uploaded the file.
  artifact_id text collate "C",
  run_id text collate "C",
  -- Which of a stream's reports is newer. Later than created_at when an old file became the newest word again.
  reported_at timestamptz(3) not null,
  -- Until when the file may be PUT.
  put_until timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The commit that the newest request for this file named, if it is not commit_sha. The findings are attributed to it.
  reported_commit_sha text,
  -- An API key and the console upload a report; a CI job has a trust class.
  trust text not null
  check (trust in ('uploaded', 'verified', 'self_reported', 'untrusted')),
  created_by_type text check (created_by_type in ('api_key', 'user')),
  created_by_id text,
  created_by_name text,
  constraint security_uploads_requested_format_check
    check (requested_format in ('auto', 'sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf')),
  constraint security_uploads_format_check
    check (format in ('sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf')),
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id),
  check ((status = 'failed') = (error is not null)),
  check ((origin = 'report') = (artifact_id is not null and run_id is not null)),
  check (num_nulls(created_by_type, created_by_id, created_by_name) in (0, 3))
);
-- The same file for the same repository, category and ref is the same upload (specification, "What the service does" 8).
create unique index security_uploads_by_file
  on security_uploads (org_id, repository_no, coalesce(category, ''), branch_name(git_ref), sha256)
  where status <> 'failed' and origin <> 'report';
create unique index security_uploads_by_artifact on security_uploads (org_id, artifact_id) where artifact_id is not null;
create index security_uploads_by_run on security_uploads (org_id, run_id) where run_id is not null;
create index security_uploads_by_commit on security_uploads (org_id, repository_no, commit_sha, created_at);
create index security_uploads_pending on security_uploads (put_until) where status = 'pending';
-- Finds the uploads that wait for their job, to settle those whose job is gone.
create index security_uploads_unread on security_uploads (created_at) where status in ('queued', 'parsing');
-- Uploads are listed newest first, all of an organization or those of some repositories. Each status is read by itself, so
-- that a rare status costs no more than a frequent one.
create index security_uploads_by_status on security_uploads (org_id, status, created_at, id);
create index security_uploads_by_repository on security_uploads (org_id, repository_no, status, created_at, id);

-- All that lists filter issues by and that has few values, as one number. An index that starts with it finds every
-- combination in order: a list asks for each number that it wants, and rare values cost no more than frequent ones.
create function issue_facet(status text, severity smallint, kind text, kev boolean, scored boolean) returns smallint
  language sql immutable parallel safe
  return (
    (
      (array_position(array['open', 'fixed', 'dismissed'], status) * 5 + severity) * 7
      + array_position(array['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'], kind)
    ) * 4 + kev::int * 2 + scored::int
  )::smallint;

-- A unique issue: the raw findings that say the same, whoever found them. What its members say is not repeated here; it
-- stands on them. What is kept beside its identity is what lists filter and sort by.
create table security_issues (
  org_id uuid not null,
  id uuid not null,
  repository_no bigint not null,
  -- Where its members are: a file, a package, a secret. Findings of two buckets are never one issue.
  bucket bytea not null check (length(bucket) = 16),
  kind text not null check (kind in ('code', 'dependency', 'secret', 'iac', 'container', 'license', 'other')),
  -- 4 is critical, 0 is info: the worst open member's.
  severity smallint not null check (severity between 0 and 4),
  status text not null check (status in ('open', 'fixed', 'dismissed')),
  -- Shown from when a member is tracked: what is only noted for a branch opens no issue.
  listed boolean not null,
  -- Of all members, each once.
  vuln_ids text[] not null,
  -- The id that stands for the vulnerability, and what is known of it (refreshed by imports).
  canonical_id text collate "C",
  kev boolean not null default false,
  epss real not null default 0 check (epss between 0 and 1),
  facet smallint not null generated always as (issue_facet(status, severity, kind, kev, epss > 0)) stored,
  split_from uuid,
  -- Its members are that issue's now.
  merged_into uuid check (merged_into is null or not listed),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- No foreign key to organization or repository: each insert would lock their one row. An issue comes with its findings, whose
  -- upload has both.
  primary key (org_id, id)
);
create index security_issues_by_bucket on security_issues (org_id, repository_no, bucket) where merged_into is null;
-- Ids are made at the moment of creation and sort by it.
create index security_issues_by_creation on security_issues (org_id, id) where listed;
-- Every facet is above 0. A query must say so to be served by these two: that of some repositories does not, because the
-- planner, which knows no repository with few issues, would look for them among all.
create index security_issues_by_facet on security_issues (org_id, facet, id) where listed and facet > 0;
create index security_issues_by_epss on security_issues (org_id, facet, epss, id) where listed and facet > 0 and epss > 0;
create index security_issues_by_repository on security_issues (org_id, repository_no, facet, id) where listed;
create index security_issues_by_repository_epss on security_issues (org_id, repository_no, facet, epss, id)
  where listed and epss > 0;
-- Issues of a vulnerability.
create index security_issues_by_vulnerability on security_issues using gin (vuln_ids) where listed and vuln_ids <> '{}';

-- A stream is what one tool says about one repository, category and ref. A report replaces its stream's last word,
-- and no other's. What every open finding shares with the newest report stands here, once, so that a report that
-- says nothing new writes no finding.
create table finding_streams (
  org_id uuid not null,
  id bigint generated always as identity,
  repository_no bigint not null,
  category text,
  -- As the newest report names it.
  git_ref text,
  tool text not null,
  tool_version text,
  source text not null,
  origin text not null,
  tracked boolean not null,
  commit_sha text,
  -- How many rules the newest report named, a report that was not allowed to close anything excepted that named fewer.
  rules_named integer,
  -- The newest report that was applied, by the time its upload was created. An older one that comes late changes nothing.
  reported_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  -- The upload of the newest report. Null for a report that was applied before this column existed.
  upload_id text collate "C",
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create unique index finding_streams_by_identity
  on finding_streams (
    org_id, repository_no, coalesce(category, ''), branch_name(git_ref), tool, (origin = 'alert')
  );
-- run: statement by statement
-- Retention finds the rows that have expired by these indexes. Other tables had one already.
create index finding_streams_by_upload on finding_streams (org_id, upload_id)
  where upload_id is not null;
create index finding_streams_unseen on finding_streams (org_id, seen_at)
  where not tracked;

-- The filters of findings that have few values, as one number, like issue_facet. An index that starts with it has the
-- findings of each combination in the order of their ids.
create function finding_facet(state text, severity text, kind text) returns smallint
  language sql immutable parallel safe
  return (
    (
      array_position(array['open', 'fixed', 'dismissed'], state) * 5
      + array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)
    ) * 7
    + array_position(array['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'], kind)
  )::smallint;

-- The state of a finding that readers see. A dismissal stays if reports no longer contain the finding. A reopened finding
-- can be fixed.
create function shown_state(reported_state text, triaged_state text) returns text
  language sql immutable parallel safe
  return case
    when triaged_state = 'dismissed' then 'dismissed'
    when triaged_state = 'open' and reported_state = 'dismissed' then 'open'
    else reported_state
  end;

create table findings (
  org_id uuid not null,
  id uuid not null,
  stream_id bigint not null,
  repository_no bigint not null,
  fingerprint bytea not null,
  fingerprint_method text not null,
  -- By which it is recognized where its place is all that changed; null where only the fingerprint identifies it.
  relocation bytea,
  -- A keyed hash of the flagged text, which other scanners flag as well; of a secret, of the secret itself.
  context bytea check (length(context) = 16),
  -- Equal findings of one report are told apart by their place among their equals.
  ordinal integer not null check (ordinal >= 0),
  -- Over all that a report may change: equal hashes, nothing to write.
  content_hash bytea not null,
  kind text not null check (kind in ('code', 'dependency', 'secret', 'iac', 'container', 'license', 'other')),
  type text,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  reported_state text not null constraint findings_state_check check (reported_state in ('open', 'fixed', 'dismissed')),
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
  -- Null while it is what the columns above say.
  intel_at_detection jsonb,
  issue_id uuid not null,
  -- Why it belongs to its issue, and since when. No detail where it stands alone.
  grouping_code text not null check (
    grouping_code in ('same_vulnerability', 'same_fingerprint', 'same_location', 'same_secret', 'single')
  ),
  grouping_detail text,
  grouped_at timestamptz(3) not null,
  reported_dismiss_reason text,
  reported_dismiss_comment text,
  reported_dismissed_by_name text,
  reported_dismissed_at timestamptz(3),
  reported_dismissal_source text,
  first_seen_at timestamptz(3) not null,
  -- Null while the newest report of the stream holds the finding: then the stream's own apply. Of an open finding not null
  -- means that the newest report does not hold it and was not allowed to close it.
  last_seen_at timestamptz(3),
  last_commit_sha text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Columns count from 1, as in SARIF.
  start_column integer,
  end_column integer,
  -- A sketch of the flagged text. Similar texts have similar sketches. Null for secrets.
  similarity bytea check (length(similarity) <= 32),
  -- How the finding was last recognized in a report if not by an exact match with the previous report. Null if it was
  -- only ever matched exactly.
  identity_method text check (
    identity_method in (
      'same_fingerprint', 'same_place', 'edited_in_place', 'moved_in_file', 'file_renamed', 'moved_to_file'
    )
  ),
  -- The place before: {"path", "start_line"}. Null if the finding was not in a file.
  identity_from jsonb,
  identity_at timestamptz(3),
  -- The triage that decides the state. No foreign key: its check of each row would slow down imports.
  triage_id uuid,
  triaged_state text check (triaged_state in ('open', 'dismissed')),
  state text not null generated always as (shown_state(reported_state, triaged_state)) stored,
  facet smallint not null
    generated always as (finding_facet(shown_state(reported_state, triaged_state), severity, kind)) stored,
  -- No foreign key to the stream: its check of each row is a quarter of the cost of a first import, and findings are only
  -- written while their stream's row is locked, which nothing deletes.
  primary key (org_id, id),
  -- Every finding belongs to exactly one issue.
  foreign key (org_id, issue_id) references security_issues (org_id, id),
  constraint findings_identity check (
    (identity_method is null) = (identity_at is null)
    and (identity_from is null or identity_method is not null)
  ),
  constraint findings_triage check ((triage_id is null) = (triaged_state is null)),
  constraint findings_grouping_detail check (grouping_detail is not null or grouping_code = 'single')
);
create unique index findings_by_identity on findings (org_id, stream_id, fingerprint, ordinal);
create index findings_by_issue on findings (org_id, issue_id);
create index findings_by_facet on findings (org_id, facet, id);
create index findings_by_stream on findings (stream_id, id) include (facet);
-- Findings of one file have equal keys, which are stored once.
create index findings_by_path on findings (stream_id, path collate "C")
  where path is not null;
-- Reports look for fixed findings by fingerprint. They must not choose this index, which knows nothing
-- of fingerprints, when tables were not analysed: nothing in their conditions proves the second one.
create index findings_gone on findings (org_id, last_seen_at)
  where reported_state <> 'open' and last_seen_at is not null;

-- A deployment of one commit to one environment, with every answer that let it out or held it back.
-- Times inside jsonb stand as they leave: RFC 3339 in UTC with milliseconds.
create table deployments (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  provider text,
  repository text not null check (length(repository) between 1 and 300),
  repository_full_name text not null check (length(repository_full_name) between 3 and 300),
  environment text not null,
  status text not null check (
    status in (
      'pending_approval', 'approved', 'rejected', 'in_progress', 'success', 'failure', 'cancelled', 'expired',
      'rolled_back'
    )
  ),
  workflow_name text check (length(workflow_name) between 1 and 300),
  workflow_path text check (length(workflow_path) between 1 and 500),
  github_run_id bigint,
  pipeline_run_id text,
  job_id text,
  attempt integer not null check (attempt >= 1),
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
  protection_rule_types text[] not null default '{}',
  gated boolean not null,
  required_reviewers text[] not null default '{}',
  required_reviewer_teams text[] not null default '{}',
  reviewers_state text,
  custom_rule_state text,
  custom_rule_awaiting text,
  reviews jsonb not null default '[]' check (jsonb_typeof(reviews) = 'array'),
  approvals jsonb not null default '[]' check (jsonb_typeof(approvals) = 'array'),
  external_custom_rules jsonb not null default '[]' check (jsonb_typeof(external_custom_rules) = 'array'),
  bypass jsonb check (jsonb_typeof(bypass) = 'object'),
  override jsonb check (jsonb_typeof(override) = 'object'),
  policy_evaluation jsonb check (jsonb_typeof(policy_evaluation) = 'object'),
  -- The service's own rule is to be answered until then; null where nothing waits for an answer.
  answer_until timestamptz(3) check (answer_until is null or status = 'pending_approval'),
  deployed_at timestamptz(3),
  rollback_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The host, the host's ids, and what it says about the deployment. Null for deployments of opened gates.
  host text check (host = lower(host)),
  host_id text collate "C",
  repository_id text collate "C",
  host_run_id text collate "C",
  host_attempt integer check (host_attempt >= 1),
  host_ref text,
  host_creator text,
  host_creator_avatar_url text,
  host_updated_at timestamptz(3),
  -- The protection rules of the environment when the deployment waited; null until they were read.
  environment_rules jsonb check (jsonb_typeof(environment_rules) = 'object'),
  -- Whether the reviews were read from the host after the deployment had gone on.
  reviews_read text check (reviews_read in ('done', 'failed')),
  -- The decision of the service's own rule, and until when it is to be made.
  rule_decision text check (rule_decision in ('approved', 'rejected', 'expired')),
  rule_answer_until timestamptz(3),
  decision_undelivered boolean not null default false,
  -- Derived: the first success, and the creation of the run.
  succeeded_at timestamptz(3),
  run_created_at timestamptz(3),
  -- When the policies were evaluated for the first time; null until then.
  policies_asked_at timestamptz(3),
  policy_rules jsonb,
  -- What each rule of the latest evaluation was based on: an array for each policy, in the order of
  -- policy_rules. It is shown to people, and is no part of a statement.
  policy_evidence jsonb check (jsonb_typeof(policy_evidence) = 'array'),
  primary key (org_id, id),
  constraint deployments_environment_check check (length(environment) between 1 and 255),
  constraint deployments_of_hosts check (
    (host_id is null) = (host is null) and (host_id is null) = (repository_id is null)
    and (host_id is null) = (host_updated_at is null)
  ),
  constraint deployments_policy_rules_check check (jsonb_typeof(policy_rules) = 'array')
);
create index deployments_by_creation on deployments (org_id, created_at, id);
create index deployments_by_environment on deployments (org_id, environment, created_at, id);
create index deployments_by_repository on deployments (org_id, repository_full_name, created_at, id);
create index deployments_by_workflow on deployments (org_id, workflow_name, created_at, id);
create index deployments_by_workflow_path on deployments (org_id, workflow_path, created_at, id);
create index deployments_by_status on deployments (org_id, status, created_at, id);
create index deployments_by_pipeline_run on deployments (org_id, pipeline_run_id, attempt);
-- The sweeper's question: which deployments waited too long for an answer?
create index deployments_to_answer on deployments (answer_until) where answer_until is not null;
create index deployments_waiting on deployments (org_id, created_at, id)
  where status = 'pending_approval' and custom_rule_state = 'pending';
create index deployments_to_evaluate on deployments (created_at)
  where policies_asked_at is null and custom_rule_state = 'pending';
create index deployments_by_host_environment on deployments (
  org_id, provider, repository_id, environment, created_at, id
) where host_id is not null;
create index deployments_by_success on deployments (org_id, provider, repository_id, environment, created_at, id)
  where succeeded_at is not null;
create index deployments_by_deployed_commit on deployments (
  org_id, provider, repository_id, environment, commit_sha, created_at, id
) where succeeded_at is not null;
create index deployments_by_commit on deployments (org_id, commit_sha, created_at, id);
create index deployments_by_run on deployments (org_id, pipeline_run_id, created_at, id);
-- What runs where: the latest and the last successful deployment of each repository and environment.
create index deployments_by_place on deployments (org_id, repository_full_name, environment, created_at, id);
create index deployments_succeeded_by_place
on deployments (org_id, repository_full_name, environment, created_at, id)
where status = 'success' or succeeded_at is not null;

-- The newest verdict of one policy on one repository.
create table compliance_results (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  policy_id text not null,
  policy_name text not null,
  repository text not null check (length(repository) between 3 and 300),
  status text not null check (status in ('passing', 'failing', 'warning', 'not_evaluated')),
  details jsonb not null default '[]' check (jsonb_typeof(details) = 'array'),
  evaluated_at timestamptz(3) check (evaluated_at is not null or status = 'not_evaluated'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index compliance_results_by_repository on compliance_results (org_id, policy_id, repository);
create index compliance_results_by_creation on compliance_results (org_id, created_at, id);
create index compliance_results_by_status on compliance_results (org_id, status, created_at, id);
-- Lists of the results of one policy, and of one repository.
create index compliance_results_by_policy on compliance_results (org_id, policy_id, created_at, id);
create index compliance_results_by_repository_creation on compliance_results (org_id, repository, created_at, id);

-- What one job of a run attempt says about its work. The same attempt, job, matrix and name is the same report.
create table ci_reports (
  org_id uuid not null,
  id text collate "C" not null check (id ~ '^[1-9][0-9]{0,2}-[0-9a-f]{24}$'),
  run_id text collate "C" not null,
  attempt smallint not null,
  job_name text not null,
  matrix jsonb,
  runner text,
  name text not null,
  summary text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  trust text not null
  check (trust in ('verified', 'self_reported', 'untrusted')),
  primary key (org_id, id),
  -- The attempt stands in one of two tables; that it exists is checked while the run is locked.
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);
-- The reports and artifacts of a run are listed newest first.
create index ci_reports_of_run on ci_reports (org_id, run_id, created_at, id);

create table ci_attestations (
  org_id uuid not null,
  id uuid not null,
  report_id text collate "C" not null,
  kind text not null,
  name text not null,
  data jsonb not null,
  status text not null check (status in ('pass', 'fail', 'warn', 'info')),
  -- What we read ourselves in the file that data.artifact names, beside what the job says.
  parsed jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  trust text not null
  check (trust in ('verified', 'self_reported', 'untrusted')),
  constraint ci_attestations_kind_check
  check (kind in ('test-results', 'coverage', 'sbom', 'scan', 'custom', 'ownership', 'provenance')),
  primary key (org_id, id),
  foreign key (org_id, report_id) references ci_reports (org_id, id)
);
create unique index ci_attestations_by_name on ci_attestations (org_id, report_id, kind, name);

create table ci_artifacts (
  org_id uuid not null,
  id text collate "C" not null,
  report_id text collate "C" not null,
  run_id text collate "C" not null,
  path text not null,
  size bigint not null check (size >= 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  status text not null check (status in ('pending', 'uploaded', 'rejected')),
  reason text check ((reason is not null) = (status = 'rejected')),
  put_until timestamptz(3) not null,
  -- Whoever reads such files has been told that this one is there.
  announced boolean not null default false,
  created_at timestamptz(3) not null,
  trust text not null
  check (trust in ('verified', 'self_reported', 'untrusted')),
  -- The repository of the token that declared the artifact.
  claimed_provider text,
  claimed_repository_id text,
  -- host/owner/name
  claimed_repository text,
  constraint ci_artifacts_claimed_check
  check (num_nonnulls(claimed_provider, claimed_repository_id, claimed_repository) in (0, 3)),
  primary key (org_id, id),
  foreign key (org_id, report_id) references ci_reports (org_id, id)
);
create unique index ci_artifacts_by_path on ci_artifacts (org_id, report_id, path);
create index ci_artifacts_pending on ci_artifacts (put_until) where status = 'pending';
create index ci_artifacts_of_run on ci_artifacts (org_id, run_id, created_at, id);

-- Objects that no row refers to any more. They go once nobody can PUT to their address again.
create table abandoned_objects (
  object_key text primary key,
  remove_after timestamptz(3) not null
);
create index abandoned_objects_by_time on abandoned_objects (remove_after);

-- One row for each source. An import holds its source's row to its end, so that two imports of one source queue up.
create table intel_sources (
  source text primary key check (source in ('kev', 'epss', 'osv')),
  -- The time that the source itself states: of the catalogue, of the scores, of the newest record.
  as_of timestamptz(3),
  version text,
  records integer not null default 0 check (records >= 0),
  imported_at timestamptz(3)
);

-- CISA's catalogue of known exploited vulnerabilities.
create table intel_kev (
  cve_id text collate "C" primary key,
  date_added date not null,
  due_date date,
  ransomware boolean not null
);

-- FIRST's exploit prediction: the probability of an attack within 30 days, and the share of scores at or below it.
create table intel_epss (
  cve_id text collate "C" primary key,
  score real not null check (score between 0 and 1),
  percentile real not null check (percentile between 0 and 1)
);

-- OSV records, as far as we use them.
create table intel_advisories (
  id text collate "C" primary key,
  modified timestamptz(3) not null,
  -- Over all that we keep of the record: equal hashes, nothing to write.
  content_hash bytea not null,
  withdrawn boolean not null,
  severity text check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  cvss_version text collate "C",
  cvss_score real,
  cvss_vector text
);

-- Packages of an advisory that a fixed version exists for.
create table intel_fixes (
  advisory_id text collate "C" not null references intel_advisories on delete cascade,
  -- The type of its package URL.
  type text collate "C" not null,
  name text collate "C" not null,
  -- Every affected range ends in a fix.
  fixes_all boolean not null,
  -- The numbers of the highest fixed version; null where it has no such form.
  latest_fix numeric[],
  primary key (advisory_id, type, name)
);

-- What a source says of ids: these two are one vulnerability.
create table vulnerability_assertions (
  source text collate "C" not null,
  id text collate "C" not null,
  alias text collate "C" not null check (alias <> id),
  primary key (source, id, alias)
);
create index vulnerability_assertions_by_id on vulnerability_assertions (id);
create index vulnerability_assertions_by_alias on vulnerability_assertions (alias);

-- Derived from the assertions: the groups of ids that are one vulnerability, each id of a group of two or more.
create table vulnerability_aliases (
  id text collate "C" primary key,
  canonical_id text collate "C" not null
);
create index vulnerability_aliases_by_group on vulnerability_aliases (canonical_id, id);

-- What an organization asks before it lets a deployment out. Every gate that covers a deployment must approve it.
create table configured_gates (
  org_id uuid not null references organizations,
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  -- Globs; null covers every repository, or every branch and a run without one.
  environment text not null check (length(environment) between 1 and 200),
  repository text check (length(repository) between 1 and 200),
  branch text check (length(branch) between 1 and 200),
  required_approvals smallint not null check (required_approvals between 1 and 20),
  allow_api_keys boolean not null,
  -- May the credential that reported the run answer, too?
  allow_run_creator boolean not null,
  policies text[] not null check (cardinality(policies) <= 20),
  created_at timestamptz(3) not null,
  version integer not null check (version >= 1),
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index configured_gates_by_name on configured_gates (org_id, name);

-- A deployment that one job of a run's attempt asked to be let out. The unique key makes simultaneous twins one.
create table opened_gates (
  org_id uuid not null,
  id uuid not null,
  deployment_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt smallint not null check (attempt between 1 and 999),
  environment text not null check (length(environment) between 1 and 100),
  job text not null check (length(job) <= 100),
  status text not null check (status in ('waiting', 'decided', 'expired', 'cancelled')),
  decision text not null check (decision in ('pending', 'approved', 'rejected')),
  decided_by text,
  note text,
  -- Only the SHA-256 of the token is kept. It can be made again from the gate's id and this time, by whoever has the secret key.
  poll_token_sha256 bytea not null check (length(poll_token_sha256) = 32),
  poll_token_issued_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- The credential that opened the gate. Null for gates that were opened before this was stored.
  credential_id uuid,
  primary key (org_id, id),
  unique (org_id, deployment_id),
  unique (org_id, run_id, environment, job, attempt),
  foreign key (org_id, deployment_id) references deployments (org_id, id),
  check ((status = 'waiting') = (decision = 'pending')),
  check ((decided_by is null) = (decision = 'pending')),
  check (status = 'decided' or decision <> 'approved')
);
create index opened_gates_by_id on opened_gates (id);

-- The gates that covered a deployment when it was opened, as they were then: what is configured later changes nothing.
create table required_gates (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  position smallint not null,
  id uuid not null,
  name text not null,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  approved_at timestamptz(3),
  -- Whether passing policies or principals approved the gate. Null for gates that were approved before this was stored.
  approved_by text check (approved_by in ('policies', 'principals')),
  primary key (org_id, deployment_id, position),
  unique (org_id, deployment_id, id),
  foreign key (org_id, deployment_id) references deployments (org_id, id)
);

-- Who answered a deployment: each principal once.
create table deployment_answers (
  org_id uuid not null,
  id uuid not null,
  deployment_id text collate "C" not null,
  principal_type text not null check (principal_type in ('api_key', 'user')),
  principal_id text not null,
  principal_name text not null,
  decision text not null check (decision in ('approved', 'rejected')),
  reason text,
  comment text,
  answered_at timestamptz(3) not null,
  -- When the code host had taken the decision, and the comment.
  decision_posted_at timestamptz(3),
  comment_posted_at timestamptz(3),
  -- The user who answered, or who created the API key that answered. Null for a key that was created
  -- at the command line.
  person_id uuid references users (id),
  primary key (org_id, id),
  unique (org_id, deployment_id, principal_type, principal_id),
  foreign key (org_id, deployment_id) references deployments (org_id, id),
  constraint deployment_answers_reason_check check (reason is not null or principal_type = 'user'),
  constraint deployment_answers_person_check check (principal_type <> 'user' or person_id is not null)
);

-- The last polls of each gate. After a crash the count starts anew, which is worth that no poll waits for the disk.
create unlogged table gate_polls (
  org_id uuid not null,
  gate_id uuid not null,
  polled_at timestamptz(3)[] not null check (cardinality(polled_at) <= 12),
  is_admitted boolean not null,
  last_polled_at timestamptz(3) not null,
  primary key (org_id, gate_id)
);
create index gate_polls_by_age on gate_polls (last_polled_at);

-- What an organization wants to be true before something is let out. `version` is the one in force; 0 only while the first
-- one is being written.
create table policies (
  org_id uuid not null references organizations,
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  version integer not null check (version >= 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  repository_id text collate "C" check (length(repository_id) between 1 and 100),
  path text check (length(path) between 1 and 500),
  -- The version of the file (blob SHA) that the current version was read from.
  blob text collate "C" check (length(blob) between 1 and 100),
  -- When the file was deleted. Its versions are kept.
  removed_at timestamptz(3),
  primary key (org_id, id),
  check (num_nulls(provider, repository_id, path, blob) in (0, 4))
);
create unique index policies_by_name on policies (org_id, name) where repository_id is null;
create unique index policies_by_file on policies (org_id, provider, repository_id, path) where repository_id is not null;

-- Every version that ever was in force. Never changed.
create table policy_versions (
  org_id uuid not null,
  policy_id uuid not null,
  version integer not null check (version >= 1),
  mode text not null check (mode in ('monitor', 'enforce')),
  definition jsonb not null,
  -- Over the definition: equal hashes are the same policy.
  content_hash bytea not null check (length(content_hash) = 32),
  created_at timestamptz(3) not null,
  -- The file as it was applied. Null for versions that were applied before files were stored.
  source text,
  principal_type text,
  principal_id text,
  principal_name text,
  reason text,
  primary key (org_id, policy_id, version),
  foreign key (org_id, policy_id) references policies (org_id, id),
  check (num_nulls(principal_type, principal_name) in (0, 2))
);

-- Policies compiled to WebAssembly, with their data. By the hash over both, so that equal ones are kept once.
create table policy_bundles (
  org_id uuid not null references organizations,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  wasm bytea not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  primary key (org_id, sha256)
);

-- Who did what, on which object, and why. Entries are only ever added.
create table audit_entries (
  org_id uuid not null references organizations,
  id uuid not null,
  at timestamptz(3) not null,
  principal_type text not null check (principal_type in ('api_key', 'user', 'policy', 'system', 'command_line')),
  principal_id text,
  principal_name text not null,
  action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  object_type text not null,
  object_id text not null,
  reason text,
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
  primary key (org_id, id)
);
create index audit_entries_by_time on audit_entries (org_id, at, id);
create index audit_entries_by_principal_type on audit_entries (org_id, principal_type, at, id);
create index audit_entries_by_principal on audit_entries (org_id, principal_id, at, id);
create index audit_entries_by_action on audit_entries (org_id, action, at, id);
create index audit_entries_by_object_type on audit_entries (org_id, object_type, at, id);
create index audit_entries_by_object on audit_entries (org_id, object_id, at, id);

-- What became of issues after their findings were grouped: which were joined, which came apart, and why.
create table issue_history (
  org_id uuid not null,
  id bigint generated always as identity,
  issue_id uuid not null,
  at timestamptz(3) not null,
  -- merged: its members are the other issue's now. split: its members were the other issue's before.
  event text not null check (event in ('merged', 'split')),
  other_issue_id uuid not null,
  -- A sentence.
  detail text not null,
  -- No foreign key to the issue: an undone regroup removes the issues that it made, and what happened stays.
  primary key (org_id, id),
  foreign key (org_id) references organizations
);
create index issue_history_by_issue on issue_history (org_id, issue_id, id);
create index issue_history_by_other_issue on issue_history (org_id, other_issue_id, id);

-- Buckets in which vulnerabilities got other aliases since they were grouped. They wait here from the import that says so
-- until they are grouped anew.
create table issue_regroup_due (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null check (length(bucket) = 16),
  -- Who says it.
  source text not null,
  primary key (org_id, repository_no, bucket)
);

-- One row for each time that an organization's groups are computed anew, and how far it is.
create table issue_regroups (
  org_id uuid not null references organizations,
  id uuid not null,
  status text not null,
  -- Repositories before this one are done; of this one what stands in buckets up to the other.
  repository_no bigint not null default 0,
  bucket bytea,
  batches integer not null default 0 check (batches >= 0),
  findings bigint not null default 0,
  moved bigint not null default 0,
  restated bigint not null default 0,
  merged bigint not null default 0,
  split bigint not null default 0,
  started_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  in_progress jsonb not null default '{}',
  last_batch integer not null default 0,
  constraint issue_regroups_status_check
    check (status in ('running', 'finished', 'undoing', 'undone', 'expired')) not valid,
  primary key (org_id, id),
  constraint issue_regroups_finished check (status <> 'finished' or in_progress = '{}')
);
create unique index issue_regroups_unfinished on issue_regroups (org_id) where status in ('running', 'undoing');

-- What a regroup changed, batch by batch, as it was before: so that it can be undone.
create table issue_regroup_findings (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  finding_id uuid not null,
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamptz(3) not null,
  -- Where the regroup put it.
  new_issue_id uuid not null,
  -- A batch that changes only the reasons of findings writes no issues. Null in earlier rows, whose
  -- batches have issues.
  repository_no bigint,
  primary key (org_id, regroup_id, batch, finding_id),
  foreign key (org_id, regroup_id) references issue_regroups (org_id, id)
);

create table issue_regroup_issues (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  repository_no bigint not null,
  issue_id uuid not null,
  -- The regroup made it; of those nothing but this and split_from is known.
  is_new boolean not null,
  bucket bytea,
  kind text,
  severity smallint,
  status text,
  vuln_ids text[],
  canonical_id text collate "C",
  split_from uuid,
  merged_into uuid,
  primary key (org_id, regroup_id, batch, issue_id),
  foreign key (org_id, regroup_id) references issue_regroups (org_id, id)
);

-- Ids whose group of aliases an import has changed. The job that follows the import deletes them when it
-- adds the buckets of the issues that name them to issue_regroup_due (docs/adr/0012-alias-changes.md).
create table vulnerability_alias_changes (
  source text collate "C" not null,
  id text collate "C" not null,
  primary key (source, id)
);

-- Organizations whose findings were grouped by earlier rules. A job groups them again and deletes the row. A migration
-- that comes with new rules adds all organizations.
create table issue_rule_changes (
  org_id uuid primary key references organizations
);

-- Calls to code hosts that must take effect once: decisions, comments, dismissals, commit statuses.
create table codehost_calls (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  -- The same key again is the same call.
  idempotency_key text collate "C" not null check (length(idempotency_key) between 1 and 200),
  subject_type text not null check (subject_type in ('deployment', 'alert', 'commit')),
  subject_id text collate "C" not null,
  action jsonb not null check (jsonb_typeof(action) = 'object'),
  status text not null check (status in ('pending', 'done', 'failed', 'refused')),
  attempts integer not null default 0 check (attempts >= 0),
  error text,
  next_try_at timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- The order in which calls were requested.
  number bigint not null generated always as identity,
  primary key (org_id, id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id),
  check ((status = 'pending') = (next_try_at is not null)),
  check ((status = 'pending') = (ended_at is null))
);
create unique index codehost_calls_by_key on codehost_calls (org_id, idempotency_key);
create index codehost_calls_due on codehost_calls (next_try_at) where status = 'pending';
create index codehost_calls_by_subject on codehost_calls (org_id, subject_type, subject_id, created_at);
create index codehost_calls_unsuccessful on codehost_calls (ended_at) where status in ('failed', 'refused');
create index codehost_calls_ended on codehost_calls (org_id, created_at)
  where status <> 'pending';

-- Credentials that were made by the manifest flow. An App belongs to one address of an API.
create table codehost_apps (
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  api_url text not null check (length(api_url) between 1 and 500),
  app_id text collate "C" not null check (length(app_id) between 1 and 100),
  slug text not null check (length(slug) between 1 and 200),
  html_url text not null check (length(html_url) between 1 and 500),
  -- The private key and the webhook secret, encrypted.
  sealed text not null,
  created_at timestamptz(3) not null,
  primary key (provider, api_url)
);

-- Manifest flows. The state itself is known only to the browser and the code host.
create table codehost_app_setups (
  state_sha256 bytea primary key check (length(state_sha256) = 32),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  options jsonb not null check (jsonb_typeof(options) = 'object'),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- Every installation that the code host has named, connected or not.
create table codehost_installations (
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  host text not null check (host = lower(host)),
  id text collate "C" not null check (length(id) between 1 and 100),
  -- Null until the host has described the installation.
  account_id text collate "C" check (length(account_id) between 1 and 100),
  account_login text check (length(account_login) between 1 and 200),
  account_type text check (length(account_type) between 1 and 50),
  repositories text check (repositories in ('all', 'selected')),
  suspended boolean not null default false,
  removed_at timestamptz(3),
  -- The host's time of the newest facts; older ones do not replace them.
  host_updated_at timestamptz(3),
  first_seen_at timestamptz(3) not null,
  last_event_at timestamptz(3) not null,
  primary key (provider, host, id)
);
create index codehost_installations_present on codehost_installations (first_seen_at) where removed_at is null;

-- Repositories that were added to or removed from an installation by name.
create table codehost_installation_repositories (
  provider text not null,
  host text not null,
  installation_id text collate "C" not null,
  repository_id text not null check (length(repository_id) between 1 and 100),
  selected boolean not null,
  -- The host's time of the change, if it says it, and when we were told.
  host_at timestamptz(3),
  told_at timestamptz(3) not null,
  primary key (provider, host, installation_id, repository_id)
);

create table codehost_deliveries (
  -- The host's id of the delivery.
  id text collate "C" not null check (length(id) between 1 and 100),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  -- The order of receipt.
  number bigint not null generated always as identity,
  event text not null check (length(event) between 1 and 100),
  action text check (length(action) between 1 and 100),
  installation_id text collate "C" check (length(installation_id) between 1 and 100),
  -- Deliveries of one object have the same lane, and are applied in order.
  lane text collate "C" not null check (length(lane) between 1 and 200),
  -- Derived from the lane. Each shard is applied by one job at a time.
  shard smallint not null check (shard >= 0),
  received_at timestamptz(3) not null,
  -- The body as it was received. Null after it has expired.
  payload text,
  status text not null default 'received' check (status in ('received', 'applied', 'ignored', 'failed')),
  -- True while its installation is not connected.
  waiting boolean not null default false,
  -- Counted before each try.
  attempts smallint not null default 0 check (attempts >= 0),
  -- Not before this time after a failed try.
  next_try_at timestamptz(3),
  error text,
  applied_at timestamptz(3),
  primary key (id, provider),
  check (not waiting or status = 'received'),
  check (next_try_at is null or status = 'received'),
  check ((applied_at is not null) = (status in ('applied', 'ignored')))
);
create index codehost_deliveries_pending on codehost_deliveries (shard, number)
  where status = 'received' and not waiting;
create index codehost_deliveries_paused on codehost_deliveries (shard) where next_try_at is not null;
create index codehost_deliveries_waiting on codehost_deliveries (provider, installation_id) where waiting;
create index codehost_deliveries_failed on codehost_deliveries (number) where status = 'failed';
create index codehost_deliveries_by_number on codehost_deliveries (number);
create index codehost_deliveries_by_age on codehost_deliveries using brin (received_at);
create index codehost_deliveries_with_payload on codehost_deliveries (applied_at)
  where payload is not null and applied_at is not null;
-- The deliveries of the code hosts of an organization, newest first.
create index codehost_deliveries_by_installation
on codehost_deliveries (provider, installation_id, received_at, id);
create index codehost_deliveries_failed_by_installation
on codehost_deliveries (provider, installation_id, received_at, id)
where status = 'failed';

create table codehost_syncs (
  org_id uuid not null,
  connection_id uuid not null,
  -- Counts the synchronizations of the connection.
  number integer not null default 0 check (number >= 0),
  -- The oldest unanswered request, and how far back it reaches. Null while nothing is requested.
  requested_at timestamptz(3),
  requested_since timestamptz(3),
  -- The synchronization in progress. Null while there is none.
  started_at timestamptz(3),
  since timestamptz(3),
  phase text check (phase in ('deliveries', 'repositories', 'objects')),
  repositories_next text,
  -- Identifies the list of repositories, if it is one page.
  repositories_etag text,
  -- When to start, continue or try again.
  due_at timestamptz(3) not null,
  -- Pauses in a row without progress between them.
  pauses integer not null default 0 check (pauses >= 0),
  primary key (org_id, connection_id),
  unique (connection_id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id),
  check ((started_at is null) = (phase is null))
);
create index codehost_syncs_due on codehost_syncs (due_at);

create table codehost_sync_repositories (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  -- The number of the last synchronization that found the repository in the host's list, and of the
  -- last one that has read its lists.
  listed_in integer,
  read_in integer,
  -- What could not be read.
  note text,
  primary key (org_id, connection_id, repository_id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);

create table codehost_sync_lists (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  list text not null,
  -- The synchronization that read the first page, and the version of that page.
  read_in integer not null,
  etag text,
  -- The page to continue with. Null after the last one.
  next text,
  -- Where reading ends: at items that were changed earlier. Null: at the end of the list.
  until timestamptz(3),
  -- The host's time of the newest change on the first page.
  newest_at timestamptz(3),
  primary key (org_id, connection_id, repository_id, list),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);

-- Failed deliveries that the host was asked to deliver again.
create table codehost_redeliveries (
  provider text not null,
  delivery_id text collate "C" not null,
  -- The host's id of the failed try. Another one fails under another id.
  failed_id text collate "C" not null,
  requested_at timestamptz(3) not null,
  primary key (provider, delivery_id)
);
create index codehost_redeliveries_by_time on codehost_redeliveries (requested_at);

-- Until when failed deliveries have been looked for.
create table codehost_delivery_checks (
  provider text primary key,
  checked_at timestamptz(3) not null
);

-- The attempts of a verified run, as its host describes them. Attempts of ci_runs and ci_run_attempts are derived from
-- them. A job may arrive before its run: then only job_started is known.
create table provider_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null check (number between 1 and 999),
  job_started boolean not null default false,
  host_version text collate "C",
  status text
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3),
  -- The earliest completion time of all versions.
  completed_at timestamptz(3),
  host_updated_at timestamptz(3),
  primary key (org_id, run_id, number),
  check (num_nulls(host_version, status, started_at, host_updated_at) in (0, 4))
);

-- What a verified run has beside the columns of ci_runs.
create table provider_runs (
  org_id uuid not null,
  run_id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  repository_owner_id text collate "C" not null,
  workflow_id text collate "C" not null,
  workflow_path text,
  run_number integer,
  -- Null for a tag.
  branch text,
  -- The repository of the branch, which can be a fork.
  head_repository_id text collate "C" not null,
  trigger_kind text not null
    check (trigger_kind in ('push', 'pull_request', 'schedule', 'manual', 'release', 'workflow', 'other')),
  commit_sha text not null,
  release_name text,
  actor_id text collate "C",
  actor_login text,
  actor_avatar_url text,
  actor_url text,
  pull_request_number integer,
  pull_request_url text,
  created_at timestamptz(3) not null,
  -- The version of the host's object that these columns are from.
  host_version text collate "C" not null,
  -- Details: the job ci.read-run-details reads them from the host.
  commit_message text,
  author_id text collate "C",
  author_login text,
  author_avatar_url text,
  merged_pull_request_number integer,
  merged_pull_request_url text,
  workflow_blob text collate "C",
  details_due boolean not null default true,
  details_tried_at timestamptz(3),
  -- The failure of one attempt: the job ci.read-run-failures reads it from the host.
  failure_attempt smallint,
  failure_category text check (
    failure_category in
      ('test', 'build', 'lint', 'dependency', 'timeout', 'infrastructure', 'cancelled', 'unknown')
  ),
  failure_excerpt text check (length(failure_excerpt) <= 2000),
  failure_due boolean not null default false,
  failure_tried_at timestamptz(3),
  -- What only Azure DevOps says of a run (specification, "Pipeline run").
  azure jsonb,
  primary key (org_id, run_id),
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);
-- The history of a workflow on a branch.
create index provider_runs_by_branch on provider_runs
  (org_id, provider, repository_id, workflow_id, branch, head_repository_id, run_number, run_id)
  where branch is not null and run_number is not null;
create index provider_runs_by_commit on provider_runs (org_id, provider, repository_id, commit_sha);
create index provider_runs_without_details on provider_runs (org_id, provider, repository_id, created_at)
  where details_due;
create index provider_runs_with_unread_failure on provider_runs (org_id, provider, repository_id, created_at)
  where failure_due;

-- What follows from the history of a completed run.
create table provider_run_scores (
  org_id uuid not null,
  run_id text collate "C" not null,
  failure_recurrence integer check (failure_recurrence >= 1),
  anomaly_reasons text[] not null,
  importance_score real not null check (importance_score between 0 and 1),
  primary key (org_id, run_id),
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);

-- Runs whose scores, and those of later runs, must be computed again.
create table unscored_provider_runs (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  primary key (org_id, provider, repository_id, run_id)
);

-- Versions (blobs) of workflow files. Null job_dependencies: the file is missing or is no workflow.
create table workflow_files (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  blob text collate "C" not null,
  job_dependencies jsonb check (jsonb_typeof(job_dependencies) = 'object'),
  deploys boolean not null,
  primary key (org_id, provider, repository_id, blob)
);

-- Display names of accounts. Null: the host does not give one.
create table provider_accounts (
  org_id uuid not null,
  provider text not null,
  id text collate "C" not null,
  name text,
  read_at timestamptz(3) not null,
  primary key (org_id, provider, id)
);

-- Pull requests, reviews, checks and pushes, as policies and change records need them. host_version decides which
-- version of an object stays.
create table pull_requests (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  number integer not null check (number > 0),
  host_version text collate "C" not null,
  title text not null,
  url text,
  author jsonb,
  state text not null check (state in ('open', 'closed', 'merged')),
  draft boolean not null,
  head_ref text not null,
  head_sha text not null,
  -- Null if the repository of the head was deleted.
  head_repository_id text collate "C",
  base_ref text not null,
  base_sha text not null,
  merge_commit_sha text,
  merged_by jsonb,
  created_at timestamptz(3) not null,
  merged_at timestamptz(3),
  closed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  merged_by_queue boolean not null default false,
  primary key (org_id, provider, repository_id, number)
);
create index pull_requests_by_merge_commit on pull_requests (org_id, provider, repository_id, merge_commit_sha)
  where state = 'merged';
-- run: statement by statement
-- Retention finds old facts of code hosts, and branches that no report has been about since, by these.
create index pull_requests_by_update on pull_requests (org_id, updated_at);

-- Every commit that was the newest of a pull request.
create table pull_request_heads (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  pull_request integer not null,
  primary key (org_id, provider, repository_id, commit_sha, pull_request)
);

create table pull_request_reviews (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  pull_request integer not null check (pull_request > 0),
  host_version text collate "C" not null,
  reviewer jsonb,
  state text not null check (state in ('approved', 'changes_requested', 'commented', 'dismissed')),
  -- The commit that was reviewed.
  commit_sha text,
  submitted_at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, id)
);
create index pull_request_reviews_by_pull_request on pull_request_reviews
  (org_id, provider, repository_id, pull_request, submitted_at);
create index pull_request_reviews_by_time on pull_request_reviews (org_id, submitted_at);

create table commit_checks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  id text collate "C" not null,
  host_version text collate "C" not null,
  name text not null,
  source text not null,
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  primary key (org_id, provider, repository_id, commit_sha, id)
);
create index commit_checks_ended on commit_checks (org_id, completed_at)
  where completed_at is not null;
create index commit_checks_unended on commit_checks (org_id, started_at)
  where completed_at is null;

-- Pushes to the tracked branch.
create table pushes (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  branch text not null,
  -- Null if the push created the branch.
  before_sha text,
  after_sha text not null,
  forced boolean not null,
  pusher jsonb,
  pushed_at timestamptz(3) not null,
  -- Whether the host's merge queue pushed the commits, or merged the pull request.
  by_merge_queue boolean not null default false,
  primary key (org_id, provider, repository_id, id)
);
create index pushes_by_head on pushes (org_id, provider, repository_id, after_sha);
create index pushes_by_time on pushes (org_id, pushed_at);

-- At most the last 1,000 commits of a push. Times are those of the commits.
create table pushed_commits (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  push_id text collate "C" not null,
  position smallint not null,
  sha text not null,
  message text not null,
  author jsonb not null,
  committer jsonb not null,
  at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, push_id, position),
  foreign key (org_id, provider, repository_id, push_id) references pushes (org_id, provider, repository_id, id)
);
create index pushed_commits_by_sha on pushed_commits (org_id, provider, repository_id, sha);

-- The protection rules of environments as they were last read. A lock on a row also makes changes
-- to the deployments of one environment wait for each other.
create table deployment_environments (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  name text not null,
  rules jsonb check (jsonb_typeof(rules) = 'object'),
  read_at timestamptz(3),
  primary key (org_id, provider, repository_id, name)
);

create table deployment_statuses (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  -- The host's id, else the state and its time.
  id text collate "C" not null,
  state text not null check (state in ('waiting', 'in_progress', 'success', 'failure', 'cancelled', 'inactive')),
  environment_url text,
  log_url text,
  job_id text,
  creator text,
  created_at timestamptz(3) not null,
  primary key (org_id, deployment_id, id),
  foreign key (org_id, deployment_id) references deployments (org_id, id)
);

-- Requests of hosts to decide our protection rule. An empty deployment_id or run_id and the attempt
-- 0 mean that the host did not say.
create table deployment_gate_requests (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  environment text not null,
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 0),
  deployment_id text collate "C" not null,
  callback_url text not null,
  requested_at timestamptz(3) not null,
  -- What the host gave us to answer a request with, sealed. Null: the connection can answer.
  callback_secret text check (length(callback_secret) between 1 and 10000),
  primary key (org_id, provider, repository_id, environment, run_id, attempt, deployment_id)
);
-- run: statement by statement
-- Retention finds old requests of code hosts for an approval.
create index deployment_gate_requests_by_time
  on deployment_gate_requests (org_id, requested_at);

-- Reviewers of hosts, who were asked or who answered. The attempt 0 means that the host did not say.
create table deployment_reviews (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 0),
  environment text not null,
  state text not null check (state in ('requested', 'approved', 'rejected')),
  reviewer text not null,
  avatar_url text,
  comment text,
  at timestamptz(3) not null,
  -- Lists of hosts do not contain the time of a review. An event replaces a listed review.
  is_listed boolean not null,
  -- How often a list contains the review, because it does not name the attempts.
  times integer not null check (times >= 1),
  primary key (org_id, provider, repository_id, run_id, environment, attempt, state, reviewer)
);
create index deployment_reviews_by_time on deployment_reviews (org_id, at);

-- What deployments show of their runs, by attempt. A run can arrive before its deployments.
create table deployment_runs (
  org_id uuid not null references organizations (id),
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 1),
  status text not null,
  workflow_name text,
  workflow_path text,
  ref text,
  commit_message text,
  release_name text,
  author text,
  author_avatar_url text,
  html_url text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, run_id, attempt)
);
create index deployment_runs_by_creation on deployment_runs (org_id, created_at);

-- Whether the decision in Shiplock is what is shown: while the host has not answered, and after it has accepted it until it
-- says something newer.
create function own_decision_counts(
  own_status text, own_delivery text, own_comment text, own_host_updated_at timestamptz,
  host_status text, host_comment text, host_updated_at timestamptz
) returns boolean
  language sql immutable parallel safe
  return case
    when own_delivery is null or own_delivery = 'failed' or host_status = 'fixed' then false
    when own_status = host_status then own_status = 'dismissed' and host_comment is not distinct from own_comment
    else own_delivery = 'pending' or host_updated_at <= own_host_updated_at
  end;

create table security_alerts (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  repository_id text collate "C" not null check (length(repository_id) between 1 and 100),
  -- As the repository is named now.
  repository text not null check (length(repository) between 3 and 300),
  type text not null check (type in ('code_scanning', 'dependabot', 'secret_scanning')),
  -- The host numbers the alerts of a type within a repository.
  number bigint not null check (number >= 0),
  -- Increases with each change, so that the change can be brought to the alert's finding.
  revision bigint not null default 1,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
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
  "references" jsonb not null check (jsonb_typeof("references") = 'array'),
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
  -- A keyed hash of the secret. The secret itself is never stored.
  secret_hash bytea check (length(secret_hash) = 16),
  detected_at timestamptz(3) not null,
  fixed_at timestamptz(3),
  dismissed_by text,
  dismissed_by_name text,
  dismiss_reason text,
  dismiss_comment text,
  dismissed_at timestamptz(3),
  -- The version of the host's facts: an older one never replaces a newer one. Of two versions with the same time, the
  -- later state counts, then the one that states more, then a hash of all facts, so that the order of arrival never counts.
  host_updated_at timestamptz(3) not null,
  host_status text not null check (host_status in ('open', 'dismissed', 'fixed')),
  host_facts integer not null,
  host_hash bytea not null check (length(host_hash) = 16),
  -- The newest dismissal in Shiplock. `own_host_updated_at` is the host's version that was dismissed.
  own_by text,
  own_by_name text,
  own_reason text,
  own_comment text,
  own_at timestamptz(3),
  own_host_updated_at timestamptz(3),
  own_delivery text check (own_delivery in ('pending', 'delivered', 'failed')),
  created_at timestamptz(3) not null,
  own_status text check (own_status in ('open', 'dismissed')),
  -- The call that tells the host. The end of the call of an earlier decision changes nothing.
  own_call uuid,
  is_decided_here boolean not null generated always as (
    own_decision_counts(
      own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
    )
  ) stored,
  -- What is shown.
  status text not null generated always as (
    case
      when own_decision_counts(
        own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
      ) then own_status
      else host_status
    end
  ) stored,
  primary key (org_id, id),
  check ((own_delivery is null) = (own_at is null)),
  check ((own_delivery is null) = (own_host_updated_at is null)),
  constraint security_alerts_own_status check ((own_delivery is null) = (own_status is null))
);
create index security_alerts_by_creation on security_alerts (org_id, created_at, id);
create index security_alerts_by_status on security_alerts (org_id, status, created_at, id);
create index security_alerts_by_severity on security_alerts (org_id, severity, created_at, id);
create index security_alerts_by_repository on security_alerts (org_id, provider, repository_id, id);

-- The finding of each alert, and the revision of the alert that the finding shows. Only the job that writes the findings
-- writes here, so that it never waits for events of the same alerts.
create table alert_findings (
  org_id uuid not null,
  alert_id text collate "C" not null,
  finding_id uuid not null,
  revision bigint not null,
  primary key (org_id, alert_id),
  foreign key (org_id, alert_id) references security_alerts (org_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index alert_findings_by_finding on alert_findings (org_id, finding_id);

-- The newest commit of each repository's tracked branch whose policy files are to be read, and what was found.
create table repository_policy_sources (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null check (length(commit_sha) between 1 and 100),
  pushed_at timestamptz(3) not null,
  read_commit_sha text,
  read_at timestamptz(3),
  -- Null until the files were read; the mistakes of the files that could not be used.
  mistakes jsonb check (jsonb_typeof(mistakes) = 'array'),
  primary key (org_id, provider, repository_id),
  foreign key (org_id, provider, repository_id) references repositories (org_id, provider, id)
);

-- The keys with which an organization signs statements. Retired keys are kept, because their signatures stay valid.
create table signing_keys (
  org_id uuid not null references organizations,
  -- Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo.
  keyid text collate "C" not null check (keyid ~ '^[0-9a-f]{64}$'),
  -- The public key, as a PEM SubjectPublicKeyInfo.
  pem text not null,
  -- Either the sealed private key (PKCS #8), or the name of the key in AWS KMS.
  sealed_private_key text,
  kms_key text,
  created_at timestamptz(3) not null,
  retired_at timestamptz(3),
  primary key (org_id, keyid),
  check (num_nonnulls(sealed_private_key, kms_key) = 1)
);
create unique index signing_keys_current on signing_keys (org_id) where retired_at is null;

-- The entries of the server's transparency log. They get their positions in the log after they were stored.
create table log_entries (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('change', 'amendment', 'statement')),
  sha256 bytea not null check (length(sha256) = 32),
  -- Null until the entry is in the log. It never changes afterwards.
  leaf_index bigint unique check (leaf_index >= 0),
  unique (kind, sha256)
);
create index log_entries_pending on log_entries (id) where leaf_index is null;

-- The hashes of the log's Merkle tree, in tiles of 256 (c2sp.org/tlog-tiles). Tiles only grow.
create table log_tiles (
  level smallint not null check (level between 0 and 63),
  index bigint not null check (index >= 0),
  -- 1 to 256 hashes of 32 bytes.
  hashes bytea not null check (length(hashes) between 32 and 8192 and length(hashes) % 32 = 0),
  primary key (level, index)
);
alter table log_tiles alter column hashes set storage external;

-- Every signed checkpoint. The primary key prevents two checkpoints of one size.
create table log_checkpoints (
  size bigint primary key check (size >= 0),
  root_hash bytea not null check (length(root_hash) = 32),
  -- The signed note (c2sp.org/tlog-checkpoint).
  note text not null,
  published_at timestamptz(3) not null
);

-- The log's name and its signing key. There is one row.
create table log_key (
  singleton boolean primary key default true check (singleton),
  -- The origin of the checkpoints, which is also the name of the key.
  origin text not null,
  -- The sealed private key (Ed25519, PKCS #8).
  sealed_private_key text not null,
  created_at timestamptz(3) not null
);

-- The hash chains of change records, one for each repository. The `mac` of a row is an HMAC of its other columns, with
-- a key that is not in the database.
create table provenance_chains (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The number of links, and the hash of the last one.
  length integer not null check (length >= 0),
  head bytea check (length(head) = 32),
  -- The number of rows in chain_breaks.
  breaks integer not null check (breaks >= 0),
  -- How many links the last complete verification read, and when it ended.
  verified_length integer not null check (verified_length >= 0),
  verified_at timestamptz(3),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id),
  check ((length = 0) = (head is null))
);

-- Records and amendments. Rows never change, except that retention replaces their bodies by tombstones.
create table chain_links (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The position in the chain, from 0.
  index integer not null check (index >= 0),
  kind text not null check (kind in ('record', 'amendment')),
  change_id text collate "C" not null,
  at timestamptz(3) not null,
  -- The hash of the link before. Null for the first link.
  previous_hash bytea check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  -- Canonical JSON (RFC 8785), exactly the bytes that are hashed.
  body text,
  -- Canonical JSON with the SHA-256 of the removed body.
  tombstone text,
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, index),
  check (num_nonnulls(body, tombstone) = 1)
);
create index chain_links_by_change on chain_links (org_id, change_id, index);
-- Finds entries of the log whose link is missing.
create index chain_links_by_hash on chain_links (hash);

-- Hashes of every 16th link. They bound how many links are read to verify one of them.
create table chain_anchors (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  index integer not null check (index >= 0),
  hash bytea not null check (length(hash) = 32),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, index)
);

-- Mismatches that a verification found. Rows are never deleted.
create table chain_breaks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  sequence integer not null check (sequence >= 0),
  -- The link that the mismatch concerns.
  index integer not null,
  -- What did not match.
  part text not null check (part in ('link', 'previous', 'row', 'log', 'change', 'anchor', 'head', 'break')),
  expected bytea not null check (length(expected) = 32),
  -- Null if something is missing.
  found bytea check (length(found) = 32),
  found_at timestamptz(3) not null,
  -- What an administrator recorded about it. Until then, the chain is broken.
  note text,
  acknowledged_at timestamptz(3),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, sequence),
  unique nulls not distinct (org_id, provider, repository_id, index, part, expected, found),
  check ((note is null) = (acknowledged_at is null))
);
create index chain_breaks_open on chain_breaks (org_id, provider, repository_id) where acknowledged_at is null;

-- What landed, until its record is written: a merged pull request or a direct push.
create table landings (
  id bigint generated always as identity not null,
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  pull_request integer check (pull_request > 0),
  push_id text collate "C",
  branch text not null,
  -- The newest commit of the pull request, and the commit on the branch. Null: the host has not named it yet.
  head_sha text not null,
  merge_sha text,
  landed_at timestamptz(3) not null,
  noted_at timestamptz(3) not null,
  -- It landed long before we heard of it, as in an import.
  late boolean not null,
  -- dropped: a push that only brought commits of merged pull requests.
  state text not null default 'waiting' check (state in ('waiting', 'recorded', 'dropped')),
  -- When it is looked at again.
  due_at timestamptz(3) not null,
  -- How often the host did not answer.
  tries smallint not null default 0,
  -- When the host was asked for the checks of the commit.
  asked_at timestamptz(3),
  change_id text collate "C",
  unique (org_id, provider, repository_id, pull_request),
  unique (org_id, provider, repository_id, push_id),
  check (num_nonnulls(pull_request, push_id) = 1),
  check ((state = 'recorded') = (change_id is not null)),
  primary key (org_id, id)
);
create index landings_waiting on landings (org_id, provider, repository_id, late, landed_at) where state = 'waiting';
create index landings_due on landings (due_at) where state = 'waiting';
create index landings_by_merge on landings (org_id, provider, repository_id, merge_sha);
create index landings_by_head on landings (org_id, provider, repository_id, head_sha);

-- The deviations of a change as one number, with a bit for each. An index that has it before the time finds the newest
-- changes with a deviation in as many probes as there are numbers with its bit.
create function deviation_facet(deviations text[]) returns smallint
  language sql immutable parallel safe
  return (
    ('direct_push' = any(deviations))::int
    + ('self_approved' = any(deviations))::int * 2
    + ('no_review' = any(deviations))::int * 4
    + ('stale_review' = any(deviations))::int * 8
    + ('check_failed' = any(deviations))::int * 16
    + ('bypassed_protection' = any(deviations))::int * 32
    + ('unsigned_commit' = any(deviations))::int * 64
  )::smallint;

-- A repository of an organization as one text.
create function repository_key(org_id uuid, provider text, repository_id text) returns text
  language sql immutable parallel safe
  return org_id::text || '/' || provider || '/' || repository_id collate "C";

-- Recorded changes. Their records are links of the chains.
create table changes (
  org_id uuid not null,
  id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  branch text not null,
  landed_by text not null check (landed_by in ('pull_request', 'push', 'merge_queue')),
  pull_request integer check (pull_request > 0),
  push_id text collate "C",
  -- The commit on the tracked branch that the change ends with.
  merge_sha text not null,
  -- The link of the record, and the last link that concerns the change.
  link_index bigint not null,
  last_index bigint not null check (last_index >= link_index),
  -- Those of the record and of its amendments.
  deviations text[] not null,
  facet smallint not null generated always as (deviation_facet(deviations)) stored,
  -- When the change landed. Lists are sorted by it.
  created_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, provider, repository_id, pull_request),
  unique (org_id, provider, repository_id, push_id),
  check (num_nonnulls(pull_request, push_id) = 1)
);
create index changes_by_creation on changes (org_id, created_at, id);
create index changes_by_merge on changes (org_id, provider, repository_id, merge_sha);
create index changes_by_branch on changes (org_id, branch, created_at, id);
create index changes_by_facet on changes (org_id, facet, created_at, id) where facet > 0;
create index changes_by_branch_facet on changes (org_id, branch, facet, created_at, id) where facet > 0;
-- One key for a repository: other indexes begin with its three columns, and PostgreSQL would use them while it does not
-- know how many changes a repository has.
create index changes_by_repository on changes
  (repository_key(org_id, provider, repository_id), facet, created_at, id);
-- The changes that a deployment contains.
create index changes_by_landing on changes (repository_key(org_id, provider, repository_id), branch, created_at);

-- The commits of a change: those of its pull request and those that landed.
create table change_commits (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  sha text not null,
  change_id text collate "C" not null,
  primary key (org_id, provider, repository_id, sha, change_id),
  foreign key (org_id, change_id) references changes (org_id, id)
);
create index change_commits_by_sha on change_commits (org_id, sha, change_id);
create index change_commits_by_change on change_commits (org_id, change_id, sha);

-- Signed statements. They never change.
create table statements (
  org_id uuid not null,
  kind text not null check (kind in ('change', 'lineage', 'verification')),
  -- The id of the change or deployment.
  subject_id text collate "C" not null,
  -- SHA-256 of the facts that the statement states, without the time of issue.
  facts bytea not null check (length(facts) = 32),
  keyid text collate "C" not null,
  -- SHA-256 of the payload, as `sha256:` and hexadecimal digits.
  statement_digest text not null,
  -- The DSSE envelope as JSON text.
  envelope text not null,
  issued_at timestamptz(3) not null,
  primary key (org_id, kind, subject_id, facts),
  foreign key (org_id, keyid) references signing_keys (org_id, keyid)
);
create index statements_by_issue on statements (org_id, issued_at);

create table oidc_trusts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  issuer text not null check (length(issuer) between 1 and 500),
  audience text not null check (length(audience) between 1 and 500),
  provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  -- A claim's name to a value or glob, or to a list of which one has to match.
  conditions jsonb not null check (jsonb_typeof(conditions) = 'object'),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_by text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_by_user_id uuid references users (id),
  primary key (org_id, id),
  unique (id)
);
create index oidc_trusts_by_issuer on oidc_trusts (issuer) where revoked_at is null;
create index oidc_trusts_by_organization on oidc_trusts (org_id, created_at, id);

create table custom_roles (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  permissions text[] not null check (cardinality(permissions) > 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index custom_roles_by_name on custom_roles (org_id, lower(name));

create table members (
  org_id uuid not null references organizations (id),
  user_id uuid not null references users (id),
  built_in_role text check (built_in_role in ('viewer', 'developer', 'release_manager', 'security', 'org_admin')),
  custom_role_id uuid,
  created_at timestamptz(3) not null,
  -- A disabled member has no access to this organization.
  disabled_at timestamptz(3),
  primary key (org_id, user_id),
  foreign key (org_id, custom_role_id) references custom_roles (org_id, id),
  check (num_nonnulls(built_in_role, custom_role_id) = 1)
);
create index members_by_user on members (user_id);
-- Members are listed by the time at which they joined.
create index members_by_age on members (org_id, created_at, user_id);
create index members_by_role on members (org_id, custom_role_id) where custom_role_id is not null;

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users (id),
  token_sha256 bytea not null unique check (length(token_sha256) = 32),
  method text not null check (method in ('password', 'passkey', 'sso', 'link')),
  created_at timestamptz(3) not null,
  -- When the user last proved who they are. Dangerous actions require that this is recent.
  signed_in_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  ended_at timestamptz(3),
  address text check (length(address) <= 100),
  user_agent text check (length(user_agent) <= 300),
  -- A session that the provider of an organization started opens only this organization: another
  -- organization does not trust the provider.
  org_id uuid references organizations (id)
);
create index user_sessions_by_user on user_sessions (user_id, created_at) where ended_at is null;
create index user_sessions_of_provider on user_sessions (org_id) where org_id is not null and ended_at is null;

create table user_passwords (
  user_id uuid primary key references users (id),
  -- argon2id as a PHC string, which contains its parameters.
  password_hash text not null check (length(password_hash) between 1 and 300),
  changed_at timestamptz(3) not null
);

create table user_totp (
  user_id uuid primary key references users (id),
  sealed_secret text not null,
  created_at timestamptz(3) not null,
  -- Null until the user has confirmed the enrolment with a code.
  confirmed_at timestamptz(3),
  -- The time step of the last accepted code (RFC 6238). No earlier code is accepted.
  last_step bigint not null
);

create table recovery_codes (
  user_id uuid not null references users (id),
  code_sha256 bytea not null check (length(code_sha256) = 32),
  created_at timestamptz(3) not null,
  primary key (user_id, code_sha256)
);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id),
  -- base64url, as browsers send it.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  -- A COSE key (RFC 9052).
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null check (length(name) between 1 and 100),
  is_synced boolean not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);
create index passkeys_by_user on passkeys (user_id, created_at);

-- Challenges that were not answered yet. The user of a registration may not exist yet.
create table passkey_challenges (
  challenge_sha256 bytea primary key check (length(challenge_sha256) = 32),
  purpose text not null check (purpose in ('sign_in', 'confirm', 'register')),
  user_id uuid,
  expires_at timestamptz(3) not null,
  check ((purpose = 'sign_in') = (user_id is null))
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- Attempts of a window of time, by account or by address.
create table sign_in_attempts (
  key text primary key check (length(key) <= 100),
  window_started_at timestamptz(3) not null,
  attempts integer not null
);
create index sign_in_attempts_by_time on sign_in_attempts (window_started_at);

create table links (
  -- The organization that the account joins. Null for a link that resets an account.
  org_id uuid references organizations (id),
  id uuid primary key,
  kind text not null check (kind in ('setup', 'invitation', 'reset')),
  token_sha256 bytea not null unique check (length(token_sha256) = 32),
  -- The invited address. The person who uses a setup link chooses theirs.
  email text check (email = lower(email) and length(email) between 3 and 254),
  built_in_role text check (built_in_role in ('viewer', 'developer', 'release_manager', 'security', 'org_admin')),
  custom_role_id uuid,
  -- The account that is reset.
  user_id uuid references users (id),
  -- Who made the link. Null for the command line.
  created_by_user_id uuid references users (id),
  created_by_name text not null check (length(created_by_name) between 1 and 100),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- When the link was used, revoked or replaced.
  closed_at timestamptz(3),
  foreign key (org_id, custom_role_id) references custom_roles (org_id, id),
  check (num_nonnulls(built_in_role, custom_role_id) = (kind <> 'reset')::int),
  check ((org_id is null) = (kind = 'reset')),
  check ((user_id is not null) = (kind = 'reset')),
  check ((email is not null) = (kind = 'invitation'))
);
create unique index open_invitations on links (org_id, email) where kind = 'invitation' and closed_at is null;
create index links_by_role on links (org_id, custom_role_id) where custom_role_id is not null;

-- Who a member is at a code host. The person who started a run there does not approve its
-- deployments here.
create table member_accounts (
  org_id uuid not null,
  user_id uuid not null,
  provider text not null check (length(provider) between 1 and 50),
  login text not null check (length(login) between 1 and 100),
  created_at timestamptz(3) not null,
  primary key (org_id, user_id, provider),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);
create unique index member_accounts_by_login on member_accounts (org_id, provider, lower(login));

-- The identity provider of an organization. That of the whole server is in the environment.
create table single_sign_on (
  org_id uuid primary key references organizations (id),
  issuer text not null check (length(issuer) between 1 and 500),
  client_id text not null check (length(client_id) between 1 and 500),
  -- Encrypted; never shown.
  sealed_client_secret text not null,
  -- Empty: every verified address.
  email_domains text[] not null,
  creates_accounts boolean not null,
  -- Roles are ids of built-in or custom roles. A deleted custom role gives nothing.
  default_role text,
  role_claim text,
  -- [{ "value", "role" }]: the first value that the claim contains decides.
  role_map jsonb not null check (jsonb_typeof(role_map) = 'array'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- Which account an identity at a provider signs in to. `org_id` is null for the provider of the
-- server.
create table sso_identities (
  id uuid primary key,
  org_id uuid references organizations (id),
  issuer text not null,
  subject text not null check (length(subject) between 1 and 255),
  user_id uuid not null references users (id),
  created_at timestamptz(3) not null,
  unique nulls not distinct (org_id, issuer, subject),
  -- An address that was given to another person does not open the account of the first one.
  unique nulls not distinct (org_id, issuer, user_id)
);
create index sso_identities_by_user on sso_identities (user_id);

-- Sign-ins that a browser has started at a provider. Each is completed once, by the same browser.
create table sso_requests (
  state_sha256 bytea primary key check (length(state_sha256) = 32),
  browser_sha256 bytea not null check (length(browser_sha256) = 32),
  org_id uuid references organizations (id),
  issuer text not null,
  nonce text not null,
  code_verifier text not null,
  next text not null,
  -- The user of the session that is confirmed. The provider asks for the password again.
  confirms_user_id uuid,
  expires_at timestamptz(3) not null
);
create index sso_requests_by_expiry on sso_requests (expires_at);

-- Every version of a gate, also of deleted gates. Never changed. The principal is null if no audit
-- entry names it.
create table gate_versions (
  org_id uuid not null references organizations (id),
  gate_id uuid not null,
  version integer not null check (version >= 1),
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
  created_at timestamptz(3) not null,
  primary key (org_id, gate_id, version),
  check (num_nulls(principal_type, principal_name) in (0, 2))
);

create table vex_documents (
  org_id uuid not null,
  id uuid not null,
  repository_no bigint not null,
  format text not null check (format in ('openvex', 'csaf')),
  publisher text not null,
  -- CSAF: the id that all versions of the document share. OpenVEX documents have a new id each time, so it is empty.
  series text not null,
  category text,
  git_ref text,
  -- False for a document of another branch than the tracked one: it applies to findings of that branch only.
  tracked boolean not null,
  document_id text,
  document_version text,
  issued_at timestamptz(3) not null,
  reported_at timestamptz(3) not null,
  upload_id text collate "C" not null,
  statements integer not null check (statements >= 0),
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create unique index vex_documents_by_stream on vex_documents (
  org_id, repository_no, format, publisher, series, coalesce(category, ''), branch_name(git_ref)
);
create index vex_documents_by_upload on vex_documents (org_id, upload_id);
create index vex_documents_by_report on vex_documents (org_id, reported_at)
  where not tracked;

create table vex_statements (
  org_id uuid not null,
  document_id uuid not null,
  position integer not null,
  status text not null check (status in ('not_affected', 'affected', 'fixed', 'under_investigation')),
  vuln_ids text[] not null check (cardinality(vuln_ids) > 0),
  package text,
  product text,
  justification text,
  comment text,
  stated_at timestamptz(3),
  primary key (org_id, document_id, position),
  foreign key (org_id, document_id) references vex_documents (org_id, id) on delete cascade deferrable initially deferred
);

-- What GET /v1/security/vex last returned for a repository, so that its version grows with each change.
create table vex_exports (
  org_id uuid not null,
  repository_no bigint not null,
  content_hash bytea not null check (length(content_hash) = 32),
  version integer not null check (version >= 1),
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  primary key (org_id, repository_no),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);

create table triages (
  org_id uuid not null references organizations,
  id uuid not null,
  action text not null check (action in ('dismiss', 'reopen', 'split', 'merge')),
  -- A person in Shiplock, or the format of the document that states it.
  source text not null check (source in ('shiplock', 'openvex', 'csaf')),
  -- What was triaged, as the request named it.
  target_type text not null check (target_type in ('finding', 'issue', 'alert')),
  target_ids text[] not null,
  reason text check (length(reason) between 1 and 100),
  comment text check (length(comment) between 1 and 2000),
  expires_at timestamptz(3),
  -- Null if a document states it.
  created_by_id text,
  created_by_name text,
  created_at timestamptz(3) not null,
  -- A triage that has ended no longer affects its findings.
  ended_as text check (ended_as in ('undone', 'expired', 'replaced')),
  ended_by_id text,
  ended_by_name text,
  ended_at timestamptz(3),
  primary key (org_id, id),
  check ((action = 'dismiss') = (reason is not null)),
  check (expires_at is null or action = 'dismiss'),
  check ((ended_as is null) = (ended_at is null))
);
-- Ids are made at the moment of creation and sort by it: the primary key serves the list of all triages.
create index triages_by_target on triages using gin (target_ids);
create index triages_by_expiry on triages (expires_at) where ended_at is null and expires_at is not null;

-- The findings that a dismissal or a reopening affects. A newer row counts before an older one, and a person before a
-- document. Findings that follow the triage of their issue are added later.
create table triage_findings (
  org_id uuid not null,
  triage_id uuid not null,
  finding_id uuid not null,
  no bigint generated always as identity,
  primary key (org_id, triage_id, finding_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index triage_findings_by_finding on triage_findings (org_id, finding_id, no);

-- The alerts that a triage dismissed or reopened at their code host, and their dismissal before.
create table triage_alerts (
  org_id uuid not null,
  triage_id uuid not null,
  alert_id text collate "C" not null,
  no bigint generated always as identity,
  status_before text not null check (status_before in ('open', 'dismissed')),
  reason_before text,
  comment_before text,
  primary key (org_id, triage_id, alert_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, alert_id) references security_alerts (org_id, id)
);
create index triage_alerts_by_alert on triage_alerts (org_id, alert_id, no);

-- A triage with the action split or merge.
create table issue_edits (
  org_id uuid not null,
  -- Of two edits that contain the same findings, the one with the higher number counts.
  no bigint generated always as identity,
  triage_id uuid not null,
  repository_no bigint not null,
  primary key (org_id, no),
  unique (org_id, triage_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);

-- All findings of the issues that an edit changed. Findings on one side belong together, and findings on different sides
-- are kept apart. A split has moved the findings on side 1 to a new issue. Undoing an edit deletes its rows.
create table issue_pins (
  org_id uuid not null,
  edit_no bigint not null,
  finding_id uuid not null,
  side smallint not null check (side in (0, 1)),
  -- The grouping of the finding before the edit.
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamptz(3) not null,
  primary key (org_id, finding_id, edit_no),
  foreign key (org_id, edit_no) references issue_edits (org_id, no),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index issue_pins_by_edit on issue_pins (org_id, edit_no);
create index issue_pins_by_issue on issue_pins (org_id, issue_id);

-- Buckets with findings of one issue, which a person merged. They are grouped together from then on. Buckets with the same
-- joined_as are joined.
create table joined_buckets (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null check (length(bucket) = 16),
  joined_as bytea not null check (length(joined_as) = 16),
  primary key (org_id, repository_no, bucket),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create index joined_buckets_by_set on joined_buckets (org_id, repository_no, joined_as);

-- The runs that were created on a day (UTC), by repository and status. Written by a job for days
-- before `trend_progress.until`; charts count later days themselves.
create table run_days (
  org_id uuid not null,
  day date not null,
  repository text not null,
  status text not null,
  runs integer not null check (runs > 0),
  primary key (org_id, day, repository, status)
);

-- The deployments that were created on a day (UTC) and finished, by repository and environment. Medians need every
-- lead time and time to restore.
create table delivery_days (
  org_id uuid not null,
  day date not null,
  environment text not null,
  repository text not null,
  deployments integer not null check (deployments > 0),
  failed integer not null check (failed between 0 and deployments),
  lead_seconds integer[] not null,
  restore_seconds integer[] not null,
  primary key (org_id, day, environment, repository)
);

-- The first day of an organization whose figures are not counted yet.
create table trend_progress (
  org_id uuid not null references organizations (id),
  trend text not null check (trend in ('runs', 'delivery')),
  until date not null,
  primary key (org_id, trend)
);

-- The open issues of an organization at the end of a day (UTC), or now for today.
create table issue_days (
  org_id uuid not null references organizations (id),
  day date not null,
  critical integer not null check (critical >= 0),
  high integer not null check (high >= 0),
  medium integer not null check (medium >= 0),
  low integer not null check (low >= 0),
  info integer not null check (info >= 0),
  -- Null without open issues, and for days before the first count.
  median_age_seconds bigint check (median_age_seconds >= 0),
  counted_at timestamptz(3) not null,
  primary key (org_id, day)
);

-- A job may arrive before its run.
create table provider_run_jobs (
  org_id uuid not null references organizations,
  run_id text collate "C" not null,
  attempt smallint not null check (attempt between 1 and 999),
  id text collate "C" not null,
  name text not null,
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  -- The place of the status in the order in which statuses follow each other. Events arrive in any order.
  state smallint not null,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  url text,
  primary key (org_id, run_id, attempt, id)
);

-- Named filters and orders of a list, which a person keeps for themselves.
create table saved_views (
  org_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  list text not null check (list in ('issues', 'findings')),
  name text not null check (length(name) between 1 and 100),
  -- The search parameters of the page, by name.
  search jsonb not null check (jsonb_typeof(search) = 'object' and pg_column_size(search) <= 16384),
  created_at timestamptz(3) not null,
  primary key (org_id, user_id, id),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);
create unique index saved_views_by_name on saved_views (org_id, user_id, list, lower(name));

-- Retention: the run in progress, or the last one, and what was removed.
create table retention_state (
  singleton boolean primary key default true check (singleton),
  started_at timestamptz(3) not null,
  is_finished boolean not null default false,
  -- Of the last run that finished.
  finished_at timestamptz(3),
  seconds double precision,
  -- The organizations up to this id are done. Null at the start and at the end of a run.
  passed uuid check (passed is null or not is_finished)
);

create table retention_kinds (
  kind text primary key,
  removed bigint not null default 0 check (removed >= 0),
  removed_in_run bigint not null default 0 check (removed_in_run >= 0)
);

-- What remains of a deleted organization: that it existed, and when it was deleted.
create table deleted_organizations (
  id uuid primary key,
  slug text not null,
  name text not null,
  created_at timestamptz(3) not null,
  deleted_at timestamptz(3) not null,
  deleted_rows bigint not null check (deleted_rows >= 0),
  deleted_files bigint not null check (deleted_files >= 0)
);

-- Requests of the current minute of each caller, counted by all processes together. The table is
-- unlogged: a crash or the promotion of a standby starts every count again.
create unlogged table request_counts (
  caller text primary key check (length(caller) <= 100),
  window_started_at timestamptz(3) not null,
  used integer not null
) with (fillfactor = 50);

-- The timeline of the primary server, written by the servers that read from a replica. A replica that
-- shows an earlier one does not follow the present primary server (docs/adr/0025-replica-reads.md).
create table replica_marks (
  is_only boolean primary key default true check (is_only),
  timeline integer not null
);

-- RFC 3339 in UTC with milliseconds: the one form in which a time leaves the API. JSON's own form drops trailing zeros,
-- so a microsecond is added for six digits, and the last three are cut off. Twice as fast as to_char, and the same text
-- for every timestamptz(3) of the years 1 to 9999.
create function rfc3339(at timestamptz) returns text
  language sql stable parallel safe
  return substr(to_json((at at time zone 'UTC') + interval '1 microsecond')::text, 2, 23) || 'Z';

create function refuse_change() returns trigger
  language plpgsql
  as $$ begin raise exception '% is append only', tg_table_name; end $$;

create function notify_access_change() returns trigger
  language plpgsql
as $$
begin
  perform pg_notify('shiplock_people', coalesce(to_jsonb(old) ->> tg_argv[0], '*'));
  return null;
end
$$;

-- Retention may delete audit entries: it names the time before which they have expired.
create function refuse_audit_deletion() returns trigger language plpgsql as $$
begin
  if old.at < nullif(current_setting('shiplock.audit_expired_before', true), '')::timestamptz
    or exists (select from organizations where id = old.org_id and deletion_started_at is not null)
  then
    return old;
  end if;
  raise exception '% is append only', tg_table_name;
end
$$;

-- On several database servers, an update may call only functions that are declared immutable. These
-- are: their results depend on nothing but the arguments.
create function place_json(path text, start_line integer) returns jsonb
language sql immutable parallel safe
return case when path is not null then jsonb_build_object('path', path, 'start_line', start_line) end;

create function reported_intel(
  first_seen_at timestamptz, severity text, scanner_score real, cvss_version text, cvss_score real, cvss_vector text,
  fixed_version text
) returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'at', rfc3339(first_seen_at), 'severity', severity, 'scanner_score', scanner_score,
  'cvss', case
    when cvss_vector is not null or cvss_score is not null
    then jsonb_build_object('version', cvss_version, 'score', cvss_score, 'vector', cvss_vector)
  end,
  'epss', null, 'kev', null, 'fix_available', fixed_version is not null, 'backfilled', false
);

create trigger session_ends after delete or update of ended_at, token_sha256 on user_sessions
  for each row execute function notify_access_change('user_id');

create trigger user_is_disabled after update of disabled_at on users
  for each row execute function notify_access_change('id');

create trigger member_changes after delete or update on members
  for each row execute function notify_access_change('user_id');

create trigger role_changes after update of permissions on custom_roles
  for each row execute function notify_access_change('nobody');

create trigger audit_entries_are_append_only
  before update or truncate on audit_entries
  for each statement execute function refuse_change();

create trigger audit_entries_are_kept
  before delete on audit_entries
  for each row execute function refuse_audit_deletion();

insert into intel_sources (source) values ('kev'), ('epss'), ('osv');
