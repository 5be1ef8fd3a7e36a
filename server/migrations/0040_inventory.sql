-- Components of bills of materials (docs/inventory.md). A component is one row for any number of
-- documents, and what documents state about it is one row for all that state the same.
create table components (
  org_id uuid not null,
  no bigint generated always as identity,
  id uuid not null,
  identity text not null check (identity in ('purl', 'cpe', 'name')),
  identity_hash bytea not null check (length(identity_hash) = 16),
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
  first_seen_at timestamptz(3) not null,
  primary key (org_id, no)
);
create unique index components_by_identity on components (org_id, identity_hash);
create unique index components_by_id on components (org_id, id);
create index components_by_package on components (org_id, package_key text_pattern_ops);
create index components_by_name on components (org_id, name_key text_pattern_ops);

create table component_facts (
  org_id uuid not null,
  no bigint generated always as identity,
  component_no bigint not null,
  facts_hash bytea not null check (length(facts_hash) = 16),
  purl text,
  type text not null,
  scope text check (scope in ('required', 'optional', 'excluded')),
  licenses text[] not null,
  supplier text,
  hashes jsonb not null,
  path text,
  patched text[] not null,
  primary key (org_id, no)
);
create unique index component_facts_by_hash on component_facts (org_id, facts_hash);
create index component_facts_by_component on component_facts (org_id, component_no);

-- What one tool of one sender states about a repository, category and ref. `present` has the sorted
-- numbers of facts of its newest document, `parents` the position in `present` of what brings each
-- in (-1: the root, null: not stated), and `since` when each was first seen here.
create table inventory_streams (
  org_id uuid not null,
  id bigint generated always as identity,
  repository_no bigint not null,
  category text,
  git_ref text,
  tool text not null,
  subject text,
  format text not null check (format in ('cyclonedx', 'spdx')),
  lane text not null check (lane in ('verified', 'key', 'person', 'untrusted')),
  tracked boolean not null,
  upload_id text collate "C",
  commit_sha text,
  reported_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  present bigint[] not null default '{}',
  parents integer[] not null default '{}',
  since timestamptz(3)[] not null default '{}',
  -- What is present although the newest document lacks it, because that one is not complete.
  held bigint[] not null default '{}',
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create unique index inventory_streams_by_key on inventory_streams (
  org_id, repository_no, coalesce(category, ''), coalesce(branch_name(git_ref), ''), tool, format, coalesce(subject, ''), lane
);
create index inventory_streams_by_present on inventory_streams using gin (present);
create index inventory_streams_by_upload on inventory_streams (org_id, upload_id);

-- A document as a difference to the one before it in its stream. An older document, which changed
-- nothing, is the difference to the newest one of its time.
create table sboms (
  org_id uuid not null,
  no bigint generated always as identity,
  -- That of the upload.
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
  -- When each of `removed` was first seen.
  removed_since timestamptz(3)[] not null,
  created_at timestamptz(3) not null,
  primary key (org_id, no),
  foreign key (org_id, stream_id) references inventory_streams (org_id, id) on delete cascade
);
create index sboms_by_creation on sboms (org_id, created_at, no);
create index sboms_by_stream on sboms (org_id, stream_id, created_at);
create index sboms_by_removed on sboms using gin (removed) where removed <> '{}';

-- The commits that a document is about, and the run that sent it. `upload_id` is of the file that
-- named the commit, whose contents are those of the document.
create table sbom_commits (
  org_id uuid not null,
  sbom_no bigint not null,
  commit_sha text not null,
  upload_id text collate "C" not null,
  run_id text collate "C",
  reported_at timestamptz(3) not null,
  primary key (org_id, sbom_no, commit_sha),
  foreign key (org_id, sbom_no) references sboms (org_id, no) on delete cascade
);
create index sbom_commits_by_commit on sbom_commits (org_id, commit_sha);
