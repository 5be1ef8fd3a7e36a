-- earlier: 0035_changes.sql f82655eb77963f5627efcda819f44ee73786131277cc76aea97f56db0a3ee6d8
-- earlier: 0035_changes.sql bb458e0ab01234e2a64a79d4d6f3e1780391e6340e4e99a86e7183a4b802f016
-- earlier: 0035_changes.sql dfe7a93a11d3397e3b733a6c27a944cf6dd6d0f82f773144c0bd26cbd3d2c223
-- earlier: 0035_changes.sql 0761999aefc1c7645e2263f79ae920f4e1ba74f92ffe36f9cd058ce6938d06ec
-- earlier: 0039_change_lists.sql e24f11a6cb3c719aeba99082764248f24254d9f65043f8fa491ed96a63a85681
-- earlier: 0039_change_lists.sql 20ca13a394a0e9f91c9f69bfd367b0428dbc4cff50fb43cf99ebf99bc4add373
-- The tables grew in several steps, one of which was a migration of its own.

-- What landed, until its record is written: a merged pull request or a direct push.
create table if not exists landings (
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
create index if not exists landings_waiting on landings (org_id, provider, repository_id, late, landed_at) where state = 'waiting';
create index if not exists landings_due on landings (due_at) where state = 'waiting';
create index if not exists landings_by_merge on landings (org_id, provider, repository_id, merge_sha);
create index if not exists landings_by_head on landings (org_id, provider, repository_id, head_sha);

-- The deviations of a change as one number, with a bit for each. An index that has it before the time finds the newest
-- changes with a deviation in as many probes as there are numbers with its bit.
create or replace function deviation_facet(deviations text[]) returns smallint
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
create or replace function repository_key(org_id uuid, provider text, repository_id text) returns text
  language sql immutable parallel safe
  return org_id::text || '/' || provider || '/' || repository_id collate "C";

alter table changes
  drop constraint changes_check1,
  add constraint changes_check1 check (num_nonnulls(pull_request, push_id) = 1),
  add column if not exists facet smallint not null generated always as (deviation_facet(deviations)) stored;
drop index if exists changes_by_repository, changes_by_repository_facet;
create index if not exists changes_by_merge on changes (org_id, provider, repository_id, merge_sha);
create index if not exists changes_by_branch on changes (org_id, branch, created_at, id);
create index if not exists changes_by_facet on changes (org_id, facet, created_at, id) where facet > 0;
create index if not exists changes_by_branch_facet on changes (org_id, branch, facet, created_at, id) where facet > 0;
create index changes_by_repository on changes
  (repository_key(org_id, provider, repository_id), facet, created_at, id);
create index if not exists change_commits_by_sha on change_commits (org_id, sha, change_id);
create index if not exists change_commits_by_change on change_commits (org_id, change_id, sha);

alter table pushes add column if not exists by_merge_queue boolean not null default false;
alter table pull_requests add column if not exists merged_by_queue boolean not null default false;
