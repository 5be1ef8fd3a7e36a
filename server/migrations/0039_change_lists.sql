-- Lists of changes.

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

alter table changes add column facet smallint not null generated always as (deviation_facet(deviations)) stored;

-- The repository is one expression: PostgreSQL could use other indexes that begin with its two columns, and does so while
-- it does not know the number of its changes.
create index changes_by_branch on changes (org_id, branch, created_at, id);
create index changes_by_repository on changes (org_id, (provider || '/' || repository_id), created_at, id);
create index changes_by_facet on changes (org_id, facet, created_at, id) where facet > 0;
create index changes_by_branch_facet on changes (org_id, branch, facet, created_at, id) where facet > 0;
create index changes_by_repository_facet on changes (org_id, (provider || '/' || repository_id), facet, created_at, id)
  where facet > 0;
create index change_commits_by_sha on change_commits (org_id, sha, change_id);
