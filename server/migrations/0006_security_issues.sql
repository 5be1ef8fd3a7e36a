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
