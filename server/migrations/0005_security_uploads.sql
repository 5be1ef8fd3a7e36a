-- A repository as reports name it. It is kept under its name alone until the repository is seen with a provider;
-- then this row gets the provider's id, and every upload and finding follows without being touched.
create table reported_repositories (
  org_id uuid not null references organizations,
  id bigint generated always as identity,
  name text not null check (length(name) between 3 and 300),
  provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  provider_id text check (provider_id is null or provider is not null),
  created_at timestamptz(3) not null,
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
  requested_format text not null check (requested_format in ('auto', 'sarif', 'cyclonedx', 'spdx')),
  format text check (format in ('sarif', 'cyclonedx', 'spdx')),
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
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id),
  check ((status = 'failed') = (error is not null)),
  check ((origin = 'report') = (artifact_id is not null and run_id is not null))
);
-- The same file for the same repository, category and ref is the same upload (specification, "What the service does" 8).
create unique index security_uploads_by_file
  on security_uploads (org_id, repository_no, coalesce(category, ''), branch_name(git_ref), sha256)
  where status <> 'failed' and origin <> 'report';
create unique index security_uploads_by_artifact on security_uploads (org_id, artifact_id) where artifact_id is not null;
create index security_uploads_by_run on security_uploads (org_id, run_id) where run_id is not null;
create index security_uploads_by_commit on security_uploads (org_id, repository_no, commit_sha, created_at);
create index security_uploads_pending on security_uploads (put_until) where status = 'pending';
