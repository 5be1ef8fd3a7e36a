-- Changes that landed on tracked branches.

-- What landed, until its record is written: a merged pull request or a direct push.
create table landings (
  id bigint generated always as identity primary key,
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
  check ((state = 'recorded') = (change_id is not null))
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

-- Whether the host's merge queue pushed the commits, or merged the pull request.
alter table pushes add column by_merge_queue boolean not null default false;
alter table pull_requests add column merged_by_queue boolean not null default false;
