-- Policies from files in repositories. They cover their own repository only.

alter table policies
  add column provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  add column repository_id text collate "C" check (length(repository_id) between 1 and 100),
  add column path text check (length(path) between 1 and 500),
  -- The version of the file (blob SHA) that the current version was read from.
  add column blob text collate "C" check (length(blob) between 1 and 100),
  -- When the file was deleted. Its versions are kept.
  add column removed_at timestamptz(3),
  add check (num_nulls(provider, repository_id, path, blob) in (0, 4)),
  add check (removed_at is null or repository_id is not null);

drop index policies_by_name;
create unique index policies_by_name on policies (org_id, name) where repository_id is null;
create unique index policies_by_file on policies (org_id, provider, repository_id, path) where repository_id is not null;

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
