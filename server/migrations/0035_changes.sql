-- Changes that landed on tracked branches. Their records are links of the chains.
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
  deviations text[] not null,
  -- When the change landed. Lists are sorted by it.
  created_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, provider, repository_id, pull_request),
  unique (org_id, provider, repository_id, push_id),
  check (num_nonnulls(pull_request, push_id) >= 1)
);
create index changes_by_creation on changes (org_id, created_at, id);

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
